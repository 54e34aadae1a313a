/** The embedded database on the main thread: it starts the worker and provides streams that `pg` uses as sockets. */

import { Duplex } from "node:stream";
import type { Worker } from "node:worker_threads";
import { NEVER } from "../../threads/restarts.ts";
import { Supervisor, type Run } from "../../threads/supervisor.ts";
import { startWorker } from "../../threads/worker-thread.ts";
import type { FromWorker, ToWorker, WorkerInput } from "./protocol.ts";

export interface EmbeddedEngine {
  /** Opens a connection, for the `stream` option of `pg`. `foreign`: for another process. */
  readonly connect: (foreign?: boolean) => Duplex;
  /** Drops waiting queries, writes a checkpoint and ends the thread. Idempotent. */
  readonly close: () => Promise<void>;
}

/** A new database takes 4 to 6 s on two slow cores; beyond this its thread hangs. */
const OPENING_LIMIT = { ms: 60_000, reason: new Error("The embedded database did not open in time.") };

/** A checkpoint takes well below a second; beyond this the thread is ended as by a crash, which loses nothing. */
const CLOSING_LIMIT = { ms: 10_000, reason: new Error("The embedded database did not close in time.") };

export async function startEmbeddedEngine(
  databaseDir: string,
  onFailure: (error: Error) => void,
): Promise<EmbeddedEngine> {
  const engine = new Engine(databaseDir, onFailure);
  try {
    await engine.open();
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

class Engine implements EmbeddedEngine {
  readonly #opened = Promise.withResolvers<void>();
  readonly #supervisor: Supervisor<Worker, Error>;
  readonly #connections = new Map<number, EmbeddedConnection>();
  #nextId = 1;
  #outbox: (readonly [number, Uint8Array])[] = [];
  #isClosing = false;
  /** Resolves when the thread is gone: another one on the same folder would corrupt it. */
  #gone: Promise<unknown> = Promise.resolve();

  constructor(databaseDir: string, onFailure: (error: Error) => void) {
    this.#supervisor = new Supervisor<Worker, Error>({
      // Every open transaction is lost with the thread, so the service ends as well and recovers in its next start.
      policy: NEVER,
      start: (run) => this.#start(run, databaseDir),
      startLimit: OPENING_LIMIT,
      ready: () => this.#opened.resolve(),
      discard: (worker) => {
        this.#gone = worker.terminate();
      },
      ended: ({ reason, isFinished }) => {
        this.#opened.reject(reason);
        this.#destroyConnections(reason);
        if (!isFinished || reason === CLOSING_LIMIT.reason) onFailure(reason);
      },
    });
  }

  async open(): Promise<void> {
    this.#supervisor.start();
    return this.#opened.promise;
  }

  connect(foreign = false): Duplex {
    const id = this.#nextId;
    this.#nextId += 1;
    const connection = new EmbeddedConnection({
      send: (bytes) => this.#send(id, bytes),
      closed: () => {
        this.#connections.delete(id);
        this.#tell({ type: "closed", connectionId: id });
      },
    });
    this.#connections.set(id, connection);
    const isTold = this.#tell({ type: "connected", connectionId: id, foreign });
    if (!isTold) connection.destroy(new Error("The embedded database is not running."));
    return connection;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#destroyConnections();
    await this.#supervisor.finish((worker) => post(worker, { type: "stop" }), CLOSING_LIMIT);
    await this.#gone;
  }

  #start(run: Run<Error>, databaseDir: string): Worker {
    const workerData: WorkerInput = { databaseDir };
    const options = { workerData, name: "embedded database", execArgv: [] };
    return startWorker<FromWorker>(new URL("./embedded-worker.ts", import.meta.url), options, {
      heard: (message) => this.#receive(run, message),
      ended: (reason) => run.lost(new Error(`The embedded database has ended: ${reason}.`)),
    });
  }

  /** Everything written in one turn of the event loop is posted as one message. */
  #send(id: number, bytes: Uint8Array): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.#flush());
    // Copied out of the memory pool, which would otherwise be copied as a whole.
    this.#outbox.push([id, new Uint8Array(bytes)]);
  }

  #flush(): void {
    const chunks = this.#outbox;
    this.#outbox = [];
    this.#tell({ type: "sent", chunks });
  }

  /** False: the database is not open. */
  #tell(message: ToWorker): boolean {
    const worker = this.#isClosing ? null : this.#supervisor.ready;
    if (worker === null) return false;
    post(worker, message);
    return true;
  }

  #receive(run: Run<Error>, message: FromWorker): void {
    switch (message.type) {
      case "opened":
        run.ready();
        return;
      case "answered":
        this.#connections.get(message.connectionId)?.deliver(message.bytes);
        return;
      case "ended":
        this.#connections.get(message.connectionId)?.destroy(new Error(message.reason));
        return;
      case "failed":
        run.lost(new Error(`The embedded database failed: ${message.error}`));
        return;
      case "stopped":
        run.lost(new Error("The embedded database has stopped."));
    }
  }

  #destroyConnections(error?: Error): void {
    for (const connection of this.#connections.values()) connection.destroy(error);
    this.#connections.clear();
  }
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message, []);
}

interface ConnectionEnds {
  readonly send: (bytes: Uint8Array) => void;
  readonly closed: () => void;
}

/** Replaces the `net.Socket` that `pg` expects. */
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
