/** The document with which the answer of a tool sends a data message to a thread (`send-to-thread`). */

import { z } from "zod";
import { FreeObject } from "../values/fields.ts";
import { checkValue } from "../values/issues.ts";
import { normalizeInput } from "../values/normalize.ts";
import { readClientDataMessage, type ClientDataMessage } from "./data-messages.ts";

/** Data messages that name a thread. */
export type ThreadDataMessage = Extract<
  ClientDataMessage,
  { readonly type: "user_text_message" | "forced_agent_message" | "spawn_thread" }
>;

const SendToThread = z.strictObject({
  callingThreadResultText: z.string().default("OK"),
  dataMessage: FreeObject,
});

export type ParsedSendToThread =
  | { readonly ok: true; readonly resultText: string; readonly message: ThreadDataMessage }
  | { readonly ok: false; readonly detail: string };

/** `detail` names fields and never repeats their values. */
export function parseSendToThread(text: string): ParsedSendToThread {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { ok: false, detail: "not JSON" };
  }
  const { value, errors } = normalizeInput(SendToThread, document, { lenient: true });
  const checked = checkValue(SendToThread, value);
  const problems = checked.ok ? errors : [...errors, ...checked.errors];
  if (!checked.ok || problems.length > 0) {
    const details = problems.map(({ field, message }) => `${field} ${message}`.trim());
    return { ok: false, detail: details.join("; ") };
  }
  const { callingThreadResultText, dataMessage } = checked.value;
  const parsed = readClientDataMessage(dataMessage);
  if (!parsed.ok) return { ok: false, detail: `dataMessage: ${parsed.detail}` };
  const { message } = parsed;
  if (!isForThread(message)) return { ok: false, detail: `dataMessage: ${message.type} is for no thread` };
  return { ok: true, resultText: callingThreadResultText, message };
}

function isForThread(message: ClientDataMessage): message is ThreadDataMessage {
  const { type } = message;
  return type === "user_text_message" || type === "forced_agent_message" || type === "spawn_thread";
}
