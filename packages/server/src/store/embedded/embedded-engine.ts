/** The embedded database as seen from the main thread: streams that `pg` takes for sockets to a server. */

import { Duplex } from "node:stream";
import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker, WorkerInput } from "./protocol.ts";

export interface EmbeddedEngine {
  /** A new connection, in the form that `pg` wants of its `stream` option. `foreign`: for another process. */
  readonly connect: (foreign?: boolean) => Duplex;
  /** Drops what is still asked for, writes a checkpoint and ends the thread. Idempotent. */
  readonly close: () => Promise<void>;
}

/** A new database takes 4 to 6 s on two slow cores; beyond this its thread hangs. */
const OPENING_LIMIT_MS = 60_000;

/** A checkpoint takes well below a second; beyond this the thread is ended as by a crash, which loses nothing. */
const CLOSING_LIMIT_MS = 10_000;

export async function startEmbeddedEngine(
  databaseDir: string,
  onFailure: (error: Error) => void,
): Promise<EmbeddedEngine> {
  const workerData: WorkerInput = { databaseDir };
  const worker = new Worker(new URL("./embedded-worker.ts", import.meta.url), {
    workerData,
    name: "embedded database",
    execArgv: [],
  });
  const engine = new Engine(worker, onFailure);
  try {
    await withLimit(engine.opened.promise, OPENING_LIMIT_MS, "The embedded database did not open in time.");
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  return engine;
}

class Engine implements EmbeddedEngine {
  readonly opened = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #worker: Worker;
  readonly #onFailure: (error: Error) => void;
  readonly #connections = new Map<number, EmbeddedConnection>();
  #nextId = 1;
  #outbox: (readonly [number, Uint8Array])[] = [];
  #state: "open" | "closing" | "over" = "open";
  #closed: Promise<void> | null = null;

  constructor(worker: Worker, onFailure: (error: Error) => void) {
    this.#worker = worker;
    this.#onFailure = onFailure;
    this.opened.promise.catch(() => undefined);
    worker.on("message", (message: FromWorker) => this.#receive(message));
    worker.on("error", (error) => this.#end(error));
    worker.on("exit", (code) => this.#end(new Error(`The embedded database's thread ended with ${code}.`)));
  }

  connect(foreign = false): Duplex {
    const id = this.#nextId;
    this.#nextId += 1;
    const connection = new EmbeddedConnection({
      send: (bytes) => this.#send(id, bytes),
      closed: () => {
        this.#connections.delete(id);
        if (this.#state === "open") this.#tell({ type: "closed", connectionId: id });
      },
    });
    this.#connections.set(id, connection);
    if (this.#state === "open") this.#tell({ type: "connected", connectionId: id, foreign });
    else connection.destroy(new Error("The embedded database is not running."));
    return connection;
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "closing";
      this.#destroyConnections();
      this.#tell({ type: "stop" });
      const limit = "The embedded database did not close in time.";
      await withLimit(this.#stopped.promise, CLOSING_LIMIT_MS, limit).catch((error: Error) =>
        this.#onFailure(error),
      );
    }
    this.#state = "over";
    await this.#worker.terminate();
  }

  /** Everything written in one turn of the event loop goes over in one message. */
  #send(id: number, bytes: Uint8Array): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.#flush());
    // Copied out of the memory pool, all of which would go over otherwise.
    this.#outbox.push([id, new Uint8Array(bytes)]);
  }

  #flush(): void {
    const chunks = this.#outbox;
    this.#outbox = [];
    if (this.#state === "open") this.#tell({ type: "sent", chunks });
  }

  #tell(message: ToWorker): void {
    this.#worker.postMessage(message, []);
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case "opened":
        this.opened.resolve();
        return;
      case "answered":
        this.#connections.get(message.connectionId)?.deliver(message.bytes);
        return;
      case "ended":
        this.#connections.get(message.connectionId)?.destroy(new Error(message.reason));
        return;
      case "failed":
        this.#end(new Error(`The embedded database failed: ${message.error}`));
        return;
      case "stopped":
        this.#state = "over";
        this.#stopped.resolve();
    }
  }

  /** The thread is gone, or must not be asked any more. */
  #end(error: Error): void {
    this.opened.reject(error);
    this.#stopped.resolve();
    if (this.#state === "over") return;
    const wasOpen = this.#state === "open";
    this.#state = "over";
    this.#destroyConnections(error);
    if (wasOpen) this.#onFailure(error);
    void this.#worker.terminate();
  }

  #destroyConnections(error?: Error): void {
    for (const connection of this.#connections.values()) connection.destroy(error);
    this.#connections.clear();
  }
}

interface ConnectionEnds {
  readonly send: (bytes: Uint8Array) => void;
  readonly closed: () => void;
}

/** Stands in for the `net.Socket` that `pg` expects. */
class EmbeddedConnection extends Duplex {
  readonly #ends: ConnectionEnds;

  constructor(ends: ConnectionEnds) {
    super({ allowHalfOpen: false });
    this.#ends = ends;
  }

  connect(): this {
    queueMicrotask(() => this.emit("connect"));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  deliver(bytes: Uint8Array): void {
    this.push(bytes);
  }

  override _read(): void {
    // Answers are pushed as they come. They are bounded by the queries under way.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#ends.send(chunk);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#ends.send(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#ends.closed();
    done(error);
  }
}

async function withLimit<Value>(promise: Promise<Value>, limitMs: number, message: string): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(message)), limitMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
