/** Sends operations to the internal listener of another process. */

import { Agent, request as httpRequest } from "node:http";
import { text as readAll } from "node:stream/consumers";
import { messageOf } from "../../pacing/error-text.ts";
import type { CallOperation } from "../../ports/nodes/call-directory.ts";
import type { CallOwner } from "../../store/nodes/call-claims.ts";
import { hashOf, isSignature, newNonce, signAnswer, signRequest } from "./signatures.ts";
import { HEADERS, MAX_BODY_BYTES, operationPath } from "./wire.ts";

/** A healthy node answers in some milliseconds; only a connection that must answer a probe takes a second. */
const FORWARD_LIMIT_MS = 2_000;
/**
 * For an answer with a description of a WebRTC connection. The first one of a process loads the modules for it, and a
 * media thread has 5 s. Clients give a connection up after 15 s.
 */
const OFFER_LIMIT_MS = 10_000;
const OFFER_KINDS: ReadonlySet<string> = new Set(["offer", "renegotiate", "patch"]);
/** Connections to one node at a time; further requests wait for them. */
const MAX_SOCKETS = 64;

export type Sent =
  | { readonly kind: "answered"; readonly answer: unknown }
  /** The process is not there any more, and has not carried the operation out. */
  | { readonly kind: "moved"; readonly reason: string }
  /** The connection broke before the answer: the process may have carried the operation out. */
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

export interface InternalClient {
  send(
    owner: CallOwner & { readonly address: string },
    callId: string,
    operation: CallOperation,
  ): Promise<Sent>;
  /** Aborts what is under way. */
  close(): void;
}

export interface InternalClientDeps {
  readonly key: Uint8Array;
  /** The time of the database, ms since 1970. */
  readonly nowMs: () => number;
  /** In tests only: the limit of every operation. */
  readonly limitMs?: number;
}

interface Received {
  readonly status: number;
  readonly signature: string;
  readonly body: string;
}

export function openInternalClient(deps: InternalClientDeps): InternalClient {
  const { key, nowMs } = deps;
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  const closing = new AbortController();
  return {
    async send({ address, bootId }, callId, operation) {
      const body = JSON.stringify(operation);
      if (Buffer.byteLength(body) > MAX_BODY_BYTES)
        return { kind: "unreachable", reason: "is too long for it" };
      const nonce = newNonce();
      const path = operationPath(callId);
      const signed = { method: "POST", path, target: bootId, atMs: nowMs(), nonce, bodyHash: hashOf(body) };
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        [HEADERS.target]: bootId,
        [HEADERS.time]: String(signed.atMs),
        [HEADERS.nonce]: nonce,
        [HEADERS.bodyHash]: signed.bodyHash,
        [HEADERS.signature]: signRequest(key, signed),
      };
      const limitMs = deps.limitMs ?? (OFFER_KINDS.has(operation.kind) ? OFFER_LIMIT_MS : FORWARD_LIMIT_MS);
      const limit = AbortSignal.timeout(limitMs);
      const signal = AbortSignal.any([limit, closing.signal]);
      try {
        const received = await exchange(`${address}${path}`, { agent, headers, signal }, body);
        const expected = signAnswer(key, nonce, received.status, hashOf(received.body));
        if (!isSignature(expected, received.signature))
          return { kind: "unreachable", reason: "did not answer as a node of this deployment" };
        return sentOf(received);
      } catch (error) {
        if (limit.aborted)
          return { kind: "unreachable", reason: `did not answer within ${String(limitMs)} ms` };
        return unreached(error);
      }
    },
    close() {
      closing.abort(new Error("the service is stopping"));
      agent.destroy();
    },
  };
}

function sentOf({ status, body }: Received): Sent {
  if (status === 421) return { kind: "moved", reason: "is another process by now" };
  const parsed = JSON.parse(body) as { readonly answer?: unknown };
  if (status === 200) return { kind: "answered", answer: parsed.answer };
  return { kind: "unreachable", reason: `refused the operation (${String(status)})` };
}

/** Where no connection was made, nothing was sent, and the operation was not carried out. */
function unreached(error: unknown): Sent {
  const { code } = error as NodeJS.ErrnoException;
  const reason = `cannot be reached (${code ?? messageOf(error)})`;
  if (code === "ECONNREFUSED") return { kind: "moved", reason };
  return { kind: code === "ECONNRESET" || code === "EPIPE" ? "broken" : "unreachable", reason };
}

function exchange(
  url: string,
  options: { agent: Agent; headers: Readonly<Record<string, string | number>>; signal: AbortSignal },
  body: string,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: "POST", ...options }, (response) => {
      let bytes = 0;
      response.on("data", (block: Buffer) => {
        bytes += block.length;
        if (bytes > MAX_BODY_BYTES) response.destroy(new Error("the answer is too long"));
      });
      const { statusCode: status = 0, headers } = response;
      const signature = headers[HEADERS.signature];
      readAll(response).then(
        (text) => resolve({ status, signature: typeof signature === "string" ? signature : "", body: text }),
        reject,
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}
