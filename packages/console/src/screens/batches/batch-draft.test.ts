import { expect, test } from "vitest";
import { draftOf, limitsOf, NEW_SETTINGS, patchOf, settingsFaults, settingsOf } from "./batch-draft.ts";
import { stateOf, suggestedName, titleOf } from "./batch-state.ts";

const BATCH = {
  batchId: "b",
  name: null,
  created: "2026-11-21T10:00:00.000Z",
  windowStart: "2026-11-21T10:00:30.000Z",
  windowEnd: null,
  throttle: "gently",
  webhookUrl: null,
  webhookSecret: null,
  paused: false,
  totalCount: 2,
  completedCount: 0,
  failedCount: 0,
  endedAt: null,
  retryPolicy: { maxAttempts: 3, wait: "60s", on: ["busy" as const] },
  callingHours: null,
  maxAttemptsPerNumberPerDay: null,
  respectDoNotCall: true,
  pauseOnFailureRate: 0.5,
  pauseReason: null,
};

test("what a batch was given is said in words", () => {
  expect(limitsOf(BATCH).filter(([, value]) => value !== null)).toEqual([
    ["Retries", "up to 3 attempts, 60s apart, after: busy"],
  ]);
  const callingHours = {
    timeZone: "callee",
    days: ["mon" as const, "fri" as const],
    start: "09:00",
    end: "18:00",
  };
  expect(limitsOf({ ...BATCH, callingHours, respectDoNotCall: false })).toContainEqual([
    "Calling hours",
    "Mon, Fri, 09:00 to 18:00, in the time zone of the number",
  ]);
});

test("a new batch is sent what is set", () => {
  expect(settingsOf(NEW_SETTINGS)).toEqual({
    paused: false,
    respectDoNotCall: true,
    pauseOnFailureRate: 0.5,
  });
  const windowStart = "2030-01-02T03:04";
  expect(settingsOf({ ...NEW_SETTINGS, windowStart }).windowStart).toBe(new Date(windowStart).toISOString());
});

test("a batch is called by its name, or by the time of its creation", () => {
  expect(titleOf({ ...BATCH, name: "Reminders" })).toBe("Reminders");
  expect(titleOf(BATCH)).toMatch(/^Batch of .*2026/);
  const nowMs = Date.parse("2026-11-21T12:00:00Z");
  expect(suggestedName("Reminder", nowMs)).toMatch(/^Reminder, .*2026/);
  expect(suggestedName(undefined, nowMs)).toMatch(/2026/);
  expect(settingsOf({ ...NEW_SETTINGS, name: " Ours " }).name).toBe("Ours");
  expect(patchOf({ ...draftOf(BATCH), name: "Ours" }, draftOf(BATCH))).toEqual({ name: "Ours" });
  const named = draftOf({ ...BATCH, name: "Ours" });
  expect(patchOf({ ...named, name: "" }, named)).toEqual({ name: null });
});

test("a change has what was changed, and null for what is cleared", () => {
  const before = draftOf(BATCH);
  expect(patchOf(before, before)).toEqual({});
  expect(
    patchOf({ ...before, throttle: "", retries: false, maxPerDay: "2", webhookSecret: "s" }, before),
  ).toEqual({
    throttle: null,
    retryPolicy: null,
    maxAttemptsPerNumberPerDay: 2,
    webhookSecret: "s",
  });
});

test("what cannot be right is said before it is sent", () => {
  const draft = { ...NEW_SETTINGS, windowStart: "2030-01-02T03:04", windowEnd: "2030-01-02T03:04" };
  expect(settingsFaults(draft).map(({ field }) => field)).toEqual(["windowEnd"]);
  expect(settingsFaults({ ...NEW_SETTINGS, hours: true, days: [], retries: true, on: [] }).length).toBe(2);
});

test.each([
  [{}, "running"],
  [{ windowStart: "2026-11-22T00:00:00.000Z" }, "future"],
  [{ paused: true }, "paused"],
  [{ paused: true, windowEnd: "2026-11-21T10:10:00.000Z" }, "over"],
  [{ paused: true, endedAt: "2026-11-21T10:10:00.000Z" }, "ended"],
] as const)("%j is %s", (changes, state) => {
  expect(stateOf({ ...BATCH, ...changes }, Date.parse("2026-11-21T12:00:00Z"))).toBe(state);
});
