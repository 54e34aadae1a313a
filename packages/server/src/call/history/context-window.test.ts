import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LlmMessage } from "@parley/schema";
import {
  charsOf,
  CHARS_PER_TOKEN,
  INITIAL_SHARE,
  LEFT_OUT_NOTE,
  MESSAGE_OVERHEAD_CHARS,
  messagesWithin,
} from "./context-window.ts";
import { messageUnits } from "./model-messages.ts";
import type { History, HistoryEntry } from "../state.ts";
import { joinedCall } from "../testing/scenario.ts";

type Kind = "user" | "agent" | "round";
interface Part {
  readonly kind: Kind;
  readonly chars: number;
  /** Of a round: its calls, and whether words come between them and their results. */
  readonly calls: number;
  readonly interleaved: boolean;
}

const part: fc.Arbitrary<Part> = fc.record({
  kind: fc.constantFrom<Kind>("user", "agent", "round"),
  chars: fc.integer({ min: 1, max: 400 }),
  calls: fc.integer({ min: 1, max: 3 }),
  interleaved: fc.boolean(),
});

/** Each text begins with the number of its part, so that order and presence can be read from a request. */
function historyOf(initial: readonly Part[], later: readonly Part[]): History {
  const entries: HistoryEntry[] = [];
  const add = (role: HistoryEntry["role"], text: string, startAtMs: number, invocationId: string | null) => {
    const toolName = invocationId === null ? null : "lookUp";
    const index = entries.length;
    entries.push({ index, role, text, medium: "voice", invocationId, toolName, startMediaMs: 0, startAtMs });
  };
  [...initial, ...later].forEach(({ kind, chars, calls, interleaved }, n) => {
    const startAtMs = n < initial.length ? -1 : n;
    const text = `${n}:${"x".repeat(chars)}`;
    if (kind !== "round") {
      add(kind, text, startAtMs, null);
      return;
    }
    const ids = Array.from({ length: calls }, (_, call) => `${n}:${call}`);
    for (const id of ids) add("tool_call", "{}", startAtMs, id);
    if (interleaved) add("user", `${n}:meanwhile`, startAtMs, null);
    for (const id of ids) add("tool_result", text, startAtMs, id);
  });
  const chars = entries.reduce((sum, { text }) => sum + text.length, 0);
  return { entries, nextIndex: entries.length, chars, version: 0 };
}

function isNote(message: LlmMessage): boolean {
  return message.role === "user" && message.text === LEFT_OUT_NOTE;
}

/** Ids in the order in which results are due, and in which they come: each must come right when it is due. */
function resultsOf(messages: readonly LlmMessage[]): { due: string[]; given: string[] } {
  const due: string[] = [];
  const given: string[] = [];
  let calls: string[] = [];
  for (const message of messages) {
    const called = message.role === "agent" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
    given.push(message.role === "tool" ? message.invocationId : "other");
    due.push(message.role === "tool" ? (calls.shift() ?? "no result") : "other");
    if (message.role === "tool") continue;
    due.push(...calls.map(() => "a result that is missing"));
    calls = called;
  }
  return { due: [...due, ...calls], given };
}

const parts = fc.array(part, { maxLength: 12 });
const room = fc.integer({ min: -200, max: 6_000 });

describe("messages within the window", () => {
  test("never take more than the room, unless the newest alone does; order, rounds and the newest are kept", () => {
    fc.assert(
      fc.property(parts, parts, room, (initial, later, roomChars) => {
        const history = historyOf(initial, later);
        const units = messageUnits(history);
        const whole = units.flatMap(({ messages }) => messages);
        const { messages, leftOut } = messagesWithin(history, roomChars);
        const newest = units.at(-1)?.messages ?? [];

        expect(charsOf(messages)).toBeLessThanOrEqual(Math.max(roomChars, charsOf(newest)));
        const { due, given } = resultsOf(messages);
        expect(given).toEqual(due);
        expect(messages.slice(messages.length - newest.length)).toEqual(newest);
        const kept = messages.filter((message) => !isNote(message));
        expect(kept.length + leftOut).toBe(whole.length);
        expect(charsOf(whole) <= roomChars ? messages : whole).toEqual(whole);
        // One gap, marked once at its place: a beginning and an end of the whole remain.
        const at = messages.findIndex(isNote);
        const head = at === -1 ? 0 : at;
        expect(messages.filter(isNote)).toHaveLength(at === -1 ? 0 : 1);
        expect(leftOut > 0 || at === -1).toBe(true);
        const tail = kept.length - head;
        expect(kept).toEqual([...whole.slice(0, head), ...whole.slice(whole.length - tail)]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("what is left out would not have fitted", () => {
    fc.assert(
      fc.property(parts, parts, room, (initial, later, roomChars) => {
        const history = historyOf(initial, later);
        const units = messageUnits(history);
        const { messages, leftOut } = messagesWithin(history, roomChars);
        const at = messages.findIndex(isNote);
        if (at === -1) return;
        const keptAfter = messages.length - at - 1;
        const whole = units.flatMap((unit) => unit.messages);
        const gapEnd = whole.length - keptAfter;
        let first = 0;
        const gap = units.filter((unit) => {
          const from = first;
          first += unit.messages.length;
          return from >= at && from < gapEnd;
        });
        expect(gap.flatMap((unit) => unit.messages)).toHaveLength(leftOut);
        expect(charsOf(messages) + charsOf(gap.at(-1)?.messages ?? [])).toBeGreaterThan(roomChars);
      }),
      { numRuns: 2_000 },
    );
  });

  const say = (kind: Kind, chars: number): Part => ({ kind, chars, calls: 1, interleaved: false });
  const numbers = (messages: readonly LlmMessage[]) =>
    messages.map((message) => (isNote(message) ? "gap" : message.text.split(":")[0]));

  test("keeps the initial messages that come first, in a third of the room, and then the newest", () => {
    const history = historyOf(
      [say("user", 98), say("agent", 98), say("user", 98)],
      Array.from({ length: 20 }, (_, n) => say(n % 2 === 0 ? "agent" : "user", 97)),
    );
    // Each message takes 116: two fit into 1/3 of 800, and with the note (67) four of the newest.
    expect(INITIAL_SHARE * 800).toBeGreaterThan(2 * (100 + MESSAGE_OVERHEAD_CHARS));
    expect(numbers(messagesWithin(history, 800).messages)).toEqual(["0", "1", "gap", "19", "20", "21", "22"]);
  });

  test("the newest takes the place of initial messages where both do not fit", () => {
    const history = historyOf([say("user", 98)], [say("agent", 10), say("user", 700)]);
    expect(numbers(messagesWithin(history, 800).messages)).toEqual(["gap", "2"]);
    expect(numbers(messagesWithin(history, 300).messages)).toEqual(["2"]);
  });

  test("a round is left out whole", () => {
    const later = [say("user", 20), { ...say("round", 200), calls: 2 }, say("agent", 20), say("user", 20)];
    const { messages } = messagesWithin(historyOf([], later), 300);
    expect(numbers(messages)).toEqual(["gap", "2", "3"]);
  });

  test("nothing to say fits anywhere", () => {
    expect(messagesWithin(historyOf([], []), 0)).toEqual({ messages: [], leftOut: 0 });
  });
});

describe("a long call", () => {
  const WINDOW = 1_000;
  const turns = (count: number, call = joinedCall({ turnTaking: { contextWindowTokens: WINDOW } })) => {
    call.run(320);
    for (let n = 0; n < count; n += 1) {
      call
        .says(`Question number ${n} ${"and more ".repeat(20)}`, 1_000)
        .runUntil(({ reply }) => reply?.begun === true);
      call.runUntil(({ reply }) => reply === null);
    }
    return call;
  };
  const tokens = (call: ReturnType<typeof turns>) =>
    call.llm.requests.map(
      ({ systemPrompt, messages }) => (systemPrompt.length + charsOf(messages)) / CHARS_PER_TOKEN,
    );

  test("stays within the window, says so once, and records no note", () => {
    const call = turns(16);
    expect(Math.max(...tokens(call))).toBeLessThanOrEqual(WINDOW);
    expect(call.llm.requests.at(-1)?.messages[0]).toEqual({ role: "user", text: LEFT_OUT_NOTE });
    expect(call.llm.requests.at(-1)?.messages.at(-1)?.text).toContain("Question number 15");
    expect(call.eventsOf("llm.context_shortened")).toMatchObject([
      { severity: "info", extras: { contextWindowTokens: WINDOW } },
    ]);
    expect(call.messages).toHaveLength(32);
    expect(JSON.stringify([call.messages, call.transcript])).not.toContain(LEFT_OUT_NOTE);
    expect(call.eventsOf("turn.completed").length).toBeGreaterThan(0);
  });

  test.each([
    ["Of course.— [interrupted]", "Of course.", "Of course.—"],
    ["Of course. [interrupted] Which day?", "Of course. Which day?", "Of course. Which day?"],
    ["Of course - [Interrupted]", "Of course", "Of course -"],
    [
      "A [room] or [interruptedly] two.",
      "A [room] or [interruptedly] two.",
      "A [room] or [interruptedly] two.",
    ],
  ])("the mark of an interruption is not said by a model that writes %j", (written, spoken, shown) => {
    for (const medium of ["voice", "text"] as const) {
      const call = joinedCall({ initialOutputMedium: medium });
      call.llm.script = [{ text: written, firstMs: 600 }];
      call.run(320).says("Good morning", 640).run(5_000);
      // In text a dash before it is shown before the mark has begun.
      expect(call.transcript.at(-1)).toBe(`agent: ${medium === "text" ? shown : spoken}`);
    }
  });

  test("a reply of nothing but the mark is one with nothing to say", () => {
    const call = joinedCall();
    call.llm.script = [{ text: "— [interrupted]" }];
    call.run(320).says("Good morning", 640).run(6_000);
    expect(call.transcript.at(-1)).toMatch(/^agent: .*again/);
    expect(call.eventsOf("llm.failed")).toHaveLength(1);
  });

  test("a shorter one is shown whole, without an event", () => {
    const call = turns(3);
    expect(call.llm.requests.at(-1)?.messages).toHaveLength(5);
    expect(call.eventsOf("llm.context_shortened")).toEqual([]);
  });

  test("a model that counts more tokens than the estimate is shown less", () => {
    const call = joinedCall({ turnTaking: { contextWindowTokens: WINDOW } });
    // Two characters a token, as it may be in other languages.
    call.disturb = (event) => {
      if (event.type !== "replyTextFinished" || event.inputTokens !== 100) return "none";
      const chars = call.state.reply?.requestChars ?? 0;
      call.post({ ...event, inputTokens: Math.ceil(chars / 2) });
      return "drop";
    };
    turns(16, call);
    expect(call.state.contextWindow.charsPerToken).toBeCloseTo(2, 1);
    expect(tokens(call).at(-1)).toBeLessThanOrEqual(WINDOW / 2);
    expect(tokens(call).at(-1)).toBeGreaterThan(WINDOW / 4);
  });

  test("the count of a short request, and one that cannot be, change nothing", () => {
    const call = turns(1);
    expect(call.effectsOf("recordTokenCount")).toMatchObject([{ inputTokens: 100 }]);
    expect(call.state.contextWindow.charsPerToken).toBe(CHARS_PER_TOKEN);
  });
});
