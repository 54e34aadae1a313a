/** Each language model with each fault in a call with a fallback: what is heard, recorded and counted. */

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { initResampler } from "../../src/media/resample.ts";
import { FAKE_STT_TEXT } from "../../src/ports/testing/fake-stt.ts";
import { speechOf } from "../../src/ports/testing/word-audio.ts";
import { FIRST_TOKEN_LIMIT_MS } from "../../src/providers/engine-chain/llm-chain.ts";
import { casesOf, type Found, noteOutcome, type Outcome, tableOf, tableOnPage } from "./fault-table.ts";
import { GREETING, joinFaultyCall, SECOND_REPLY, SILENCE_LIMIT_MS } from "./faulty-call.ts";
import { MODELS } from "./models.ts";
import { REPLY_PIECES } from "./said.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** The greeting; and the answer, after the wait for a model that hangs. */
const GREETING_MS = 3_500;
const ANSWER_MS = 5_000;
const HANG_MS = 3_000;

const REPLY = REPLY_PIECES.join("");
/** The sentence of the reply that has ended where a model breaks off. */
const BEGINNING = REPLY_PIECES[0].trim();

const found: Found = new Map();

test.each(casesOf(MODELS))("$name with the fault $fault", async ({ subject, name, fault }) => {
  const { engine, close } = await subject.open(fault);
  try {
    const call = await joinFaultyCall({ fault, model: engine });
    await call.listen(GREETING_MS);
    await call.say(speechOf("yes please"));
    const saidMs = call.nowMs();
    await call.listen(ANSWER_MS + (fault.startsWith("hang") ? HANG_MS : 0));
    const { agent, user, events } = await call.recorded();
    const outcome: Outcome = !events.includes("llm.replaced")
      ? "own"
      : agent.includes(BEGINNING)
        ? "rest"
        : "next";
    noteOutcome(found, name, fault, outcome);
    // The transcript is whole, and nothing is said twice.
    expect(user).toEqual([FAKE_STT_TEXT]);
    const said = { own: [REPLY], next: [SECOND_REPLY], rest: [BEGINNING, SECOND_REPLY] }[outcome];
    expect(agent).toEqual([GREETING, ...said]);
    expect(events).not.toContain("call.ended");
    // From the failure on, and where nothing failed from the end of the caller's words on.
    const failedMs = Math.max(call.failures[0]?.atMs ?? saidMs, saidMs);
    const answeredMs = call.soundAfterMs(failedMs) ?? Infinity;
    expect(answeredMs - failedMs).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    expect(call.longestSilenceMs()).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    // A model that hangs is found out within its limit, also within its answer.
    expect(failedMs - saidMs).toBeLessThanOrEqual(FIRST_TOKEN_LIMIT_MS + 2_000);
    const isOwn = outcome === "own";
    expect(call.failures.map(({ engine: failed }) => failed)).toEqual(isOwn ? [] : ["first"]);
    expect(new Set(call.used)).toEqual(
      new Set(isOwn ? ["llm first answered"] : ["llm first failed", "llm second answered"]),
    );
    expect(events.filter((type) => type === "llm.replaced")).toHaveLength(isOwn ? 0 : 1);
    // Only what follows a beginning that was heard is a failure of the call.
    expect(events.includes("llm.failed")).toBe(outcome === "rest");
  } finally {
    await close();
  }
});

test("the page has what was found", () => {
  expect(tableOnPage("model-faults")).toEqual(tableOf(MODELS, found));
});

describe("without another model", () => {
  test.each(MODELS)("$name that cannot answer now: the caller is asked for patience", async ({ open }) => {
    const { engine, close } = await open("5xx");
    try {
      const call = await joinFaultyCall({ fault: "5xx", model: engine, isAlone: true });
      await call.listen(GREETING_MS);
      await call.say(speechOf("yes please"));
      const saidMs = call.nowMs();
      await call.listen(4_000);
      const { agent, events, ends } = await call.recorded();
      expect(agent.slice(0, 2)).toEqual([GREETING, "One moment, please."]);
      expect((call.soundAfterMs(saidMs) ?? Infinity) - saidMs).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
      expect(events).toContain("llm.failed");
      expect(new Set(call.used)).toEqual(new Set(["llm first failed"]));
      expect(ends).toEqual([]);
    } finally {
      await close();
    }
  });

  const withKeys = MODELS.filter(({ never }) => !never.includes("refused key"));
  test.each(withKeys)("$name that refuses its key: an apology, and the end", async ({ open }) => {
    const { engine, close } = await open("refused key");
    try {
      const call = await joinFaultyCall({ fault: "refused key", model: engine, isAlone: true });
      await call.listen(GREETING_MS);
      await call.say(speechOf("yes please"));
      const saidMs = call.nowMs();
      await call.listen(4_000);
      const { agent, ends } = await call.recorded();
      expect(agent).toEqual([GREETING, expect.stringMatching(/^I am sorry, I have a technical problem/)]);
      expect((call.soundAfterMs(saidMs) ?? Infinity) - saidMs).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
      expect(ends).toEqual(["system_error"]);
    } finally {
      await close();
    }
  });
});
