/**
 * Objects in a bucket of an S3-compatible store: signed requests (SigV4) over the fetch of the runtime. No retries
 * inside.
 */

import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";

export interface S3Target {
  /** Without a path, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** True: the bucket is the first part of the path; false: it is part of the host name. */
  readonly pathStyle: boolean;
}

export interface S3Object {
  /** Length of the requested part. */
  readonly byteLength: number;
  /** Length of the whole object. */
  readonly wholeBytes: number;
  readonly stream: ReadableStream<Uint8Array>;
}

export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}

/** First and last byte, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Every function rejects with `S3Error` when the store refuses, and with the error of `fetch` when it cannot be
 * reached.
 */
export interface S3Objects {
  put(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  beginParts(key: string, signal: AbortSignal): Promise<string>;
  putPart(
    key: string,
    uploadId: string,
    number: number,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<UploadedPart>;
  endParts(key: string, uploadId: string, parts: readonly UploadedPart[], signal: AbortSignal): Promise<void>;
  dropParts(key: string, uploadId: string): Promise<void>;
  /** Ids of unfinished uploads of this key; at most a thousand. */
  begunParts(key: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Null: no such object. */
  sizeOf(key: string, signal?: AbortSignal): Promise<number | null>;
  /** Null: no such object, or it ends before the range. */
  read(key: string, range?: ByteRange): Promise<S3Object | null>;
  /** Succeeds also where there is no such object. */
  remove(key: string, signal?: AbortSignal): Promise<void>;
  /** Everyone who has the link can read the object for this time. */
  link(key: string, seconds: number, headers: Readonly<Record<string, string>>): Promise<string>;
}

/** The store responded with a refusal. */
export class S3Error extends Error {
  readonly status: number;
  /** Such as `NoSuchKey`; empty where the response contained none. */
  readonly code: string;
  constructor(what: string, status: number, code: string) {
    super(`the object store refused to ${what}: ${String(status)}${code === "" ? "" : ` ${code}`}`);
    this.status = status;
    this.code = code;
  }
}

/** Limit for responses without content; a store that is slower counts as unreachable. */
const ANSWER_LIMIT_MS = 15_000;
/** Limit for one part of 8 MiB, at 140 KB/s. */
const UPLOAD_LIMIT_MS = 60_000;
/** Limit for joining thousands of parts, which takes stores up to minutes; they send blanks meanwhile. */
const JOIN_LIMIT_MS = 180_000;
/** Limit of a response that is read as a whole: a list of a thousand uploads takes half of it. */
const TEXT_LIMIT_BYTES = 1_048_576;
const EMPTY_HASH = hashOf(new Uint8Array());

interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** The action, for messages: "store a part". */
  readonly what: string;
}

export function openS3Objects(target: S3Target): S3Objects {
  const ask = (request: S3Request): Promise<Response> => send(target, request);
  return {
    async put(key, bytes, signal) {
      await done(await ask({ ...uploading(key, bytes, signal), what: "store a recording" }));
    },
    async beginParts(key, signal) {
      const headers = { "content-type": CONTENT_TYPE };
      const request = { method: "POST", key, query: { uploads: "" }, headers, signal } as const;
      const text = await textOf(await ask({ ...request, limitMs: ANSWER_LIMIT_MS, what: "begin an upload" }));
      return required(elementsOf(text, "UploadId")[0], "begin an upload");
    },
    async putPart(key, uploadId, number, bytes, signal) {
      const query = { partNumber: String(number), uploadId };
      const response = await ask({ ...uploading(key, bytes, signal), query, what: "store a part" });
      await done(response);
      return { number, etag: required(response.headers.get("etag") ?? undefined, "store a part") };
    },
    async endParts(key, uploadId, parts, signal) {
      const body = new TextEncoder().encode(partsXml(parts));
      const request = { method: "POST", key, query: { uploadId }, body, signal } as const;
      const text = await textOf(await ask({ ...request, limitMs: JOIN_LIMIT_MS, what: "join an upload" }));
      // The store sends the status before the work is done: failures are in the body of a 200.
      const [code] = elementsOf(text, "Code");
      if (code !== undefined) throw new S3Error("join an upload", 200, code);
    },
    async dropParts(key, uploadId) {
      const request = { method: "DELETE", key, query: { uploadId }, limitMs: ANSWER_LIMIT_MS } as const;
      await missingIsFine(async () => done(await ask({ ...request, what: "drop an upload" })));
    },
    async begunParts(key, signal) {
      const query = { uploads: "", prefix: key };
      const request = { method: "GET", key: "", query, signal, limitMs: ANSWER_LIMIT_MS } as const;
      const text = await textOf(await ask({ ...request, what: "list uploads" }));
      return elementsOf(text, "Upload").flatMap((upload) =>
        elementsOf(upload, "Key")[0] === key ? elementsOf(upload, "UploadId") : [],
      );
    },
    async sizeOf(key, signal) {
      const request = {
        method: "HEAD",
        key,
        limitMs: ANSWER_LIMIT_MS,
        what: "look for a recording",
      } as const;
      const response = await missingIsFine(() =>
        ask(signal === undefined ? request : { ...request, signal }),
      );
      if (response === null) return null;
      await done(response);
      return lengthOf(response);
    },
    read: (key, range) => read(ask, key, range),
    async remove(key, signal) {
      const request = {
        method: "DELETE",
        key,
        limitMs: ANSWER_LIMIT_MS,
        what: "remove a recording",
      } as const;
      await missingIsFine(async () =>
        done(await ask(signal === undefined ? request : { ...request, signal })),
      );
    },
    link: (key, seconds, headers) => linkTo(target, key, seconds, headers),
  };
}

const CONTENT_TYPE = "audio/wav";

function uploading(key: string, body: Uint8Array, signal: AbortSignal): Omit<S3Request, "what"> {
  const headers = { "content-type": CONTENT_TYPE };
  return { method: "PUT", key, headers, body, signal, limitMs: UPLOAD_LIMIT_MS };
}

/** The limit is for the start of the response; its body is read at the reader's pace. */
async function send(target: S3Target, request: S3Request): Promise<Response> {
  const { method, key, query = {}, headers = {}, body, limitMs, signal, what } = request;
  const signer = new AwsV4Signer({
    ...credentialsOf(target),
    method,
    url: urlOf(target, key, query).href,
    headers: { ...headers, "x-amz-content-sha256": body === undefined ? EMPTY_HASH : hashOf(body) },
  });
  const signed = await signer.sign();
  const slow = new AbortController();
  const limit = setTimeout(() => {
    slow.abort(new Error(`the object store took longer than ${String(limitMs)} ms to ${what}`));
  }, limitMs);
  try {
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      // A redirect points to another region or address, which the signature does not cover.
      redirect: "manual",
      signal: signal === undefined ? slow.signal : AbortSignal.any([signal, slow.signal]),
      ...(body === undefined ? {} : { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
    });
    if (response.ok) return response;
    throw new S3Error(what, response.status, elementsOf(await textOf(response), "Code")[0] ?? "");
  } catch (error) {
    throw error instanceof TypeError ? unreached(error) : error;
  } finally {
    clearTimeout(limit);
  }
}

/** `fetch` throws the same message for every failed connection; the reason is in the cause. */
function unreached(error: TypeError): Error {
  const { cause } = error;
  const code = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  const why = typeof code === "string" ? ` (${code})` : "";
  return new Error(`the object store cannot be reached: ${error.message}${why}`, { cause: error });
}

async function read(
  ask: (request: S3Request) => Promise<Response>,
  key: string,
  range: ByteRange | undefined,
): Promise<S3Object | null> {
  const headers = range === undefined ? {} : { range: `bytes=${String(range.first)}-${String(range.last)}` };
  const request = { method: "GET", key, headers, limitMs: ANSWER_LIMIT_MS } as const;
  const response = await missingIsFine(() => ask({ ...request, what: "read a recording" }));
  if (response?.body === null || response?.body === undefined) return null;
  const byteLength = lengthOf(response);
  if (range === undefined) return { byteLength, wholeBytes: byteLength, stream: response.body };
  const whole = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
  if (response.status !== 206 || whole === undefined) {
    await response.body.cancel();
    throw new S3Error("read a part of a recording", response.status, "");
  }
  return { byteLength, wholeBytes: Number(whole), stream: response.body };
}

async function linkTo(
  target: S3Target,
  key: string,
  seconds: number,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const url = urlOf(target, key, { ...headers, "X-Amz-Expires": String(seconds) });
  const signer = new AwsV4Signer({
    ...credentialsOf(target),
    method: "GET",
    url: url.href,
    signQuery: true,
  });
  // Only some stores read a plus as a blank, so a real plus is escaped.
  return (await signer.sign()).url.href.replaceAll("+", "%20");
}

function credentialsOf({ accessKeyId, secretAccessKey, region }: S3Target) {
  return { accessKeyId, secretAccessKey, region, ["service"]: "s3" };
}

/** Keys need no escape, except that the slashes of the prefix must stay. */
function urlOf(
  { endpoint, bucket, pathStyle }: S3Target,
  key: string,
  query: Readonly<Record<string, string>>,
): URL {
  const url = new URL(endpoint);
  if (pathStyle) url.pathname = `/${bucket}/${key}`;
  else {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `/${key}`;
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

async function missingIsFine<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    // 416: the object exists and ends before the range.
    if (error instanceof S3Error && (error.status === 416 || isMissing(error))) return null;
    throw error;
  }
}

/** A missing bucket is an error, not a missing recording. HEAD has no error code. */
function isMissing({ status, code }: S3Error): boolean {
  return status === 404 && (code === "NoSuchKey" || code === "NoSuchUpload" || code === "");
}

function lengthOf(response: Response): number {
  return Number(
    required(response.headers.get("content-length") ?? undefined, "report the length of a recording"),
  );
}

function required(value: string | undefined, what: string): string {
  if (value === undefined || value === "") throw new S3Error(what, 200, "InvalidAnswer");
  return value;
}

/** Releases the connection. */
async function done(response: Response): Promise<void> {
  await response.body?.cancel();
}

async function textOf(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const block of response.body ?? []) {
    text += decoder.decode(block as Uint8Array, { stream: true });
    if (text.length > TEXT_LIMIT_BYTES) throw new S3Error("answer briefly", response.status, "");
  }
  return text;
}

/** The content of each element with this name; these elements do not nest. */
function elementsOf(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, "g"))].map(([, inside = ""]) =>
    inside
      .replaceAll("&quot;", '"')
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&apos;", "'")
      .replaceAll("&amp;", "&"),
  );
}

function partsXml(parts: readonly UploadedPart[]): string {
  const list = parts.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${String(number)}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join("")}</CompleteMultipartUpload>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
