/** Legs in threads of their own: as many threads as the calls need, and a leg for each call in one of them. */

import { NEVER } from "../../threads/restarts.ts";
import { Supervisor } from "../../threads/supervisor.ts";
import { AudioBatcher, eachPiece, type FromLegThread, type ToLegThread } from "./leg-protocol.ts";
import type { LegThread, StartLegThread } from "./leg-thread.ts";
import type { Leg, OpenLeg } from "./leg.ts";
import { NoLegError, type PeerOptions } from "./peer.ts";
import { RemoteLeg } from "./remote-leg.ts";

/**
 * Legs of one thread before another is started: 30 of them, with everything else of their calls, take 67 % of a core.
 */
export const LEGS_PER_THREAD = 40;
/** From the offer to the answer; binding a port of a large range takes some milliseconds. */
const OPEN_LIMIT_MS = 5_000;
/** Loading the library and a first handshake take a second on a small machine. */
const READY_LIMIT_MS = 30_000;
/** Wait for a thread to close its connections. */
const FINISH_LIMIT_MS = 3_000;

export interface LegThreads {
  readonly open: OpenLeg;
  /** Starts the first thread; resolves when it has done once what takes long the first time. */
  warm(): Promise<void>;
  /** Ends all legs and threads. Idempotent. */
  close(): Promise<void>;
}

export interface LegThreadsOptions {
  readonly start: StartLegThread;
  /** At least 1. */
  readonly maxThreads: number;
  /** Gets one sentence for each fault. */
  readonly log: (message: string) => void;
}

export function openLegThreads(options: LegThreadsOptions): LegThreads {
  return new Pool(options);
}

class Pool implements LegThreads {
  readonly #options: LegThreadsOptions;
  readonly #threads = new Set<Thread>();
  #opening: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: LegThreadsOptions) {
    this.#options = options;
  }

  readonly open = async (offer: string, options: PeerOptions): Promise<Leg> => {
    if (options.portRange === null) return this.#thread().open(offer, options);
    // Between the trial of a port and its use no other leg of any thread may look for one.
    const opened = this.#opening.then(() => this.#thread().open(offer, options));
    this.#opening = opened.catch(() => undefined);
    return opened;
  };

  async warm(): Promise<void> {
    try {
      await this.#thread().ready;
    } catch (error) {
      if (!this.#closed) throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map((thread) => thread.finish()));
  }

  /** The one with the fewest legs, or a new one where all have enough. */
  #thread(): Thread {
    if (this.#closed) throw new NoLegError("the service is stopping");
    let best: Thread | null = null;
    for (const thread of this.#threads) if (best === null || thread.size < best.size) best = thread;
    const isFull =
      best === null || (best.size >= LEGS_PER_THREAD && this.#threads.size < this.#options.maxThreads);
    if (best !== null && !isFull) return best;
    const { start, log } = this.#options;
    const thread: Thread = new Thread(start, log, () => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

const NOT_READY = "it was not ready in time";

/** One run only: legs cannot be restored, so the pool starts another thread for the next call. */
class Thread {
  readonly ready: Promise<void>;
  readonly #supervisor: Supervisor<LegThread>;
  readonly #log: (message: string) => void;
  readonly #legs = new Map<number, RemoteLeg>();
  readonly #sending = new AudioBatcher();
  #lastId = 0;

  constructor(start: StartLegThread, log: (message: string) => void, onEnd: () => void) {
    this.#log = log;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.#supervisor = new Supervisor<LegThread>({
      policy: NEVER,
      start: (run) =>
        start({
          heard: (message) => {
            if (run.isOver) return;
            if (message.type === "ready") run.ready();
            else this.#hear(message);
          },
          ended: (reason) => run.lost(reason),
        }),
      startLimit: { ms: READY_LIMIT_MS, reason: NOT_READY },
      ready: ready.resolve,
      discard: (thread) => thread.terminate(),
      ended: ({ reason, isFinished }) => {
        if (reason === NOT_READY) log("a thread for WebRTC was not ready in time");
        else if (!isFinished) log(`a thread for WebRTC ended, and its calls with it: ${reason}`);
        onEnd();
        ready.reject(new Error(reason));
        for (const leg of this.#legs.values()) leg.lost(reason);
        this.#legs.clear();
      },
    });
    // `open` and `warm` report the failure; nothing else has to wait for it.
    ready.promise.catch(() => undefined);
    this.#supervisor.start();
  }

  get size(): number {
    return this.#legs.size;
  }

  async open(offer: string, options: PeerOptions): Promise<Leg> {
    this.#lastId += 1;
    const legId = this.#lastId;
    const leg = new RemoteLeg(legId, {
      send: (message) => this.#send(message),
      sendAudio: (frame) => this.#sendAudio(legId, frame),
      forget: () => this.#legs.delete(legId),
    });
    this.#legs.set(legId, leg);
    // A thread that ends instead of being ready refuses its legs itself.
    await Promise.allSettled([this.ready]);
    this.#send({ type: "open", legId, offer, options });
    await leg.opened(OPEN_LIMIT_MS);
    return leg;
  }

  finish(): Promise<void> {
    return this.#supervisor.finish((thread) => thread.send({ type: "finish" }), {
      ms: FINISH_LIMIT_MS,
      reason: "it did not finish in time",
    });
  }

  #send(message: ToLegThread): void {
    this.#supervisor.running?.send(message);
  }

  /** All frames of one tick go in one message: the tick is one callback, and this waits for its end. */
  #sendAudio(legId: number, frame: Int16Array): void {
    if (this.#sending.isEmpty) {
      queueMicrotask(() => this.#send({ type: "audio", batch: this.#sending.take() }));
    }
    this.#sending.add(legId, frame);
  }

  #hear(message: Exclude<FromLegThread, { readonly type: "ready" }>): void {
    if (message.type === "audio") {
      eachPiece(message.batch, (legId, piece) => this.#legs.get(legId)?.hear(piece));
    } else if (message.type === "fault") this.#log(`a fault in a thread for WebRTC: ${message.detail}`);
    else this.#legs.get(message.legId)?.receive(message);
  }
}
