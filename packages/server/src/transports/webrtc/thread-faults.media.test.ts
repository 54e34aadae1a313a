/** Threads of legs that are stuck, too large, or full of errors: whom it reaches. */

import { expect, it, onTestFinished } from "vitest";
import { eventually, TransportRecord } from "../../ports/testing/transport-conformance.ts";
import type { StartLegThread } from "../rtc/leg-thread.ts";
import { openLegThreads } from "../rtc/leg-threads.ts";
import { LOST_THREAD_GRACE_MS } from "../rtc/remote-leg.ts";
import { startMediaThread } from "../../app/media-threads/start-media-thread.ts";
import { harm, startHostileLegThread, THROWING_TIMESTAMP } from "./testing/hostile-leg-thread.ts";
import { connectCaller } from "./testing/webrtc-caller.ts";

/** The memory of a thread takes about a second of a core to fill. */
const LOSS_LIMIT_MS = 60_000;

function openThreads(start: StartLegThread) {
  const lost: string[] = [];
  const faulty: unknown[] = [];
  const log: string[] = [];
  const threads = openLegThreads({
    start,
    maxThreads: 1,
    listener: {
      log: (message) => log.push(message),
      threadLost: (kind) => lost.push(kind),
      legFaulty: (owner, faults) => faulty.push({ ...owner, ...faults }),
    },
  });
  onTestFinished(() => threads.close());
  const call = async () => {
    const record = new TransportRecord();
    const caller = await connectCaller(threads.open, record);
    onTestFinished(caller.dispose);
    const talks = async (text: string): Promise<void> => {
      caller.peer.sendText(text);
      await eventually(() => record.texts.some((one) => one.text === text), `the text ${text}`);
      expect(record.closings).toEqual([]);
    };
    return { record, talks, ...caller };
  };
  return { lost, faulty, log, call };
}

/** Threads whose pings are answered in any case: a busy machine fills the memory in more time than a stuck one has. */
const startAnsweringThread: StartLegThread = (listener) => {
  const thread = startHostileLegThread(listener);
  return {
    ...thread,
    send: (message) => {
      if (message.type === "ping") listener.heard({ type: "pong", pingId: message.pingId });
      else thread.send(message);
    },
  };
};

it.each([
  ["hang", "stuck", startHostileLegThread],
  ["grow", "memory", startAnsweringThread],
] as const)(
  "a thread in an endless loop (%s) is ended and replaced, and no other notices",
  async (what, kind, start) => {
    const [broken, whole] = [openThreads(start), openThreads(startMediaThread)];
    const [victim, other] = [await broken.call(), await whole.call()];
    await victim.talks("before");
    harm(what);
    await expect.poll(() => broken.lost, { timeout: LOSS_LIMIT_MS }).toEqual([kind]);
    expect(victim.record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(victim.transport.graceMs).toBe(LOST_THREAD_GRACE_MS);
    await other.talks("afterwards");
    expect([whole.lost, whole.log]).toEqual([[], []]);
    await (await broken.call()).talks("in the next thread");
    expect(broken.lost).toEqual([kind]);
  },
);

it("what a connection's callbacks throw ends that connection at the fifth, and no other of the thread", async () => {
  const { call, lost, faulty, log } = openThreads(startHostileLegThread);
  const [throwing, other] = [await call(), await call()];
  for (let sent = 1; sent < 5; sent += 1) {
    throwing.transport.sendData({ type: "pong", timestamp: THROWING_TIMESTAMP });
  }
  await throwing.talks("after four");
  expect(faulty).toEqual([]);
  throwing.transport.sendData({ type: "pong", timestamp: THROWING_TIMESTAMP });
  await eventually(() => throwing.record.closings.length > 0, "the end of the connection");
  expect(throwing.record.closings).toEqual([{ regular: true, code: 1000 }]);
  await expect.poll(() => faulty.length).toBe(1);
  expect(faulty).toEqual([
    {
      callId: "call",
      accountId: "account",
      count: 5,
      detail: expect.stringMatching(/^Error at hostile-leg-worker\.ts:\d+$/),
    },
  ]);
  await other.talks("afterwards");
  expect([lost, log]).toEqual([[], []]);
});
