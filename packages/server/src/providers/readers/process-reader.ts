/**
 * Reads documents in a child process, one after the other. Bytes from a network decide what happens there: a file
 * that takes too long or too much memory, or ends the process, is refused, and the next one gets a new process.
 */

import {
  UnreadableDocument,
  type DocumentToRead,
  type ReadDocument,
} from "../../ports/corpora/document-reader.ts";
import type { FromReader } from "./child/protocol.ts";
import {
  startReaderProcess,
  type ReaderEnd,
  type ReaderProcess,
  type ReaderProcessListener,
} from "./child/reader-process.ts";

export interface DocumentReaderOptions {
  /** From the request to the answer; the start of the process included. */
  readonly timeoutMs?: number;
  readonly start?: (listener: ReaderProcessListener) => ReaderProcess;
}

/** A PDF of 2,000 pages takes 20 s on a slow machine. */
const TIMEOUT_MS = 60_000;
/** A process that has read so many is replaced: libraries keep some memory of each document. */
const DOCUMENTS_PER_PROCESS = 200;
/** A process without work ends after this time, and releases its 100 to 300 MB. */
const IDLE_MS = 30_000;

interface Running {
  readonly id: number;
  readonly outcome: PromiseWithResolvers<ReadDocument>;
}

function failureOf(end: ReaderEnd): Error {
  if (end === "unstarted") return new Error("the process of the document reader cannot be started");
  return end === "memory"
    ? new UnreadableDocument("too_much_memory", "Reading the document takes too much memory.")
    : new UnreadableDocument("reader_ended", "Reading the document ends the process of the reader.");
}

/** After these the process may still work on the document. */
const UNANSWERED: ReadonlySet<string> = new Set(["too_slow", "too_much_memory", "reader_ended"]);

/** The caller waits for one document before it gives the next one. */
export class ProcessReader {
  readonly #timeoutMs: number;
  readonly #start: (listener: ReaderProcessListener) => ReaderProcess;
  readonly #closing = new AbortController();
  #child: ReaderProcess | null = null;
  #running: Running | null = null;
  #documents = 0;
  #nextId = 1;
  #idle: NodeJS.Timeout | null = null;

  constructor({ timeoutMs = TIMEOUT_MS, start = startReaderProcess }: DocumentReaderOptions) {
    this.#timeoutMs = timeoutMs;
    this.#start = start;
  }

  /** As the port says, for a document of a type that can be read. */
  async read(document: DocumentToRead, signal: AbortSignal): Promise<ReadDocument> {
    return this.#readOne(document, AbortSignal.any([signal, this.#closing.signal]));
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the service is stopping"));
    if (this.#idle !== null) clearTimeout(this.#idle);
    await this.#endChild();
  }

  async #readOne(document: DocumentToRead, signal: AbortSignal): Promise<ReadDocument> {
    signal.throwIfAborted();
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#documents >= DOCUMENTS_PER_PROCESS) await this.#endChild();
    this.#child ??= this.#begin();
    const id = this.#nextId++;
    const outcome = Promise.withResolvers<ReadDocument>();
    this.#running = { id, outcome };
    const tooSlow = new UnreadableDocument("too_slow", "Reading the document takes too long.");
    const timer = setTimeout(() => outcome.reject(tooSlow), this.#timeoutMs);
    const onAbort = (): void => outcome.reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    // It may have come while the process before was ended.
    if (signal.aborted) onAbort();
    let isAnswered = true;
    try {
      this.#documents += 1;
      this.#child.send({ id, document });
      return await outcome.promise;
    } catch (error) {
      isAnswered = error instanceof UnreadableDocument && !UNANSWERED.has(error.code);
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#running = null;
      if (!isAnswered) await this.#endChild();
      this.#idle = setTimeout(() => void this.#endChild(), IDLE_MS).unref();
    }
  }

  #begin(): ReaderProcess {
    const started: ReaderProcess = this.#start({
      heard: (message: FromReader) => {
        if (message.id !== this.#running?.id || this.#child !== started) return;
        const { outcome } = this.#running;
        if (message.type === "read") outcome.resolve(message.document);
        else outcome.reject(new UnreadableDocument(message.code, message.message));
      },
      ended: (end: ReaderEnd) => {
        if (this.#child !== started) return;
        this.#child = null;
        this.#running?.outcome.reject(failureOf(end));
      },
    });
    this.#documents = 0;
    return started;
  }

  async #endChild(): Promise<void> {
    const ending = this.#child;
    this.#child = null;
    await ending?.end();
  }
}
