/** A pool of threads of legs that do what a test says. */

import { expect, vi } from "vitest";
import { TransportRecord } from "../../../ports/testing/transport-conformance.ts";
import type { FromLegThread, ToLegThread } from "../leg-protocol.ts";
import type { LegThreadListener } from "../leg-thread.ts";
import { openLegThreads } from "../leg-threads.ts";
import type { PeerOptions } from "../peer.ts";

/** Reached only when something is wrong; the machine may be busy with other tests. */
export const LIMIT = { timeout: 30_000 };

export const OPTIONS: PeerOptions = { bindAddresses: ["127.0.0.1"], portRange: null, connectLimitMs: 5_000 };
export const RANGE: PeerOptions = { ...OPTIONS, portRange: [40_000, 40_001] };
export const LIMITS = { silenceLimitMs: 10_000 };
export const OWNER = { callId: "call", accountId: "account" };

/** What a scripted thread was told. */
export class ScriptedThread {
  readonly sent: ToLegThread[] = [];
  readonly listener: LegThreadListener;
  isTerminated = false;
  /** In an endless loop. */
  isStuck = false;
  heapBytes = 1_000;

  constructor(listener: LegThreadListener) {
    this.listener = listener;
  }

  say(message: FromLegThread): void {
    this.listener.heard(message);
  }

  /** Pings are answered, and not kept. */
  take(message: ToLegThread): void {
    if (message.type !== "ping") this.sent.push(message);
    else if (!this.isStuck) this.say({ type: "pong", pingId: message.pingId });
  }

  typesTold(): string[] {
    return this.sent.map(({ type }) => type);
  }
}

export function threads(options: { readonly isReady?: boolean; readonly maxThreads?: number } = {}) {
  const { isReady = true, maxThreads = 1 } = options;
  const started: ScriptedThread[] = [];
  const log: string[] = [];
  const lost: string[] = [];
  const faulty: unknown[] = [];
  const pool = openLegThreads({
    maxThreads,
    listener: {
      log: (message) => log.push(message),
      threadLost: (kind) => lost.push(kind),
      legFaulty: (owner, faults) => faulty.push({ ...owner, ...faults }),
    },
    start: (listener) => {
      const thread = new ScriptedThread(listener);
      started.push(thread);
      if (isReady) queueMicrotask(() => thread.say({ type: "ready" }));
      return {
        send: (message) => thread.take(message),
        memoryUse: () => Promise.resolve({ heapBytes: thread.heapBytes, externalBytes: 1_000 }),
        terminate: () => {
          thread.isTerminated = true;
          listener.ended("it was terminated");
        },
      };
    },
  });
  /** Of the first thread. */
  const opened = async (legId: number) => {
    const opening = pool.open("offer", OPTIONS, OWNER);
    await vi.waitFor(() => expect(started[0]?.typesTold()).toContain("open"), LIMIT);
    started[0]?.say({ type: "opened", legId, opening: { kind: "webRtc", answer: "answer" } });
    const leg = await opening;
    const record = new TransportRecord();
    return { leg, record, transport: leg.attach(LIMITS, record) };
  };
  return { pool, started, log, lost, faulty, opened };
}

/** What a promise is rejected with; taken at once, so that nobody calls it unhandled. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}
