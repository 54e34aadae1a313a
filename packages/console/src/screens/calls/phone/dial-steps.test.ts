import type { CallDial } from "@parley/schema";
import { expect, test } from "vitest";
import { dialSummary } from "./dial-steps.ts";

const AT = "2026-01-01T12:00:00.000Z";
const LIVE = { joined: null, ended: null };
const DIAL: CallDial = {
  callId: "c",
  state: "requested",
  carrierCallId: "CA1",
  dialled: AT,
  ringing: null,
  answered: null,
  ended: null,
  result: null,
  detail: null,
  talked: null,
};

test("a running call says what happens now", () => {
  const textOf = (call: Parameters<typeof dialSummary>[0], dial: CallDial) =>
    dialSummary(call, dial, "Twilio").text;
  expect(textOf(LIVE, DIAL)).toBe("Twilio is dialling.");
  expect(textOf(LIVE, { ...DIAL, state: "ringing", ringing: AT })).toBe("The phone is ringing.");
  const answered = { ...DIAL, state: "answered", answered: AT } as const;
  expect(textOf(LIVE, answered)).toBe("Answered. The carrier connects the agent.");
  expect(textOf({ ...LIVE, joined: AT }, answered)).toBe("The agent is talking.");
  expect(dialSummary(LIVE, DIAL, "Twilio").isRunning).toBe(true);
});

test("a failed call has the words of the carrier", () => {
  const busy = { ...DIAL, state: "ended", result: "busy", detail: "486 Busy Here", ended: AT } as const;
  expect(dialSummary(LIVE, busy, "Twilio")).toMatchObject({
    text: "The line was busy: 486 Busy Here.",
    tone: "warn",
    isRunning: false,
  });
  const failed = { ...DIAL, state: "ended", result: "failed" } as const;
  expect(dialSummary(LIVE, failed, "Twilio")).toMatchObject({
    text: "The carrier could not connect the call.",
    tone: "bad",
  });
});

test("a completed call has its length and all its steps", () => {
  const dial = {
    ...DIAL,
    state: "ended",
    ringing: AT,
    answered: AT,
    ended: AT,
    result: "completed",
    talked: "61s",
  } as const;
  const summary = dialSummary({ joined: AT, ended: AT }, dial, "Plivo");
  expect(summary.text).toBe("The call has ended after 61 s.");
  expect(summary.steps.map(({ label }) => label)).toEqual([
    "Plivo was asked to call",
    "The phone rang",
    "Answered",
    "The agent was connected",
    "The call has ended",
  ]);
});

test("a call that has ended here does not wait for the carrier", () => {
  const textOf = (call: Parameters<typeof dialSummary>[0], dial: CallDial) => {
    const { text, isRunning } = dialSummary(call, dial, "Plivo");
    return [text, isRunning];
  };
  expect(textOf({ joined: null, ended: AT }, DIAL)).toEqual([
    "The call ended before anybody answered.",
    false,
  ]);
  const answered = { ...DIAL, state: "answered", answered: AT } as const;
  expect(textOf({ joined: null, ended: AT }, answered)).toEqual([
    "The call ended before the agent was connected.",
    false,
  ]);
  expect(textOf({ joined: AT, ended: AT }, answered)).toEqual(["The call has ended.", false]);
});
