/**
 * The internal listener: other processes of the deployment send operations on the calls of this one. A request is
 * recognised by its headers alone, before a byte of its body is read; everything else gets 401 and a closed connection.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import type { CallOperation } from "../../ports/nodes/call-directory.ts";
import { hashOf, isSignature, signAnswer, signRequest } from "./signatures.ts";
import { isTimely, SeenNonces } from "./seen-nonces.ts";
import { callOfPath, HEADERS, MAX_BODY_BYTES, presentedRequest, type PresentedRequest } from "./wire.ts";

/** From connecting to the end of the headers, and of the body. The other side waits for two seconds, or more. */
const HEADERS_TIMEOUT_MS = 2_500;
const REQUEST_TIMEOUT_MS = 4_000;
/** Interval at which both are checked. */
const CHECK_INTERVAL_MS = 500;
/** The headers have some hundred bytes. */
const MAX_HEADER_BYTES = 8_192;
/** 64 connections of each of eight other nodes. */
const MAX_CONNECTIONS = 512;
/** Longer than a node is silent towards another one that it sends requests to. */
const KEEP_ALIVE_MS = 30_000;

export interface InternalListenerDeps {
  readonly key: Uint8Array;
  /** Requests are for this process only. */
  readonly bootId: string;
  /** The time of the database, ms since 1970. */
  readonly nowMs: () => number;
  /** Carries an operation out. Null: the operation is not known, or its members are wrong. */
  readonly perform: (callId: string, operation: CallOperation) => Promise<unknown>;
  readonly logger: Pick<Logger, "warn" | "error">;
}

export interface InternalListener {
  readonly port: number;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Rejects when it cannot listen. */
export async function openInternalListener(
  deps: InternalListenerDeps,
  at: { readonly host: string | null; readonly port: number },
): Promise<InternalListener> {
  const nonces = new SeenNonces();
  let lastWarnedMs = Number.NEGATIVE_INFINITY;
  const refused = (reason: string, remoteAddress: string | undefined): void => {
    // Once a minute: who sends them must not fill the log.
    if (performance.now() - lastWarnedMs < 60_000) return;
    lastWarnedMs = performance.now();
    deps.logger.warn({ reason, remoteAddress }, "the internal listener refused a request");
  };
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      answer({ ...deps, nonces, refused }, request, response).catch((error: unknown) => {
        deps.logger.error({ error: String(error) }, "an internal request failed");
        response.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, at);
  server.on("error", (error) => deps.logger.error({ error: String(error) }, "the internal listener failed"));
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | null = null;
  return {
    port,
    close: () =>
      (closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      })),
  };
}

function listen(
  server: Server,
  { host, port }: { readonly host: string | null; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

interface Answering extends InternalListenerDeps {
  readonly nonces: SeenNonces;
  readonly refused: (reason: string, remoteAddress: string | undefined) => void;
}

async function answer(deps: Answering, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "";
  const presented = presentedRequest(request.method ?? "", path, request.headers);
  const fault = presented === null ? "its headers are not those of a node" : faultOf(deps, presented);
  if (presented === null || fault !== null) {
    deps.refused(fault ?? "", request.socket.remoteAddress);
    refuse(response, 401);
    return;
  }
  const { nonce, bodyHash, target } = presented;
  const send = (status: number, body: object): void => {
    const text = JSON.stringify(body);
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      [HEADERS.signature]: signAnswer(deps.key, nonce, status, hashOf(text)),
    });
    response.end(text);
  };
  // The process of this address is another one by now.
  if (target !== deps.bootId) return send(421, { error: "another process runs here" });
  const callId = callOfPath(path);
  if (request.method !== "POST" || callId === null) return send(404, { error: "there is nothing here" });
  const body = await bodyOf(request);
  if (body === null || hashOf(body) !== bodyHash) {
    deps.refused("its body is another one", request.socket.remoteAddress);
    refuse(response, 401);
    return;
  }
  const operation = operationOf(body);
  if (operation === null) return send(400, { error: "the operation is not JSON with a kind" });
  const given = await deps.perform(callId, operation);
  if (given === null) return send(400, { error: "the operation is not known here" });
  send(200, { answer: given });
}

/** Null: the request is one of a node of this deployment, and new. */
function faultOf({ key, nowMs, nonces }: Answering, presented: PresentedRequest): string | null {
  if (!isSignature(signRequest(key, presented), presented.signature)) return "its signature is wrong";
  const atMs = nowMs();
  if (!isTimely(presented.atMs, atMs)) return "its time is too far from now";
  const nonce = nonces.take(presented.nonce, presented.atMs, atMs);
  if (nonce === "new") return null;
  return nonce === "seen" ? "it was sent before" : "too many requests are remembered";
}

/** The body is not read, so the connection cannot be used again. */
function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-length": 0, connection: "close" });
  response.end(() => response.socket?.destroy());
}

/** Null: it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of request as AsyncIterable<Buffer>) {
    bytes += block.length;
    if (bytes > MAX_BODY_BYTES) return null;
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

function operationOf(body: Buffer): CallOperation | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject && "kind" in value && typeof value.kind === "string" ? (value as CallOperation) : null;
  } catch {
    return null;
  }
}
