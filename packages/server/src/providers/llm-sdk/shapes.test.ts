import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelMessage } from "ai";
import type { LlmMessage } from "@parley/schema";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { ANTHROPIC_MARK } from "./cache-marks.ts";
import { PLAIN_SHAPE, toPrompt, type PromptShape } from "./prompt.ts";

const MARKED: PromptShape = { ...PLAIN_SHAPE, alternates: true, cacheMark: ANTHROPIC_MARK };

const anyMessage: fc.Arbitrary<LlmMessage> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    role: fc.constant("agent" as const),
    text: fc.string(),
    toolCalls: fc.array(
      fc.constantFrom("a", "b", "c").map((id) => ({ id, name: "lookup", arguments: {} })),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    role: fc.constant("tool" as const),
    invocationId: fc.constantFrom("a", "b", "c", "d"),
    toolName: fc.constant("lookup"),
    text: fc.string(),
  }),
);
const anyHistory = fc.array(anyMessage, { maxLength: 12 });

const rolesOf = (messages: readonly ModelMessage[]): string[] => messages.map(({ role }) => role);
const isMarked = ({ providerOptions }: ModelMessage): boolean => providerOptions === ANTHROPIC_MARK;
const user = (text: string): LlmMessage => ({ role: "user", text });
const agent = (text: string): LlmMessage => ({ role: "agent", text });

describe("the shapes of histories", () => {
  it("begins with the user and has no two messages of the model in a row, where a vendor wants that", () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const roles = rolesOf(toPrompt(llmRequest({ messages }), MARKED).messages);
        expect(roles[0]).toBe("user");
        expect(roles.at(-1)).not.toBe("assistant");
        expect(roles.join(" ")).not.toContain("assistant assistant");
      }),
    );
  });

  it("never has the user after a result, where a vendor refuses that", () => {
    const shape = { ...PLAIN_SHAPE, answersResults: true };
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const roles = rolesOf(toPrompt(llmRequest({ messages }), shape).messages);
        expect(roles.join(" ")).not.toContain("tool user");
      }),
    );
  });

  it("joins the texts and calls of the model in order", () => {
    const call = { id: "a", name: "lookup", arguments: {} };
    const { messages } = toPrompt(
      llmRequest({
        messages: [user("When?"), agent("One moment."), { role: "agent", text: "", toolCalls: [call] }],
      }),
      MARKED,
    );
    expect(messages[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "text", text: "One moment." },
        { type: "tool-call", toolCallId: expect.stringMatching(/^[\da-f]{9}$/) as unknown },
      ],
    });
  });
});

describe("marks of caches", () => {
  const request = llmRequest({
    systemPrompt: "You are Ada.",
    instruction: "Be short.",
    messages: [agent("Hi."), user("When?"), agent("At nine."), user("And tomorrow?")],
  });

  it("are at the end of what lasts, of the newest turn and of the turn before it", () => {
    const { system, messages } = toPrompt(request, MARKED);
    expect(system).toEqual([
      { role: "system", content: "You are Ada.", providerOptions: ANTHROPIC_MARK },
      { role: "system", content: "Be short." },
    ]);
    expect(messages.map(isMarked)).toEqual([false, false, false, true, true]);
  });

  it("change no text, are at most four, and leave a prefix that the next request has as well", () => {
    const bare = (messages: readonly ModelMessage[]) =>
      messages.map(({ role, content }) => JSON.stringify([role, content]));
    fc.assert(
      fc.property(anyHistory, fc.string({ minLength: 1 }), (history, text) => {
        // Results in the history have their calls: a result that comes later would change an earlier message.
        const messages = [...history.filter(({ role }) => role !== "tool"), user("Now.")];
        const first = toPrompt(llmRequest({ systemPrompt: "x", messages }), MARKED);
        const more = [...messages, agent("Yes."), user(text)];
        const second = toPrompt(llmRequest({ systemPrompt: "x", messages: more }), MARKED);
        expect(second.system).toEqual(first.system);
        expect(bare(second.messages).slice(0, first.messages.length)).toEqual(bare(first.messages));
        expect(second.messages.filter(isMarked).length).toBeLessThanOrEqual(3);
      }),
    );
  });
});
