import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LlmMessage } from "@parley/schema";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { toPrompt } from "./prompt.ts";

const call = (id: string) => ({ id, name: "lookup", arguments: { q: id } });

const anyMessage: fc.Arbitrary<LlmMessage> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), text: fc.string() }),
  fc.record({
    role: fc.constant("agent" as const),
    text: fc.string(),
    toolCalls: fc.array(fc.constantFrom("a", "b", "c").map(call), { maxLength: 2 }),
  }),
  fc.record({
    role: fc.constant("tool" as const),
    invocationId: fc.constantFrom("a", "b", "c", "d"),
    toolName: fc.constant("lookup"),
    text: fc.string(),
  }),
);

describe("the prompt for an OpenAI-compatible server", () => {
  it("puts system prompt, language and instruction into one system message", () => {
    const { system } = toPrompt(
      llmRequest({ systemPrompt: " You are Ada. ", instruction: "Greet the caller.", language: "de-CH" }),
    );
    expect(system).toBe(
      "You are Ada.\n\nSpeak the language with the BCP 47 tag de-CH unless asked for another.\n\nGreet the caller.",
    );
    expect(toPrompt(llmRequest()).system).toBe("");
  });

  it("maps a history with tools", () => {
    const { messages } = toPrompt(
      llmRequest({
        messages: [
          { role: "user", text: "When do you open?" },
          {
            role: "agent",
            text: "Let me see.",
            toolCalls: [call("call00001"), call("call_of another vendor")],
          },
          { role: "tool", invocationId: "call_of another vendor", toolName: "lookup", text: "at ten" },
          { role: "tool", invocationId: "call00001", toolName: "lookup", text: "at nine" },
        ],
      }),
    );
    expect(messages).toEqual([
      { role: "user", content: "When do you open?" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me see." },
          { type: "tool-call", toolCallId: "call00001", toolName: "lookup", input: { q: "call00001" } },
          {
            type: "tool-call",
            toolCallId: expect.stringMatching(/^[a-f\d]{9}$/) as unknown,
            toolName: "lookup",
            input: { q: "call_of another vendor" },
          },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call00001",
            toolName: "lookup",
            output: { type: "text", value: "at nine" },
          },
          {
            type: "tool-result",
            toolCallId: expect.stringMatching(/^[a-f\d]{9}$/) as unknown,
            toolName: "lookup",
            output: { type: "text", value: "at ten" },
          },
        ],
      },
    ]);
  });

  it("gives the caller a silent turn where there is none to answer", () => {
    const silent = { role: "user", content: expect.stringContaining("has not said anything") as unknown };
    expect(toPrompt(llmRequest()).messages).toEqual([silent]);
    expect(toPrompt(llmRequest({ messages: [{ role: "agent", text: "Hello." }] })).messages).toEqual([
      { role: "assistant", content: "Hello." },
      silent,
    ]);
  });

  it("answers each tool call once, right after it, whatever the history", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (history) => {
        const { messages } = toPrompt(llmRequest({ messages: history }));
        expect(["user", "tool"]).toContain(messages.at(-1)?.role);
        const seen = new Set<string>();
        for (const [index, message] of messages.entries()) {
          if (message.role !== "assistant" || typeof message.content === "string") continue;
          const ids = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
          const next = messages[index + 1];
          const results = next?.role === "tool" ? next.content : [];
          expect(results.map((part) => (part.type === "tool-result" ? part.toolCallId : null))).toEqual(ids);
          for (const id of ids) {
            expect(seen.has(id)).toBe(false);
            seen.add(id);
          }
        }
      }),
    );
  });
});
