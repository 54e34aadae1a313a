import { describe, expect, test } from "vitest";
import { parsePlan, PLAN_VERSION, storedPlan, UnreadablePlan } from "./stored-plan.ts";
import { planOf } from "./testing/compile-input.ts";

describe("parsePlan", () => {
  const stored = (): Record<string, unknown> =>
    JSON.parse(
      JSON.stringify(storedPlan(planOf({ initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "Hi" }] }))),
    ) as Record<string, unknown>;

  test.each<[string, unknown, RegExp]>([
    ["nothing", null, /a plan of version undefined, not 2/],
    ["a list", [], /version undefined/],
    ["another version", { ...stored(), planVersion: PLAN_VERSION + 1 }, /version 3, not 2/],
    ["no version", { ...stored(), planVersion: undefined }, /version undefined/],
    ["a missing part", { ...stored(), medium: undefined }, /^plan\.medium is not an object$/],
    ["a negative length", { ...stored(), joinTimeoutMs: -1 }, /^plan\.joinTimeoutMs is not 0 or more$/],
    [
      "a length that is no number",
      { ...stored(), maxDurationMs: null },
      /^plan\.maxDurationMs is not a number$/,
    ],
    [
      "an unknown medium",
      { ...stored(), medium: { kind: "pigeon" } },
      /^plan\.medium\.kind is not one of serverWebSocket$/,
    ],
    [
      "an unknown first speaker",
      { ...stored(), firstSpeaker: { kind: "nobody" } },
      /^plan\.firstSpeaker\.kind/,
    ],
    [
      "a bad message",
      { ...stored(), initialMessages: [{ role: "user" }] },
      /^plan\.initialMessages\.0\.text is not a text$/,
    ],
    ["a list that is none", { ...stored(), initialMessages: {} }, /^plan\.initialMessages is not a list$/],
    ["metadata that is no text", { ...stored(), metadata: { a: 1 } }, /^plan\.metadata\.a is not a text$/],
    [
      "a flag that is none",
      { ...stored(), greetingPrompt: "yes" },
      /^plan\.greetingPrompt is not true or false$/,
    ],
  ])("refuses %s", (_what, json, words) => {
    expect(() => parsePlan(json)).toThrow(UnreadablePlan);
    expect(() => parsePlan(json)).toThrow(words);
  });

  test("drops what it does not know", () => {
    expect(parsePlan({ ...stored(), later: 1 })).not.toHaveProperty("later");
  });
});
