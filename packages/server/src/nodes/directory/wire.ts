/** The internal requests between processes: `POST /calls/{call_id}/operations` with an operation as JSON. */

import type { IncomingHttpHeaders } from "node:http";
import type { SignedRequest } from "./signatures.ts";

export const HEADERS = {
  target: "x-parley-target",
  time: "x-parley-time",
  nonce: "x-parley-nonce",
  bodyHash: "x-parley-body",
  signature: "x-parley-signature",
} as const;

/** Longest body of a request or an answer: a data message of 1 MiB, whose quotes and backslashes double it at worst. */
export const MAX_BODY_BYTES = 2_500_000;

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const OPERATION_PATH = new RegExp(`^/calls/(${UUID})/operations$`);

export function operationPath(callId: string): string {
  return `/calls/${callId}/operations`;
}

/** Null: the path is another one. */
export function callOfPath(path: string): string | null {
  return OPERATION_PATH.exec(path)?.[1] ?? null;
}

export interface PresentedRequest extends SignedRequest {
  readonly signature: string;
}

/** Null: a header is missing, or has another form. */
export function presentedRequest(
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
): PresentedRequest | null {
  const target = textOf(headers[HEADERS.target], /^[\x21-\x7e]{1,100}$/);
  const time = textOf(headers[HEADERS.time], /^\d{1,15}$/);
  const nonce = textOf(headers[HEADERS.nonce], /^[0-9a-f]{32}$/);
  const bodyHash = textOf(headers[HEADERS.bodyHash], /^[0-9a-f]{64}$/);
  const signature = textOf(headers[HEADERS.signature], /^[A-Za-z0-9_-]{43}$/);
  if (target === null || time === null || nonce === null || bodyHash === null || signature === null)
    return null;
  return { method, path, target, atMs: Number(time), nonce, bodyHash, signature };
}

function textOf(value: string | readonly string[] | undefined, form: RegExp): string | null {
  return typeof value === "string" && form.test(value) ? value : null;
}
