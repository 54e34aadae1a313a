/** Fetches a file into another one, and continues where an earlier attempt ended. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { messageOf } from "../pacing/error-text.ts";
import { megabytes } from "./catalogue.ts";
import { ModelError } from "./model-error.ts";

export interface DownloadOptions {
  /** In sentences. */
  readonly name: string;
  readonly address: string;
  /** The file that grows; beside it, what is needed to continue. */
  readonly path: string;
  readonly maxBytes: number;
  /** Called with what is there and what there will be. */
  readonly progress: (bytes: number, total: number | null) => void;
  /** Called once the rest of the size is known, before it is fetched. Throws where there is no room for it. */
  readonly makeRoom: (bytes: number) => Promise<void>;
  /** Limit of the wait for the next bytes. */
  readonly stallMs?: number;
}

export interface Downloaded {
  readonly bytes: number;
  readonly sha256: string;
}

/** A connection that gives nothing for this long is dead; the command can be run again. */
const STALL_MS = 60_000;

/** What the server said of the file of which a part is there. */
interface Started {
  readonly address: string;
  /** Null: the server gives none, and the download cannot be continued. */
  readonly tag: string | null;
}

/** @throws ModelError with a sentence; what was fetched stays, so that the next attempt continues */
export async function download(options: DownloadOptions): Promise<Downloaded> {
  const { name, path, address } = options;
  const started = await startedIn(path, address);
  const have = started === null ? 0 : await sizeOf(path);
  const stall = new StallLimit(options.stallMs ?? STALL_MS);
  try {
    const response = await request(options, have, started, stall.signal);
    if (response !== "complete") await receive(options, response, response.status === 206 ? have : 0, stall);
  } catch (error) {
    if (error instanceof ModelError) throw error;
    const there = megabytes(await sizeOf(path));
    const reason = stall.signal.aborted ? "the server sends nothing more" : reasonOf(error);
    throw new ModelError(
      `The download of ${name} was interrupted after ${there} (${reason}). Run the same command again to continue it.`,
      { cause: error },
    );
  } finally {
    stall.end();
  }
  return { bytes: await sizeOf(path), sha256: await sha256Of(path) };
}

/** What was fetched is of no use. */
export async function discard(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(stateOf(path), { force: true });
}

function stateOf(path: string): string {
  return `${path}.json`;
}

async function startedIn(path: string, address: string): Promise<Started | null> {
  const text = await readFile(stateOf(path), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const started = JSON.parse(text) as Started;
    return started.address === address && started.tag !== null ? started : null;
  } catch {
    return null; // Cut off when the machine stopped: the download begins again.
  }
}

async function request(
  { name, address }: DownloadOptions,
  have: number,
  started: Started | null,
  signal: AbortSignal,
): Promise<Response | "complete"> {
  const rest =
    started?.tag === null || started === null || have === 0
      ? {}
      : { range: `bytes=${String(have)}-`, "if-range": started.tag };
  const get = async (headers: Readonly<Record<string, string>>): Promise<Response> => {
    const response = await fetch(address, { headers: { ...headers, "accept-encoding": "identity" }, signal });
    if (!address.startsWith("https:") || response.url.startsWith("https:")) return response;
    await response.body?.cancel();
    throw new ModelError(`${address} leads to an address without encryption, which is not followed.`);
  };
  const response = await get(rest);
  const { status } = response;
  if (status === 200 || (status === 206 && startOf(response) === have)) return response;
  await response.body?.cancel();
  // All of it is there: an earlier command was ended before it was unpacked.
  if (status === 416 && response.headers.get("content-range") === `bytes */${String(have)}`)
    return "complete";
  if (status === 416 || status === 206) return get({});
  if (status === 404)
    throw new ModelError(
      `${name} is not at ${address} (HTTP 404): it was moved or removed. Look for a newer Parley.`,
    );
  if (status === 401 || status === 403)
    throw new ModelError(
      `${address} refuses the download (HTTP ${String(status)}): a proxy forbids it, or the model now needs an account.`,
    );
  throw new ModelError(`${address} answers with HTTP ${String(status)}; try again later.`);
}

/** Of `bytes 100-999/1000`. */
function startOf(response: Response): number | null {
  const found = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "");
  return found === null ? null : Number(found[1]);
}

async function receive(
  options: DownloadOptions,
  response: Response,
  have: number,
  stall: StallLimit,
): Promise<void> {
  const { name, address, path, maxBytes, progress, makeRoom } = options;
  if (!response.ok || response.body === null)
    throw new ModelError(`${address} answers with HTTP ${String(response.status)}; try again later.`);
  const length = response.headers.get("content-length");
  const total = length === null ? null : have + Number(length);
  const tooLarge = (): ModelError =>
    new ModelError(
      `${name} at ${address} is larger than ${megabytes(maxBytes)}, which is far more than was expected.`,
    );
  if (total !== null && total > maxBytes) {
    await response.body.cancel();
    throw tooLarge();
  }
  await makeRoom((total ?? maxBytes) - have);
  const { headers } = response;
  const tag = headers.get("etag");
  const strong = tag?.startsWith('"') === true ? tag : null;
  const started: Started = { address, tag: strong ?? headers.get("last-modified") };
  if (have === 0) await writeFile(stateOf(path), JSON.stringify(started));
  const file = await open(path, have === 0 ? "w" : "a");
  let bytes = have;
  try {
    for await (const chunk of response.body) {
      stall.reset();
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      await file.writeFile(chunk);
      progress(bytes, total);
    }
  } finally {
    await file.close();
  }
  if (total !== null && bytes !== total) throw new Error("the connection ended too early");
}

/** Aborts when nothing comes. */
class StallLimit {
  readonly #abort = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = ms;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#abort.abort(), this.#ms);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  return code === "ENOSPC" ? "the disk is full" : (code ?? messageOf(cause));
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
