import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { SipCallMessage } from "../../ports/sip-calls.ts";
import type { NewSipMessage } from "../../store/telephony/sip-messages.ts";
import {
  CallMessageStore,
  LOG_FULL,
  MAX_CALL_CHARS,
  MAX_CALL_MESSAGES,
  MAX_TRIES,
  MAX_WAITING,
  WRITE_INTERVAL_MS,
} from "./call-message-store.ts";

const OWNER = { callId: "call", accountId: "account" };
const MESSAGE: SipCallMessage = {
  direction: "sent",
  atMs: 1,
  transport: "udp",
  source: "198.51.100.1:5060",
  destination: "203.0.113.5:5060",
  text: "BYE sip:a SIP/2.0\r\n\r\n",
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function open(save: (messages: readonly NewSipMessage[]) => Promise<void> = () => Promise.resolve()) {
  const batches: (readonly NewSipMessage[])[] = [];
  const errors: object[] = [];
  const store = new CallMessageStore({
    save: async (messages) => {
      batches.push(messages);
      await save(messages);
    },
    logger: { error: (fields: object) => void errors.push(fields) } as never,
  });
  return { store, batches, errors, saved: () => batches.flat() };
}

const wait = () => vi.advanceTimersByTimeAsync(WRITE_INTERVAL_MS);

it("writes messages in batches, in the order of each call", async () => {
  const { store, batches, saved } = open();
  store.add(OWNER, MESSAGE);
  store.add({ ...OWNER, callId: "other" }, { ...MESSAGE, direction: "received" });
  store.add(OWNER, MESSAGE);
  expect(batches).toEqual([]);
  await wait();
  expect(batches).toHaveLength(1);
  expect(saved().map(({ callId, position, isSent }) => [callId, position, isSent])).toEqual([
    ["call", 1, true],
    ["other", 1, false],
    ["call", 2, true],
  ]);
  await vi.advanceTimersByTimeAsync(10 * WRITE_INTERVAL_MS);
  expect(batches).toHaveLength(1);
});

it("writes again what the database did not take, and what waits at the end", async () => {
  let isDown = true;
  const { store, batches, errors } = open(() =>
    isDown ? Promise.reject(new Error("down")) : Promise.resolve(),
  );
  store.add(OWNER, MESSAGE);
  await wait();
  expect(errors).toEqual([{ messages: 1, error: "down" }]);
  isDown = false;
  await wait();
  expect(batches).toHaveLength(2);
  store.add(OWNER, MESSAGE);
  await store.close();
  expect(batches.at(-1)).toMatchObject([{ position: 2 }]);
  store.add(OWNER, MESSAGE);
  await wait();
  expect(batches).toHaveLength(3);
});

it("leaves out a batch that the database refuses again and again, and goes on with the next", async () => {
  const { store, batches, errors } = open((messages) =>
    messages.some(({ callId }) => callId === "bad")
      ? Promise.reject(new Error("refused"))
      : Promise.resolve(),
  );
  store.add({ ...OWNER, callId: "bad" }, MESSAGE);
  await vi.advanceTimersByTimeAsync(MAX_TRIES * WRITE_INTERVAL_MS);
  expect([batches.length, errors.length]).toEqual([MAX_TRIES, 2]);
  store.add(OWNER, MESSAGE);
  await wait();
  expect(batches.at(-1)).toMatchObject([{ callId: "call", position: 1 }]);
});

it("keeps a limited number of messages of a call, and first lines beyond a number of characters", async () => {
  const { store, saved } = open();
  const text = `INFO sip:a SIP/2.0\r\n${"x".repeat(8_000)}`;
  for (let n = 0; n < MAX_CALL_MESSAGES + 10; n += 1) store.add(OWNER, { ...MESSAGE, text });
  await wait();
  expect(saved()).toHaveLength(MAX_CALL_MESSAGES);
  expect(saved().at(-1)?.text).toBe(`INFO sip:a SIP/2.0\r\n\r\n${LOG_FULL}`);
  const chars = saved().reduce((sum, message) => sum + message.text.length, 0);
  expect(chars).toBeLessThan(MAX_CALL_CHARS + MAX_CALL_MESSAGES * 300);
});

it("leaves out what the database is too slow for, and says how many", async () => {
  const { store, errors, saved } = open(() => Promise.reject(new Error("down")));
  for (let n = 0; n < MAX_WAITING + 5; n += 1) store.add({ ...OWNER, callId: String(n) }, MESSAGE);
  await wait();
  expect(errors[0]).toEqual({ messages: 5 });
  expect(saved().length).toBeLessThan(MAX_WAITING);
});
