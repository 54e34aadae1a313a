/** One request to the REST interface of a vendor of voices. */

import { z } from "zod";
import { readBoundedText } from "../../net/bounded-text.ts";
import { abortError } from "../../pacing/abort.ts";
import { EngineFailure, networkErrorCode } from "../../ports/engine-failure.ts";
import { isPermanentRefusal } from "../permanent-refusal.ts";
import { asMessage, serverMessage } from "../voice-failure.ts";

export interface VendorRequest {
  /** The vendor, for people. */
  readonly vendor: string;
  readonly method: "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: FormData | string;
  readonly key: string;
}

/** Answers have up to a few KB. */
const MAX_ANSWER_BYTES = 262_144;

/** Resolves with the JSON of the answer, or null where it has none. */
export async function askVendor(request: VendorRequest, signal: AbortSignal): Promise<unknown> {
  const { vendor, key } = request;
  const { status, isOk, text } = await send(request, signal);
  if (!isOk) {
    const message = `${vendor} answered HTTP ${String(status)}${serverMessage(text ?? "")}`;
    throw new EngineFailure(asMessage(message, [key]), {
      isPermanent: isPermanentRefusal(status, text),
      type: String(status),
    });
  }
  if (text === null || text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new EngineFailure(`${vendor} answered something that is not JSON`, { type: "garbage" });
  }
}

async function send(
  { vendor, method, url, headers, body }: VendorRequest,
  signal: AbortSignal,
): Promise<{ status: number; isOk: boolean; text: string | null }> {
  try {
    // The key goes nowhere else.
    const init = { method, headers, redirect: "error", signal } as const;
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    const text = await readBoundedText(response, MAX_ANSWER_BYTES);
    return { status: response.status, isOk: response.ok, text };
  } catch (error) {
    if (signal.aborted) throw abortError();
    const code = networkErrorCode(error);
    throw new EngineFailure(`${vendor} cannot be reached${code === null ? "" : ` (${code})`}`, {
      cause: error,
      type: code,
    });
  }
}

/** Ids of vendors become parts of paths and of definitions. */
export const VoiceId = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\s/?#\\]+$/);

export function answerOf<T>(vendor: string, schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new EngineFailure(`${vendor} answered no voice`, { type: "garbage" });
}

/** Removes a voice; one that is gone is no failure. */
export async function removeAt(request: Omit<VendorRequest, "method">, signal: AbortSignal): Promise<void> {
  try {
    await askVendor({ ...request, method: "DELETE" }, signal);
  } catch (error) {
    if (!(error instanceof EngineFailure) || error.type !== "404") throw error;
  }
}
