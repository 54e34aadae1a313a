/** Archives for tests: tar entries of any kind, and a server that gives files as the release pages do. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TarPart {
  readonly name: string;
  readonly content?: string | Buffer;
  /** As in the header; default: a file. */
  readonly type?: string;
  readonly prefix?: string;
  /** Default: that of the content. */
  readonly size?: string;
}

const BLOCK_BYTES = 512;

export function tarOf(...parts: readonly TarPart[]): Buffer {
  return Buffer.concat([...parts.flatMap(blocksOf), Buffer.alloc(2 * BLOCK_BYTES)]);
}

function blocksOf({ name, content = "", type = "0", prefix = "", size }: TarPart): Buffer[] {
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, "utf8");
  header.write("0000644\0", 100);
  header.write(size ?? `${body.length.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  header.write("00000000000\0", 136);
  header.write(type, 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(prefix, 345, "utf8");
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return [header, body, Buffer.alloc((BLOCK_BYTES - (body.length % BLOCK_BYTES)) % BLOCK_BYTES)];
}

export interface FileServer {
  readonly url: string;
  /** What is answered at each path. */
  readonly files: Map<string, Buffer>;
  /** Of each request: its path, and the range that it asks for. */
  readonly requests: string[];
  /** Ends the next answer after so many bytes; 0: at once. */
  cutAfter: number | null;
  /** Sends nothing more after so many bytes. */
  hangAfter: number | null;
  /** Answers everything with this status. */
  refuses: number | null;
  /** Ends all connections. */
  drop(): void;
  close(): Promise<void>;
}

/** Knows ranges and `if-range`, as the servers of releases do. */
export async function openFileServer(): Promise<FileServer> {
  const files = new Map<string, Buffer>();
  const requests: string[] = [];
  const server: Server = createServer((request, response) => answer(served, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const served: FileServer = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    files,
    requests,
    cutAfter: null,
    hangAfter: null,
    refuses: null,
    drop: () => server.closeAllConnections(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return served;
}

export function tagOf(content: Buffer): string {
  return `"${String(content.length)}-${String(content.reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7))}"`;
}

function answer(served: FileServer, request: IncomingMessage, response: ServerResponse): void {
  const { range } = request.headers;
  served.requests.push(`${request.url ?? ""}${range === undefined ? "" : ` ${range}`}`);
  if (served.refuses !== null) {
    response.writeHead(served.refuses).end("no");
    return;
  }
  const content = served.files.get(request.url ?? "");
  if (content === undefined) {
    response.writeHead(404).end("not found");
    return;
  }
  const etag = tagOf(content);
  const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === etag;
  const from = range === undefined || !isSame ? 0 : Number(/^bytes=(\d+)-$/.exec(range)?.[1]);
  if (range !== undefined && isSame && from >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${String(content.length)}` }).end();
    return;
  }
  const rest = content.subarray(from);
  const last = String(content.length - 1);
  response.writeHead(from === 0 ? 200 : 206, {
    etag,
    "content-length": rest.length,
    ...(from === 0 ? {} : { "content-range": `bytes ${String(from)}-${last}/${String(content.length)}` }),
  });
  send(served, response, rest);
}

function send(served: FileServer, response: ServerResponse, rest: Buffer): void {
  const { cutAfter, hangAfter } = served;
  served.cutAfter = null;
  served.hangAfter = null;
  if (cutAfter !== null) response.write(rest.subarray(0, cutAfter), () => response.destroy());
  else if (hangAfter !== null) response.write(rest.subarray(0, hangAfter));
  else response.end(rest);
}
