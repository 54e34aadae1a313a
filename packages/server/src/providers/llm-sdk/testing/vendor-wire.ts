/** A fake vendor of language models in a test: its protocol, as strict as the vendor, and ways to fail. */

import type { ServerResponse } from "node:http";
import type { z } from "zod";
import type { LocalHandler, LocalRequest } from "../../../ports/testing/local-server.ts";

export interface WireAnswer {
  readonly texts: readonly string[];
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
  readonly inputTokens: number;
  /** Of the input tokens. */
  readonly cachedTokens?: number;
  readonly outputTokens: number;
}

export interface WireProblem {
  readonly status: number;
  readonly message: string;
}

export interface VendorWire {
  readonly contentType: string;
  /** What the vendor would refuse; null: it answers. */
  problemOf(request: LocalRequest): WireProblem | null;
  /** The text of the newest message, for answers that depend on it. */
  asked(body: unknown): string;
  /** The answer in the units of the protocol, in order. Text comes first; the last unit ends the answer. */
  encode(answer: WireAnswer): readonly Uint8Array[];
  /** The body of an error. */
  refusal(problem: WireProblem): string;
  /** The documents of a unit of an answer, each with the shape that the vendor documents; none: it has no fields. */
  documents(unit: Uint8Array): readonly Documented[];
}

export interface Documented {
  readonly schema: z.ZodType;
  readonly document: unknown;
}

export const KEY = "secret-key-1";

/** Of a slow answer, at a time: fewer than a character may have. */
const SLOW_BYTES = 3;

/** How a request fails. `slow`: it works, a few bytes at a time. */
export type WireFault =
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "hangs" | "hangsMidway" | "garbage" | "drops" | "endsEarly" | "slow" };

/** Answers as `answer` says, or fails. A request that the vendor would refuse is refused before that. */
export function serveVendor(
  wire: VendorWire,
  answer: (asked: string) => WireAnswer,
  fault: WireFault | null = null,
): LocalHandler {
  return async (request, response) => {
    const problem = wire.problemOf(request);
    if (problem !== null) {
      refuse(wire, problem, response);
      return;
    }
    const units = wire.encode(answer(wire.asked(JSON.parse(request.body))));
    if (fault !== null) await fail(wire, fault, units, response);
    else {
      response.writeHead(200, { "content-type": wire.contentType });
      for (const unit of units) response.write(unit);
      response.end();
    }
  };
}

function refuse(wire: VendorWire, problem: WireProblem, response: ServerResponse): void {
  response.writeHead(problem.status, { "content-type": "application/json" });
  response.end(wire.refusal(problem));
}

async function fail(
  wire: VendorWire,
  fault: WireFault,
  units: readonly Uint8Array[],
  response: ServerResponse,
): Promise<void> {
  if (fault.kind === "status") {
    refuse(wire, { status: fault.status, message: "the fake fails" }, response);
    return;
  }
  if (fault.kind === "hangs") return;
  response.writeHead(200, { "content-type": wire.contentType });
  const half = units.slice(0, Math.ceil(units.length / 2));
  if (fault.kind === "slow") {
    const all = Buffer.concat(units);
    for (let at = 0; at < all.length; at += SLOW_BYTES) {
      response.write(all.subarray(at, at + SLOW_BYTES));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
    return;
  }
  if (fault.kind === "garbage") {
    response.end("data: {oops\n\nfurther \u0000 nonsense that no protocol has\n\n");
    return;
  }
  const written = Promise.withResolvers<unknown>();
  response.write(Buffer.concat(half), written.resolve);
  await written.promise;
  if (fault.kind === "drops") response.destroy();
  if (fault.kind === "endsEarly") response.end();
}

/** The events of a server-sent stream; those in a list of two have a name, the first of them. */
export function events(values: readonly unknown[], lineEnd = "\n"): readonly Uint8Array[] {
  return values.map((value) => {
    const isNamed = Array.isArray(value);
    const name = isNamed ? `event: ${String(value[0])}${lineEnd}` : "";
    const data: unknown = isNamed ? value[1] : value;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return Buffer.from(`${name}data: ${text}${lineEnd}${lineEnd}`);
  });
}

/**
 * The events, of which each is as the vendor documents it. Those in a list of two have a name, which is also their type;
 * texts, such as `[DONE]`, are no documents.
 */
export function checkedEvents(schema: z.ZodType, values: readonly unknown[]): readonly unknown[] {
  for (const value of values) {
    const document: unknown = Array.isArray(value) ? value[1] : value;
    if (typeof document !== "string") schema.parse(document);
    if (Array.isArray(value) && value[0] !== Reflect.get(value[1] as object, "type"))
      throw new Error(`the event ${String(value[0])} has another type`);
  }
  return values;
}

/** The document of a server-sent event. */
export function eventDocuments(schema: z.ZodType, unit: Uint8Array): readonly Documented[] {
  const data = /^data: (\{.*)$/m.exec(Buffer.from(unit).toString().replaceAll("\r", ""))?.[1];
  return data === undefined ? [] : [{ schema, document: JSON.parse(data) }];
}

/** Null, or what is wrong with the address, the key or the form of a request. */
export function headProblem(
  { method, path, headers, body }: LocalRequest,
  expected: { readonly path: string; readonly header: string; readonly value: string },
): WireProblem | null {
  if (method !== "POST" || path !== expected.path)
    return { status: 404, message: `there is no ${method} ${path}` };
  if (headers[expected.header] !== expected.value) return { status: 401, message: "the key is wrong" };
  if (!(headers["content-type"] ?? "").startsWith("application/json"))
    return { status: 415, message: "not JSON" };
  try {
    JSON.parse(body);
    return null;
  } catch {
    return { status: 400, message: "the body is no JSON" };
  }
}
