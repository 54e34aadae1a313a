import { expect, test } from "vitest";
import type { NotCreated } from "../api.ts";
import type { CallToDial, Dial } from "./dialling.ts";
import { setUp } from "./testing/call-creation.ts";

const REFUSED: NotCreated = { kind: "refused", errors: [{ field: "medium", message: "is refused" }] };

/** What is done with the dial, in order. */
function dialOf(answers: { readonly admit?: NotCreated; readonly place?: NotCreated } = {}) {
  const steps: string[] = [];
  const placed: CallToDial[] = [];
  const dial: Dial = {
    admit: async (callId) => {
      steps.push(`admit ${callId}`);
      return answers.admit ?? null;
    },
    abandon: async (callId) => void steps.push(`abandon ${callId}`),
    place: async (call) => {
      steps.push(`place ${call.callId}`);
      placed.push(call);
      return answers.place ?? null;
    },
  };
  return { dial, steps, placed };
}

test("the intent is stored before the call, and the carrier is asked when it waits for its join", async () => {
  const { dial, steps, placed } = dialOf();
  const made = setUp({
    prepareDial: async () => dial,
    insertCall: async (_account, { callId }) => {
      steps.push(`insert ${callId}`);
      return "inserted";
    },
    startCall: ({ callId }) => {
      steps.push(`start ${callId}`);
      return "started";
    },
  });
  const outcome = await made.call({ joinTimeout: "12s", maxDuration: "60s" });
  const callId = outcome.kind === "created" ? outcome.callId : "";
  expect(steps).toEqual(["admit", "insert", "start", "place"].map((step) => `${step} ${callId}`));
  expect(placed).toEqual([{ callId, joinToken: "token", joinTimeoutMs: 12_000, maxDurationMs: 60_000 }]);
  expect(made.removed).toEqual([]);
});

test("what cannot be dialled is not created", async () => {
  const made = setUp({ prepareDial: async () => REFUSED });
  expect(await made.call({})).toBe(REFUSED);
  expect(made.stored).toEqual([]);
});

test("what the limits of the day refuse is not created", async () => {
  const later: NotCreated = { kind: "later", limit: "dialled calls", waitMs: 1 };
  const { dial, steps } = dialOf({ admit: later });
  const made = setUp({ prepareDial: async () => dial });
  expect(await made.call({})).toBe(later);
  expect(made.stored).toEqual([]);
  expect(steps.filter((step) => !step.startsWith("admit"))).toEqual([]);
});

test("nobody is dialled for a call that was not stored, or did not start", async () => {
  for (const changes of [
    { insertCall: async () => ({ kind: "lost", reason: "lost" }) as const },
    { insertCall: () => Promise.reject(new Error("the database is gone")) },
    { startCall: () => "draining" as const },
  ]) {
    const { dial, steps } = dialOf();
    const made = setUp({ prepareDial: async () => dial, ...changes });
    await made.call({}).catch(() => undefined);
    expect(steps.map((step) => step.split(" ", 1)[0])).toEqual(["admit", "abandon"]);
  }
});

test("no record is left of a call that the carrier refused", async () => {
  const { dial } = dialOf({ place: REFUSED });
  const released: string[] = [];
  const made = setUp({
    prepareDial: async () => dial,
    releaseCall: async (callId) => released.push(callId) > 0,
  });
  expect(await made.call({})).toBe(REFUSED);
  expect(made.removed).toEqual(made.stored.map(({ callId }) => callId));
  expect(released).toEqual(made.removed);
});

test("a call that somebody has joined goes on, whatever the carrier has answered", async () => {
  const { dial } = dialOf({ place: REFUSED });
  const made = setUp({ prepareDial: async () => dial, releaseCall: async () => false });
  expect((await made.call({})).kind).toBe("created");
  expect(made.removed).toEqual([]);
});
