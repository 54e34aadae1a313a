import { expect, test } from "vitest";
import type { Answerer } from "../../call/life/answerer-state.ts";
import { concat, sine } from "../../media/testing/signals.ts";
import { mediumPlan } from "../../plan/medium-plan.ts";
import { CallAnswerer } from "./call-answerer.ts";

const RATE_HZ = 16_000;
const BEEP = concat([sine(1_000, RATE_HZ, 6_400, 0.2), new Int16Array(3_200)]);
const MACHINE: Answerer = { answeredBy: "machine", isMachine: true, greetingEnded: false };
const PERSON: Answerer = { answeredBy: "human", isMachine: false, greetingEnded: false };

function opened(
  kind: "telephony1" | "telephony3" = "telephony3",
  additionalParams: Readonly<Record<string, unknown>> = { machine_detection: "true" },
) {
  const posted: string[] = [];
  let nowMs = 0;
  const outgoing = { to: "+4930123456", from: "+4930654321", additionalParams };
  const medium = mediumPlan({ [kind]: { outgoing } }, false);
  const answerer = new CallAnswerer(
    { medium },
    {
      nowMs: () => nowMs,
      post: (event) => posted.push(event.type === "answererDetected" ? event.answeredBy : event.type),
    },
  );
  return { answerer, posted, pass: (ms: number) => (nowMs += ms) };
}

test("the beep after the report of a machine ends its greeting, once", () => {
  const { answerer, posted } = opened();
  answerer.report(MACHINE);
  expect(posted).toEqual(["machine"]);
  for (let times = 0; times < 3; times += 1) answerer.audio(BEEP, RATE_HZ);
  expect(posted).toEqual(["machine", "machine_end_beep"]);
});

test("a beep before the report counts with it, and in a call with a person it means nothing", () => {
  const { answerer, posted } = opened();
  answerer.audio(BEEP, RATE_HZ);
  answerer.report(PERSON);
  expect(posted).toEqual(["human"]);
  answerer.report(MACHINE);
  expect(posted).toEqual(["human", "machine", "machine_end_beep"]);
});

test.each([
  ["telephony3", { machine_detection: true }, true],
  ["telephony3", { machine_detection: "hangup" }, false],
  ["telephony3", {}, false],
  ["telephony1", { MachineDetection: "DetectMessageEnd" }, false],
] as const)("over %s with %j a beep is looked for: %s", (kind, additionalParams, isLookedFor) => {
  const { answerer, posted } = opened(kind, additionalParams);
  answerer.report(MACHINE);
  answerer.audio(BEEP, RATE_HZ);
  expect(posted).toEqual(isLookedFor ? ["machine", "machine_end_beep"] : ["machine"]);
});

test("a report is awaited for 90 s from the first audio", () => {
  const { answerer, pass } = opened("telephony1", {});
  expect(answerer.isAwaited).toBe(false);
  answerer.audio(new Int16Array(160), RATE_HZ);
  pass(89_000);
  expect(answerer.isAwaited).toBe(true);
  pass(1_000);
  expect(answerer.isAwaited).toBe(false);
  const other = new CallAnswerer(
    { medium: mediumPlan({ telephony1: {} }, false) },
    { nowMs: () => 0, post: () => undefined },
  );
  other.audio(new Int16Array(160), RATE_HZ);
  expect(other.isAwaited).toBe(false);
});
