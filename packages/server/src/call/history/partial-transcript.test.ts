import { describe, expect, test } from "vitest";
import { Scenario } from "../testing/scenario.ts";
import { PARTIAL_EVERY_MS } from "./partial-transcript.ts";

function callWithPartials(): Scenario {
  const call = new Scenario();
  call.joinsWith = { partials: true };
  call.stt.partialsMs = 32;
  return call.join();
}

interface Shown {
  readonly atMs: number;
  readonly text: string;
  readonly final: boolean;
  readonly ordinal: number;
}

function userMessages(call: Scenario): Shown[] {
  return call.effects.flatMap(({ atMs, value }) => {
    if (value.type !== "sendDataMessage" || value.message.type !== "transcript") return [];
    const { role, text = "", final, ordinal } = value.message;
    return role === "user" ? [{ atMs, text, final, ordinal }] : [];
  });
}

describe("R110 early words of the user", () => {
  test("are shown while the user speaks, and replaced by the final message", () => {
    const call = callWithPartials().run(500).says("I want a table for four", 2_000).run(6_000);
    const shown = userMessages(call);
    const early = shown.filter(({ final }) => !final);
    expect(early.length).toBeGreaterThan(3);
    expect(early[0]?.text).toBe("I");
    expect(new Set(shown.map(({ ordinal }) => ordinal))).toEqual(new Set([0]));
    expect(shown.at(-1)).toMatchObject({ text: "I want a table for four", final: true });
    for (const { text } of early) expect("I want a table for four".startsWith(text)).toBe(true);
  });

  test("come at most ten times a second, and only where they change", () => {
    const call = callWithPartials().run(500).says("one two three four five six seven eight", 900).run(6_000);
    const early = userMessages(call).filter(({ final }) => !final);
    for (const [index, { atMs, text }] of early.entries()) {
      if (index === 0) continue;
      expect(atMs - (early[index - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(PARTIAL_EVERY_MS);
      expect(text).not.toBe(early[index - 1]?.text);
    }
  });

  test("go to nobody who has not asked", () => {
    const call = new Scenario();
    call.stt.partialsMs = 32;
    call.join().run(500).says("I want a table", 1_200).run(6_000);
    expect(userMessages(call)).toMatchObject([{ text: "I want a table", final: true }]);
  });

  test("are taken back when they were no turn, and the agent's words take their place", () => {
    const call = callWithPartials().run(500).says("please tell me a story", 1_000);
    call.runUntil(({ reply }) => reply?.begun === true).run(1_500);
    const before = userMessages(call).length;
    call.says("mhm", 300).run(8_000);
    const later = userMessages(call).slice(before);
    expect(later.map(({ text }) => text)).toEqual(["mhm", ""]);
    expect(later.every(({ final }) => !final)).toBe(true);
  });
});
