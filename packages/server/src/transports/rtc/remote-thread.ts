/** A thread of legs, as the main thread has it: started once, watched, and given up when it does not answer. */

import { NEVER } from "../../threads/restarts.ts";
import { Supervisor } from "../../threads/supervisor.ts";
import { Heartbeat } from "./heartbeat.ts";
import { AudioBatcher, eachPiece, type FromLegThread, type ToLegThread } from "./leg-protocol.ts";
import type { LegThread, StartLegThread } from "./leg-thread.ts";
import type { LegRequest } from "./leg-request.ts";
import type { LegOwner } from "./leg.ts";
import { MemoryWatch } from "./memory-watch.ts";
import type { PeerFaults } from "./peer.ts";
import { RemoteLeg } from "./remote-leg.ts";
import type { ThreadLoad } from "./thread-choice.ts";

/** From the offer to the answer; binding a port of a large range takes some milliseconds. */
const OPEN_LIMIT_MS = 5_000;
/** Loading the library and a first handshake take a second on a small machine. */
const READY_LIMIT_MS = 30_000;
/** Wait for a thread to close its connections. */
const FINISH_LIMIT_MS = 3_000;

/** Why a thread is gone: it was not ready in time, did not answer, had too much memory, or ended by itself. */
export type ThreadLossKind = "not_ready" | "stuck" | "memory" | "failed";

export interface LegThreadsListener {
  /** Gets one sentence for each fault of a thread. */
  log(message: string): void;
  /** A thread has ended by itself or was given up, and its legs with it. */
  threadLost(kind: ThreadLossKind): void;
  /** A leg was ended because its client broke its protocols. Once for each leg. */
  legFaulty(owner: LegOwner, faults: PeerFaults): void;
}

interface ThreadLoss {
  readonly kind: ThreadLossKind;
  readonly detail: string;
}

const NOT_READY: ThreadLoss = { kind: "not_ready", detail: "it was not ready in time" };
const STUCK: ThreadLoss = { kind: "stuck", detail: "it answered nothing for three seconds" };
const TOO_LARGE: ThreadLoss = { kind: "memory", detail: "it took too much memory" };
const NOT_FINISHED: ThreadLoss = { kind: "stuck", detail: "it did not finish in time" };

/** One run only: legs cannot be restored, so the pool starts another thread for the next call. */
export class RemoteThread implements ThreadLoad {
  readonly ready: Promise<void>;
  readonly #supervisor: Supervisor<LegThread, ThreadLoss>;
  readonly #heartbeat: Heartbeat;
  readonly #memoryWatch: MemoryWatch;
  readonly #listener: LegThreadsListener;
  readonly #legs = new Map<number, RemoteLeg>();
  readonly #owners = new Map<number, LegOwner>();
  readonly #sending = new AudioBatcher();
  #lastId = 0;

  /** @param ended told whether it was lost with legs that it had */
  constructor(start: StartLegThread, listener: LegThreadsListener, ended: (hadLegs: boolean) => void) {
    this.#listener = listener;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.#heartbeat = new Heartbeat({
      nowMs: () => performance.now(),
      ping: (pingId) => this.#send({ type: "ping", pingId }),
      lost: () => this.#supervisor.lose(STUCK),
    });
    this.#memoryWatch = new MemoryWatch({
      use: () => this.#supervisor.running?.memoryUse() ?? Promise.reject(new Error("it has ended")),
      exceeded: () => this.#supervisor.lose(TOO_LARGE),
    });
    this.#supervisor = new Supervisor<LegThread, ThreadLoss>({
      policy: NEVER,
      start: (run) =>
        start({
          heard: (message) => {
            if (run.isOver) return;
            if (message.type === "ready") run.ready();
            else this.#hear(message);
          },
          ended: (detail, wasOutOfMemory = false) =>
            run.lost({ kind: wasOutOfMemory ? "memory" : "failed", detail }),
        }),
      startLimit: { ms: READY_LIMIT_MS, reason: NOT_READY },
      ready: () => {
        this.#heartbeat.start();
        this.#memoryWatch.start();
        ready.resolve();
      },
      discard: (thread) => thread.terminate(),
      ended: ({ reason, wasReady, isFinished }) => {
        this.#heartbeat.stop();
        this.#memoryWatch.stop();
        ready.reject(new Error(reason.detail));
        const legs = [...this.#legs.values()];
        this.#legs.clear();
        this.#owners.clear();
        if (!isFinished) this.#reportLoss(reason);
        ended(wasReady && legs.length > 0);
        for (const leg of legs) leg.lost(reason.detail);
      },
    });
    // `open` and `warm` report the failure; nothing else has to wait for it.
    ready.promise.catch(() => undefined);
    this.#supervisor.start();
  }

  get legCount(): number {
    return this.#legs.size;
  }

  get isResponsive(): boolean {
    return this.#heartbeat.missed === 0;
  }

  legCountOf(accountId: string): number {
    let count = 0;
    for (const owner of this.#owners.values()) if (owner.accountId === accountId) count += 1;
    return count;
  }

  otherAccountsThan(accountId: string): number {
    const accounts = new Set([...this.#owners.values()].map((owner) => owner.accountId));
    accounts.delete(accountId);
    return accounts.size;
  }

  hasCall(callId: string): boolean {
    return [...this.#owners.values()].some((owner) => owner.callId === callId);
  }

  async open(request: LegRequest, owner: LegOwner): Promise<RemoteLeg> {
    this.#lastId += 1;
    const legId = this.#lastId;
    const leg = new RemoteLeg(legId, {
      thread: this,
      send: (message) => this.#sendInOrder(message),
      sendAudio: (frame) => this.#sendAudio(legId, frame),
      forget: () => {
        this.#legs.delete(legId);
        this.#owners.delete(legId);
      },
    });
    this.#legs.set(legId, leg);
    this.#owners.set(legId, owner);
    // A thread that ends instead of being ready refuses its legs itself.
    await Promise.allSettled([this.ready]);
    this.#send({ type: "open", legId, request });
    await leg.opened(OPEN_LIMIT_MS);
    return leg;
  }

  finish(): Promise<void> {
    this.#heartbeat.stop();
    return this.#supervisor.finish((thread) => thread.send({ type: "finish" }), {
      ms: FINISH_LIMIT_MS,
      reason: NOT_FINISHED,
    });
  }

  #reportLoss({ kind, detail }: ThreadLoss): void {
    this.#listener.threadLost(kind);
    if (kind === "not_ready") this.#listener.log("a media thread was not ready in time");
    else this.#listener.log(`a media thread ended, and its connections with it: ${detail}`);
  }

  #send(message: ToLegThread): void {
    this.#supervisor.running?.send(message);
  }

  /** All frames of one tick go in one message: the tick is one callback, and this waits for its end. */
  #sendAudio(legId: number, frame: Int16Array): void {
    if (this.#sending.isEmpty) queueMicrotask(() => this.#flush());
    this.#sending.add(legId, frame);
  }

  /** What is taken back, and what is marked, are frames that were sent before. */
  #sendInOrder(message: ToLegThread): void {
    this.#flush();
    this.#send(message);
  }

  #flush(): void {
    if (!this.#sending.isEmpty) this.#send({ type: "audio", batch: this.#sending.take() });
  }

  #hear(message: Exclude<FromLegThread, { readonly type: "ready" }>): void {
    if (message.type === "audio") {
      eachPiece(message.batch, (legId, piece) => this.#legs.get(legId)?.hear(piece));
    } else if (message.type === "pong") this.#heartbeat.answered(message.pingId);
    else if (message.type === "fault") {
      const { count, detail } = message;
      this.#listener.log(`${String(count)} faults in a media thread, the last one: ${detail}`);
    } else if (message.type === "faulty") {
      const owner = this.#owners.get(message.legId);
      if (owner !== undefined) this.#listener.legFaulty(owner, message.faults);
    } else this.#legs.get(message.legId)?.receive(message);
  }
}
