import { describe, expect, it } from "vitest";
import type { LlmRequest } from "../../ports/llm.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { askForSummaries, NoSummary, readSummaries } from "./ask.ts";

const wanted = { summary: "A guest booked a table.", shortSummary: "A booking." };
const never = new AbortController().signal;

describe("an answer with summaries", () => {
  it.each([
    ["as asked", JSON.stringify(wanted)],
    ["in a fence", `Sure!\n\`\`\`json\n${JSON.stringify(wanted, null, 2)}\n\`\`\`\n`],
    ["after a thought", `<think>{"summary": 1} or {x}?</think> ${JSON.stringify(wanted)} Done.`],
    ["in lines", JSON.stringify({ summary: " A guest\nbooked  a table. ", shortSummary: "A booking.\n" })],
  ])("is understood %s", (_, answer) => {
    expect(readSummaries(answer)).toEqual(wanted);
  });

  it.each([
    ["", "nothing"],
    ["A guest booked a table.", "no object"],
    ['{"summary": "A guest booked a table."}', "one of the two"],
    ['{"summary": "", "shortSummary": "A booking."}', "an empty one"],
    ['{"summary": ["x"], "shortSummary": "A booking."}', "no text"],
    ["{".repeat(5_000), "only braces"],
  ])("is not understood: %s (%s)", (answer) => {
    expect(readSummaries(answer.slice(0, 6_000))).toBeNull();
  });

  it("is cut where it is too long", () => {
    const long = readSummaries(
      JSON.stringify({ summary: "x".repeat(9_000), shortSummary: "y ".repeat(900) }),
    );
    expect(long?.summary).toHaveLength(2_000);
    expect(long?.shortSummary?.length).toBeLessThanOrEqual(300);
    expect(long?.shortSummary).toMatch(/y…$/);
  });
});

describe("asking for summaries", () => {
  it("gives the transcript as data, in the language of the call", async () => {
    const requested: LlmRequest[] = [];
    const llm = openFakeLlm({
      reply: (request) => {
        requested.push(request);
        return JSON.stringify(wanted);
      },
    });
    expect(await askForSummaries(llm, '{"caller":"Hallo."}\n', "de", never)).toEqual(wanted);
    expect(requested).toHaveLength(1);
    expect(requested[0]).toMatchObject({ model: "default", temperature: 0, language: "de", tools: [] });
    expect(requested[0]?.messages).toEqual([
      { role: "user", text: '<transcript>\n{"caller":"Hallo."}\n</transcript>' },
    ]);
    expect(requested[0]?.systemPrompt).not.toContain("Hallo");
    expect(requested[0]?.systemPrompt).not.toContain("in the language in which the caller spoke");
    await askForSummaries(llm, "", null, never);
    expect(requested[1]).toMatchObject({ language: null });
    expect(requested[1]?.systemPrompt).toContain("in the language in which the caller spoke");
  });

  it("asks once more where the answer was something else, and then gives up", async () => {
    const answers = ["I cannot do that.", JSON.stringify(wanted)];
    const llm = openFakeLlm({ reply: () => answers.shift() ?? "No." });
    expect(await askForSummaries(llm, "", null, never)).toEqual(wanted);
    answers.push("No.", "No.", JSON.stringify(wanted));
    await expect(askForSummaries(llm, "", null, never)).rejects.toThrow(NoSummary);
    expect(answers).toHaveLength(1);
  });

  it("does not read an answer without end", async () => {
    let read = 0;
    const llm = openFakeLlm({
      reply: () => {
        read += 1;
        return "and so on ".repeat(10_000);
      },
    });
    await expect(askForSummaries(llm, "", null, never)).rejects.toThrow(NoSummary);
    expect(read).toBe(2);
  });

  it("fails as the model does", async () => {
    const llm = openFakeLlm({ failure: () => new Error("overloaded") });
    await expect(askForSummaries(llm, "", null, never)).rejects.toThrow("overloaded");
  });
});
