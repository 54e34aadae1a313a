import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { LlmMessage } from "@parley/schema";
import type { LlmRequest } from "../../ports/llm.ts";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { MAX_REPLY_CHARS, reply } from "./reply.ts";
import { loadConcierge, parseRules, type Rules } from "./rules.ts";

let rules: Rules;
beforeAll(async () => {
  rules = await loadConcierge();
});

/** What the agent says to the last of `said`, with its own answers in between. */
function talk(said: readonly string[], fields: Partial<LlmRequest> = {}): string {
  const messages: LlmMessage[] = [];
  let text = "";
  for (const words of said) {
    messages.push({ role: "user", text: words });
    text = reply(llmRequest({ ...fields, messages }), rules);
    messages.push({ role: "agent", text });
  }
  return text;
}

const NOTE = "[The user said something that could not be understood. Ask them briefly to say it again.]";

it("does not take notes about the conversation for words of the caller", () => {
  const [first, last] = ["book a table", "for four people"];
  const said = (text: string): LlmMessage => ({ role: "user", text });
  const left = said("[Earlier parts of this conversation were left out.]");
  const whole = reply(llmRequest({ messages: [said(first), said(last)] }), rules);
  expect(reply(llmRequest({ messages: [left, said(first), said(last)] }), rules)).toBe(whole);
  expect(reply(llmRequest({ messages: [said(first), left, said(last)] }), rules)).toBe(whole);
  const fresh = reply(llmRequest({ messages: [said("hello")], language: "fr" }), rules);
  expect(reply(llmRequest({ messages: [left, said("hello")], language: "fr" }), rules)).toBe(fresh);
});

it("continues where its words were cut, with the engine's mark behind them", () => {
  const question: LlmMessage = { role: "user", text: "what can you do" };
  const whole = reply(llmRequest({ messages: [question] }), rules);
  const heard = whole.slice(0, whole.indexOf(" ", 20));
  const instruction = "A technical fault cut your last message short. Go on from where it stopped.";
  for (const text of [heard, `${heard}— [interrupted]`]) {
    const messages: LlmMessage[] = [question, { role: "agent", text }];
    expect(reply(llmRequest({ messages, instruction }), rules)).toBe(whole.slice(heard.length).trim());
  }
});

it("answers what was asked before a greeting, and not a second time", () => {
  const instruction =
    "Answer what the user said before your last message if that is still open; otherwise carry on.";
  const question: LlmMessage = { role: "user", text: "go forward ten meters" };
  const greeting: LlmMessage = { role: "agent", text: "Good evening. Try saying: ten of clubs." };
  const whole = reply(llmRequest({ messages: [question] }), rules);
  expect(reply(llmRequest({ messages: [question, greeting], instruction }), rules)).toBe(whole);
  for (const text of [whole, `${whole.slice(0, 20)}— [interrupted]`]) {
    const messages: LlmMessage[] = [question, { role: "agent", text }, greeting];
    expect(reply(llmRequest({ messages, instruction }), rules)).toMatch(/^I can book/);
  }
  expect(reply(llmRequest({ messages: [greeting], instruction }), rules)).toMatch(/^I can book/);
});

describe("the opening", () => {
  it("names the agent and the caller where the prompt states them simply", () => {
    const open = (systemPrompt: string): string =>
      reply(llmRequest({ systemPrompt, instruction: "Greet the user." }), rules);
    expect(open("You are Ada, the concierge.")).toMatch(
      /^Hello, this is Ada, the scripted concierge\. I can book/,
    );
    expect(open("Your name is Grace Hopper. Be kind.")).toContain("this is Grace Hopper,");
    expect(open("You are a friendly waiter named Luca.")).toContain("this is Luca,");
    expect(open("You are the concierge. The guest is called Maria.")).toMatch(
      /^Hello Maria, this is the scripted/,
    );
    for (const none of [
      "",
      "You are the concierge of a hotel.",
      "You are An assistant.",
      "You are Parley's voice.",
    ])
      expect(open(none)).toMatch(/^Hello, this is the scripted concierge\./);
  });

  it("says what the instruction quotes", () => {
    expect(reply(llmRequest({ instruction: 'Say "Welcome to the Adler." and wait.' }), rules)).toBe(
      "Welcome to the Adler.",
    );
  });

  it("admits once that it only knows English", () => {
    const opening = reply(llmRequest({ language: "de-CH" }), rules);
    expect(opening).toMatch(/^I was asked to speak German, but I only know English\. Hello/);
    expect(talk(["hello"], { language: "fr" })).toContain("speak French");
    expect(talk(["hello", "thank you"], { language: "fr" })).not.toContain("French");
    for (const language of ["en", "en-GB", "EN", null, "", "not a language!"])
      expect(reply(llmRequest({ language }), rules)).toMatch(/^Hello/);
    const messages: LlmMessage[] = [
      { role: "agent", text: opening },
      { role: "user", text: "thank you" },
    ];
    expect(reply(llmRequest({ language: "de", messages }), rules)).not.toContain("German");
  });
});

describe("the turns of the recorded demonstration", () => {
  it("are understood", () => {
    const said = ["ten of clubs", "four queen of clubs", "five five"];
    expect(talk(said.slice(0, 1))).toBe("The ten of clubs. That is the first card in your hand.");
    expect(talk(said.slice(0, 2))).toBe(
      "The queen of clubs, higher than your ten of clubs. I also heard four, without a suit. " +
        "You hold two cards; the highest is the queen of clubs, and together they count twenty-two.",
    );
    expect(talk(said)).toBe("I heard the digits five, five.");
    expect(talk([...said, "eight of spades four of clubs seven of hearts"])).toBe(
      "The eight of spades, four of clubs and seven of hearts. " +
        "You hold five cards; the highest is the queen of clubs, and together they count forty-one.",
    );
    expect(talk(["go forward ten meters"])).toBe(
      "Going forward ten meters. You are at the lift, facing north.",
    );
    expect(talk([NOTE])).toBe("Sorry, I did not catch that. Could you say it again?");
  });
});

describe("cards", () => {
  it("compares, keeps the hand, and knows what is in it", () => {
    expect(talk(["the ten of clubs", "10 of hearts"])).toContain(
      "neither higher nor lower than your ten of clubs",
    );
    expect(talk(["ace of spades", "two of hearts"])).toContain("lower than your ace of spades");
    expect(talk(["ten of clubs", "ten of clubs"])).toBe("You already hold the ten of clubs.");
    expect(talk(["ten of clubs", "two of hearts", "what do i have"])).toMatch(
      /^The ten of clubs and two of hearts\./,
    );
    expect(talk(["my hand"])).toContain("no cards yet");
    expect(talk(["ace two queen"])).toBe(
      "I heard ace, two and queen, but no suit. Say, for example, the queen of hearts.",
    );
    expect(talk(["the queen of england"])).toContain("I have no rule");
    expect(talk(["ten of clubs", "start over", "my hand"])).toContain("no cards yet");
  });

  it("deals each other card once, then no more", () => {
    const said = ["ten of clubs", ...Array.from({ length: 51 }, () => "deal me a card")];
    const dealt = said.map(
      (_words, index) => /I deal you the (\w+ of \w+)/.exec(talk(said.slice(0, index + 1)))?.[1],
    );
    expect(new Set(dealt.slice(1)).size).toBe(51);
    expect(dealt).not.toContain("ten of clubs");
    expect(talk([...said, "another card"])).toContain("no card left");
  });
});

describe("directions", () => {
  it("keeps the position and the heading", () => {
    expect(talk(["turn right", "walk 5 meters", "turn left", "go back two meters"])).toBe(
      "Going back two meters. You are now two meters south and five meters east of the desk.",
    );
    expect(talk(["go forward ten meters", "turn around", "ten meters"])).toContain(
      "back at the desk, facing south",
    );
    expect(talk(["go to the left", "straight ahead"])).toBe("How far forward shall I go?");
    expect(talk(["a yards"])).toContain("one yard.");
    expect(talk(["straight ahead", "a hundred feet"])).toContain("thirty meters north");
    expect(talk(["turn left and go 10 meters"])).toContain("the garden door");
    expect(talk(["go forward ten meters", "go right ten meters"])).toContain("the restaurant, facing east");
  });

  it("stays on the map", () => {
    expect(talk(["go forward two miles"])).toContain("five hundred meters");
    expect(talk(["go forward two miles", "where am i"])).toContain("back at the desk");
  });
});

describe("a table", () => {
  it("asks for what is missing, confirms and says that it is a demonstration", () => {
    expect(talk(["i'd like a table"])).toBe("Gladly. For how many people?");
    expect(talk(["i'd like a table", "four"])).toBe("A table for four. For which day?");
    expect(talk(["i'd like a table", "four", "tomorrow"])).toBe("A table for four tomorrow. At what time?");
    const all = ["i'd like a table", "four", "tomorrow", "eight"];
    expect(talk(all)).toBe("A table for four tomorrow at eight in the evening: shall I book it?");
    expect(talk([...all, "yes please"])).toMatch(
      /^Your table for four .* is noted\. .*nothing is really reserved\.$/,
    );
    expect(talk([...all, "yes", "yes"])).not.toContain("table for four");
    expect(talk([...all, "book it"])).toContain("is noted");
  });

  it("takes all at once, in any order", () => {
    for (const said of [
      "book a table for two on friday at half past seven",
      "could I get a table friday at 7:30 for two people",
      "Hello, a table for 2, Friday, seven thirty p.m., please!",
    ])
      expect(talk([said])).toBe("A table for two on Friday at seven thirty in the evening: shall I book it?");
    expect(talk(["on tuesday evening"])).toBe("A table on Tuesday. For how many people?");
    expect(talk(["we are four"])).toBe("A table for four. For which day?");
    expect(talk(["what is the weather today"])).toContain("I have no rule");
    expect(talk(["a table for seven thirty tomorrow for just me"])).toContain(
      "for one tomorrow at seven thirty",
    );
  });

  it("changes what the caller wants changed", () => {
    const all = ["a table for two on friday at eight", "no"];
    expect(talk(all)).toContain("What shall I change");
    expect(talk([...all, "the time"])).toBe("A table for two on Friday. At what time?");
    expect(talk([...all, "at nine"])).toContain("at nine in the evening: shall I book it?");
    expect(talk([...all, "for three people"])).toContain("for three on Friday");
    expect(talk([...all, "no"])).toBe("All right, I book nothing.");
    expect(talk([...all, "never mind", "seven"])).toBe("I heard the number seven.");
  });

  it("refuses what the house cannot do", () => {
    expect(talk(["a table for thirty people tomorrow"])).toContain("up to twelve");
    expect(talk(["a table for thirty people tomorrow", "ten"])).toBe(
      "A table for ten tomorrow. At what time?",
    );
    expect(talk(["a table for zero people"])).toContain("at least one");
    expect(talk(["a table for two tomorrow at six in the morning"])).toContain("open from noon");
  });

  it("asks again for the same when it did not understand", () => {
    expect(talk(["a table", NOTE])).toBe("Sorry, I did not catch that. For how many people?");
  });
});

describe("small talk", () => {
  it("says in one sentence what it is", () => {
    for (const said of [
      "who are you",
      "Are you a robot?",
      "what's your name",
      "hi, am I talking to a human?",
    ]) {
      const text = talk([said]);
      expect(text).toContain("scripted model");
      expect(text.match(/[.!?]/g)).toHaveLength(1);
    }
  });

  it.each([
    ["what can you do", "book a table"],
    ["good morning", "Hello"],
    ["thank you very much", "You are welcome"],
    ["thanks, goodbye", "Goodbye"],
    ["yes", "Good."],
    ["no", "Is there anything else"],
    ["how are you today", "only a script"],
    ["can you hear me", "I am here"],
    ["hold on", "Take your time"],
    ["let's play cards", "Name the cards"],
    ["forty two", "the number forty-two"],
    ["my number is five five one oh", "digits five, five, one, zero"],
    ["three hundred and five or 12", "three hundred and five and twelve"],
    ["ask not what your country can do for you", "I have no rule for that"],
    ["", "I have no rule for that"],
    ["你好", "I have no rule for that"],
  ])("%s", (said, expected) => {
    expect(talk([said])).toContain(expected);
  });

  it("repeats what it said, whole and once", () => {
    const first = talk(["ten of clubs"]);
    expect(talk(["ten of clubs", "repeat that"])).toBe(first);
    expect(talk(["ten of clubs", "speak slowly", "speak slowly"])).toBe(
      `I cannot change my pace, but here it is again. ${first}`,
    );
    expect(talk(["ten of clubs", "please repeat"])).toBe(first);
    const messages: LlmMessage[] = [
      { role: "agent", text: "Welcome to the Adler." },
      { role: "user", text: "pardon" },
    ];
    expect(reply(llmRequest({ messages }), rules)).toBe("Welcome to the Adler.");
  });

  it("helps more with each miss in a row, and starts afresh after a hit", () => {
    const misses = [1, 2, 3, 4].map((count) => talk(Array.from({ length: count }, () => NOTE)));
    expect(new Set(misses).size).toBe(3);
    expect(misses[3]).toBe(misses[2]);
    expect(talk([NOTE, NOTE, "hello", NOTE])).toBe(misses[0]);
    expect(talk(["(The caller could not be understood.)"])).toBe(misses[0]);
  });

  it("continues where a fault cut it short", () => {
    const messages: LlmMessage[] = [
      { role: "user", text: "ten of clubs" },
      { role: "agent", text: "The ten of clubs. That is" },
    ];
    const instruction = "A technical fault cut your last message short. Go on from where it stopped.";
    expect(reply(llmRequest({ messages, instruction }), rules)).toBe("the first card in your hand.");
    expect(reply(llmRequest({ messages: [], instruction }), rules)).toMatch(/^Hello/);
  });

  it("has something to say when the caller is silent", () => {
    const messages: LlmMessage[] = [
      { role: "user", text: "a table for two" },
      { role: "agent", text: "A table for two. For which day?" },
    ];
    expect(reply(llmRequest({ messages, instruction: "Ask whether the user is there." }), rules)).toBe(
      "For which day?",
    );
  });
});

describe("any conversation", () => {
  const vocabulary =
    "a the of to for and at on i ten four five queen clubs hearts go turn forward left back meters feet "
      .concat(
        "table book friday tomorrow seven thirty people yes no cancel deal repeat help hello thanks half past may 12th 7:30",
      )
      .split(" ");
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.array(fc.constantFrom(...vocabulary), { maxLength: 14 }).map((words) => words.join(" ")),
    fc.constantFrom(NOTE, "", "constructor", "__proto__ toString", "{last} {can}", "x".repeat(5_000)),
  );
  const anyMessage: fc.Arbitrary<LlmMessage> = fc.oneof(
    { arbitrary: fc.record({ role: fc.constant("user" as const), text: anyText }), weight: 3 },
    { arbitrary: fc.record({ role: fc.constant("agent" as const), text: anyText }), weight: 2 },
    {
      arbitrary: fc.record({
        role: fc.constant("tool" as const),
        invocationId: fc.string(),
        toolName: fc.string(),
        text: anyText,
      }),
      weight: 1,
    },
  );
  const anyRequest = fc
    .record({
      messages: fc.array(anyMessage, { maxLength: 20 }),
      systemPrompt: anyText,
      instruction: fc.option(anyText),
      language: fc.option(fc.oneof(anyText, fc.constantFrom("de", "x-private", "zh-Hant"))),
      temperature: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map((fields) => llmRequest(fields));

  it("gets a reply: never none, never endless, always the same, with no placeholder left", () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const text = reply(request, rules);
        expect(text).toMatch(/[\p{L}\p{N}]/u);
        expect(text.length).toBeLessThanOrEqual(MAX_REPLY_CHARS);
        expect(text).not.toMatch(/undefined|\bNaN\b|\[object|\s\s/);
        expect(reply({ ...request, temperature: 1 - request.temperature }, rules)).toBe(text);
      }),
      { numRuns: 400 },
    );
  });
});

it("has rules whose form is checked", () => {
  expect(() => parseRules({ ...rules, about: 1 })).toThrow("about");
  expect(() => parseRules({ ...rules, surprise: true })).toThrow("surprise");
  expect(() =>
    parseRules({ ...rules, cards: { ...rules.cards, deck: Array.from({ length: 52 }, () => 1) } }),
  ).toThrow("each card once");
  expect(() => parseRules({ ...rules, intents: [{ name: "x", says: ["Upper"], reply: [] }] })).toThrow(
    "lower-case",
  );
});
