/**
 * An S3 server on loopback for tests: it checks signatures and the hashes of bodies, and stores objects in memory. It
 * supports what recordings need: objects whole and in parts, ranges, removal, lists of uploads.
 */

import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { signatureFault, type Credentials } from "./s3-signature.ts";

/** What happens instead of the requested operation. `cut`: the connection is closed after a part of its body. */
export type Fault = "403" | "500" | "503" | "cut" | "silence" | "cut answer" | "short";

export interface S3Request {
  readonly method: string;
  /** The host of the request without the port; the bucket may be its first part. */
  readonly host: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
}

export interface S3Peer {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** Unfinished uploads in parts, with their keys. */
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>;
  /** Every request with a correct signature, in order. */
  readonly requested: S3Request[];
  /** Codes of requests that were refused. */
  readonly refused: string[];
  /** Called with each request before it is processed. */
  fault: (requested: S3Request) => Fault | null | Promise<Fault | null>;
  close(): Promise<void>;
}

/** In the form that S3 uses. */
const LEAST_PART_BYTES = 5 * 1_048_576;

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export async function openS3Peer(bucket: string, credentials: Credentials): Promise<S3Peer> {
  const peer = {
    endpoint: "",
    objects: new Map<string, Buffer>(),
    uploads: new Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>(),
    requested: [] as S3Request[],
    refused: [] as string[],
    fault: (): Fault | null => null,
    close: () => Promise.resolve(),
  } as S3Peer;
  const server = createServer((request, response) => {
    answer(peer, bucket, credentials, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return Object.assign(peer, { endpoint: `http://127.0.0.1:${String(port)}`, close });
}

async function answer(
  peer: S3Peer,
  bucket: string,
  credentials: Credentials,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "", url: target = "", headers } = request;
  const url = new URL(target, peer.endpoint);
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  const { named, key } = placeOf(host, url.pathname);
  const requested: S3Request = { method, host, key, query: new Map(url.searchParams) };
  const fault = await peer.fault(requested);
  if (fault === "cut") {
    request.once("data", () => request.socket.destroy());
    if (method !== "PUT") request.socket.destroy();
    return;
  }
  const body = await bodyOf(request);
  if (fault === "silence") return;
  try {
    if (fault === "403") throw new Refusal(403, "AccessDenied");
    if (fault === "500") throw new Refusal(500, "InternalError");
    if (fault === "503") throw new Refusal(503, "SlowDown");
    const wrong = signatureFault({ method, target, headers, body }, credentials, Date.now());
    if (wrong !== null) throw new Refusal(403, wrong);
    if (named !== bucket) throw new Refusal(404, "NoSuchBucket");
    peer.requested.push(requested);
    // A store that silently stores less than it received.
    work(peer, requested, headers.range, fault === "short" ? body.subarray(0, -2) : body, response, fault);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    peer.refused.push(error.code);
    response.writeHead(error.status, { "content-type": "application/xml" });
    response.end(`<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>no</Message></Error>`);
  }
}

/**
 * The bucket is in the path if the host is an IP address, otherwise it is the part of the host before the first dot.
 */
function placeOf(host: string, path: string): { readonly named: string; readonly key: string } {
  const parts = path.split("/").slice(1).map(decodeURIComponent);
  const inHost = /^[\d.]+$/.test(host) || !host.includes(".") ? null : (host.split(".")[0] ?? "");
  return inHost === null
    ? { named: parts[0] ?? "", key: parts.slice(1).join("/") }
    : { named: inHost, key: parts.join("/") };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of request) blocks.push(block as Buffer);
  return Buffer.concat(blocks);
}

function work(
  peer: S3Peer,
  { method, key, query }: Omit<S3Request, "host">,
  range: string | undefined,
  body: Buffer,
  response: ServerResponse,
  fault: Fault | null,
): void {
  const uploadId = query.get("uploadId");
  if (method === "GET" && query.has("uploads"))
    return xml(response, uploadsXml(peer, query.get("prefix") ?? ""));
  if (method === "POST" && query.has("uploads")) {
    const id = randomUUID();
    peer.uploads.set(id, { key, parts: new Map() });
    return xml(
      response,
      `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    );
  }
  if (uploadId !== undefined) return workOnUpload(peer, { method, key, query }, uploadId, body, response);
  if (method === "PUT") {
    peer.objects.set(key, body);
    response.writeHead(200, { etag: etagOf(body) });
    response.end();
    return;
  }
  if (method === "DELETE") {
    peer.objects.delete(key);
    response.writeHead(204);
    response.end();
    return;
  }
  const object = peer.objects.get(key);
  if (object === undefined) throw new Refusal(404, "NoSuchKey");
  sendObject(object, method, range, query, response, fault);
}

function workOnUpload(
  peer: S3Peer,
  { method, key, query }: Omit<S3Request, "host">,
  uploadId: string,
  body: Buffer,
  response: ServerResponse,
): void {
  const upload = peer.uploads.get(uploadId);
  if (upload?.key !== key) throw new Refusal(404, "NoSuchUpload");
  if (method === "PUT") {
    upload.parts.set(Number(query.get("partNumber")), body);
    response.writeHead(200, { etag: etagOf(body) });
    response.end();
    return;
  }
  peer.uploads.delete(uploadId);
  if (method === "DELETE") {
    response.writeHead(204);
    response.end();
    return;
  }
  const listed = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)];
  const parts = listed.map(([, number, etag], index) => {
    const part = upload.parts.get(Number(number));
    if (part === undefined || etagOf(part) !== etag) throw new Refusal(400, "InvalidPart");
    const isLast = index === listed.length - 1;
    if (!isLast && part.byteLength < LEAST_PART_BYTES) throw new Refusal(400, "EntityTooSmall");
    return part;
  });
  peer.objects.set(key, Buffer.concat(parts));
  xml(response, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
}

function sendObject(
  object: Buffer,
  method: string,
  range: string | undefined,
  query: ReadonlyMap<string, string>,
  response: ServerResponse,
  fault: Fault | null,
): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
  if (first !== undefined && Number(first) >= object.byteLength) throw new Refusal(416, "InvalidRange");
  const part = first === undefined ? object : object.subarray(Number(first), Number(last) + 1);
  const place = `${String(first)}-${String(Number(first) + part.byteLength - 1)}/${String(object.byteLength)}`;
  response.writeHead(first === undefined ? 200 : 206, {
    "content-length": String(part.byteLength),
    "content-type": query.get("response-content-type") ?? "audio/wav",
    ...(first === undefined ? {} : { "content-range": `bytes ${place}` }),
    ...(query.has("response-content-disposition")
      ? { "content-disposition": query.get("response-content-disposition") }
      : {}),
  });
  if (fault === "cut answer") {
    response.write(part.subarray(0, part.byteLength >> 1), () => response.destroy());
    return;
  }
  response.end(method === "HEAD" ? undefined : part);
}

function uploadsXml({ uploads }: S3Peer, prefix: string): string {
  const listed = [...uploads]
    .filter(([, { key }]) => key.startsWith(prefix))
    .map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
  return `<ListMultipartUploadsResult>${listed.join("")}</ListMultipartUploadsResult>`;
}

function xml(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`);
}

function etagOf(bytes: Uint8Array): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}
