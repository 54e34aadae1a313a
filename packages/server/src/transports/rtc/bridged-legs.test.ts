/** Two legs of one thread that are bridged, as the main thread has them. */

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LegOwner, RtpLeg } from "./leg.ts";
import { threads } from "./testing/scripted-threads.ts";
import { LEGS_PER_THREAD } from "./thread-choice.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const SOCKETS = { bindAddress: "127.0.0.1", portRange: null } as const;

/** Threads that open every leg at once. */
function openPool() {
  const { pool, started } = threads({ maxThreads: 2 });
  const answered = new Set<object>();
  const open = async (owner: LegOwner): Promise<RtpLeg> => {
    const opening = pool.openRtp(SOCKETS, owner);
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.resolve();
      for (const thread of started)
        for (const message of thread.sent) {
          if (message.type !== "open" || answered.has(message)) continue;
          answered.add(message);
          const opened = { kind: "rtp", port: 4_000, rtcpPort: 4_001 } as const;
          thread.say({ type: "opened", legId: message.legId, opening: opened });
        }
    }
    return opening;
  };
  return { open, started };
}

it("a leg beside a call is in the thread of that call, also where it is full, and the two can be bridged", async () => {
  const { open, started } = openPool();
  const first = await open({ callId: "call", accountId: "a" });
  for (let count = 1; count < LEGS_PER_THREAD; count += 1)
    await open({ callId: String(count), accountId: "a" });
  const elsewhere = await open({ callId: "other", accountId: "a" });
  expect(started).toHaveLength(2);
  const beside = await open({ callId: "second", accountId: "a", besideCallId: "call" });
  expect(first.bridge(elsewhere)).toBe(false);
  expect(first.bridge(beside)).toBe(true);
  expect(started[0]?.sent.at(-1)).toEqual({ type: "bridge", legId: 1, otherLegId: LEGS_PER_THREAD + 1 });
  expect(started[1]?.typesTold()).toEqual(["open"]);
});

it("a leg that is gone is not bridged, and plays no music", async () => {
  const { open, started } = openPool();
  const [one, other] = [
    await open({ callId: "one", accountId: "a" }),
    await open({ callId: "other", accountId: "a" }),
  ];
  one.playMusic(Int16Array.from([1]));
  expect(started[0]?.sent.at(-1)).toEqual({ type: "music", legId: 1, samples: Int16Array.from([1]) });
  void other.close();
  expect([one.bridge(other), other.bridge(one)]).toEqual([false, false]);
  other.playMusic(null);
  expect(started[0]?.typesTold()).toEqual(["open", "open", "music", "drop"]);
});

it("a leg beside a call that has none is opened anywhere", async () => {
  const { open, started } = openPool();
  const leg = await open({ callId: "one", accountId: "a", besideCallId: "gone" });
  expect([leg.port, started.length]).toEqual([4_000, 1]);
});
