import { describe, expect, test } from "vitest";
import { recognitionPlan } from "./recognition-plan.ts";

const NONE = { recogniser: null, hints: [], warnings: [] };
const KNOWN = ["openai", "deepgram"];

describe("the recogniser of a call", () => {
  test("is the default unless a known one is named", () => {
    expect(recognitionPlan(null, KNOWN)).toEqual(NONE);
    expect(recognitionPlan({}, KNOWN)).toEqual(NONE);
    expect(recognitionPlan({ transcriptionProvider: null }, KNOWN)).toEqual(NONE);
    expect(recognitionPlan({ transcriptionProvider: "deepgram" }, KNOWN)).toEqual({
      ...NONE,
      recogniser: "deepgram",
    });
  });

  test.each(["other", 7, { name: "deepgram" }])("%j is a warning", (transcriptionProvider) => {
    const { recogniser, warnings } = recognitionPlan({ transcriptionProvider }, KNOWN);
    expect(recogniser).toBeNull();
    expect(warnings).toEqual([expect.stringContaining("only openai, deepgram")]);
  });
});

describe("the hints of a call", () => {
  test("are texts of one line, each once", () => {
    const { hints, warnings } = recognitionPlan({ transcriptHints: [" Fawlty\n Towers ", "Torquay"] }, KNOWN);
    expect(hints).toEqual(["Fawlty Towers", "Torquay"]);
    expect(warnings).toEqual([]);
  });

  test.each([
    [["a", "a"], ["a"], "1 of 2"],
    [["", 7, null, "b"], ["b"], "3 of 4"],
    [["x".repeat(101), "b"], ["b"], "1 of 2"],
  ])("%j: what cannot be used is a warning", (transcriptHints, hints, words) => {
    const plan = recognitionPlan({ transcriptHints }, KNOWN);
    expect(plan.hints).toEqual(hints);
    expect(plan.warnings).toEqual([expect.stringContaining(words)]);
  });

  test("are at most a hundred, and nothing but a list", () => {
    const many = Array.from({ length: 150 }, (_, index) => `word ${String(index)}`);
    expect(recognitionPlan({ transcriptHints: many }, KNOWN).hints).toHaveLength(100);
    expect(recognitionPlan({ transcriptHints: "a,b" }, KNOWN)).toMatchObject({
      hints: [],
      warnings: [expect.stringContaining("list")],
    });
  });
});
