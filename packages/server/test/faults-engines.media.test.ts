/** The assembled service: recognisers, models and voices that hang, fail, break off, or answer with nonsense. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until, wait } from "../src/runner/testing/call-client.ts";
import { sentencesFor } from "../src/call/sentences.ts";
import { HEARD, REPLY, UGLY } from "./faulty-engines.ts";
import {
  END_LIMIT_MS,
  NOTHING,
  openRunningService,
  USER_FIRST,
  type EventRecord,
  type MessageRecord,
  type RunningService,
  type TestCall,
} from "./running-service.ts";

let service: RunningService;

beforeAll(async () => {
  service = await openRunningService();
});

afterAll(async () => {
  await service.close();
});

/** As in `running-service.ts`; the end follows an apology of at most 4 s. */
const FAILURE_LIMIT_MS = 1_500;
const { apology, sayAgain, greeting } = sentencesFor(null);
const QUICK_USER_FIRST = { ...USER_FIRST, voice: "quick" };
const READABLE = UGLY.replace("\u0000", "\ufffd").replace("\ud800", "\ufffd");

const agentTexts = ({ client }: TestCall): string[] =>
  client.of("transcript").flatMap(({ role, final, text }) => (role === "agent" && final ? [text ?? ""] : []));

/** A caller that keeps talking until the call is over. */
async function talkToTheEnd({ callId, client }: TestCall): Promise<void> {
  let code: number | "open" = "open";
  for (let i = 0; i < 9 && code === "open"; i += 1) {
    await client.say(500);
    code = await Promise.race([client.closed, wait(900).then((): "open" => "open")]);
  }
  expect({ callId, code }).toEqual({ callId, code: 1011 });
}

/** The recorded failures, of which each except the last is a warning or an error of its engine. */
async function failuresOf(callId: string, type: string): Promise<readonly EventRecord[]> {
  return (await service.events(callId)).filter((event) => event.type === type);
}

/** Runs one spoken turn and awaits the whole answer. */
async function answerOf(call: TestCall): Promise<string> {
  const before = agentTexts(call).length;
  await call.client.say(600);
  await until(() => agentTexts(call).length > before, "an answer", 15_000);
  return agentTexts(call)[before] ?? "";
}

/** Hangs up; the call must have ended for that reason and no other. */
async function hangUp({ callId, client }: TestCall): Promise<readonly MessageRecord[]> {
  client.socket.close(1000);
  expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  return service.messages(callId);
}

describe.concurrent("an engine that never works ends the call with system_error", () => {
  test.each([
    ["a recogniser that hangs", { languageHint: "x-hangs" }, "stt.failed"],
    ["a recogniser that fails", { languageHint: "x-fails" }, "stt.failed"],
    ["a recogniser that does not open", { languageHint: "x-opens-not" }, "stt.failed"],
    ["a model that hangs", { model: "hangs" }, "llm.failed"],
    ["a model that fails", { model: "fails" }, "llm.failed"],
    ["a model that always breaks off", { model: "breaks-off" }, "llm.failed"],
    ["a model whose stream ends too early", { model: "ends-early" }, "llm.failed"],
  ])("%s: with an apology", async (_name, settings, type) => {
    const call = await service.call({ ...QUICK_USER_FIRST, ...settings });
    await talkToTheEnd(call);
    expect((await service.endedSoon(call.callId)).endReason).toBe("system_error");
    expect(agentTexts(call).at(-1)).toBe(apology);
    const spoken = await service.messages(call.callId);
    expect(spoken.at(-1)).toMatchObject({ role: "MESSAGE_ROLE_AGENT", text: apology });
    expect((await failuresOf(call.callId, type)).length).toBeGreaterThan(1);
  });

  test.each([
    ["hangs", { voice: "hangs" }],
    ["fails", { voice: "fails" }],
    ["gives no audio", { voice: "silent" }],
    ["gives audio of an impossible rate", { voice: "rate-zero" }],
  ])("a voice that %s: without an apology, but with its words as text", async (_name, settings) => {
    const call = await service.call(settings);
    await until(() => agentTexts(call).length > 0, "the greeting as text");
    // The failure limit may be reached before the rest of it was silent.
    expect(REPLY.startsWith(agentTexts(call)[0] ?? "?")).toBe(true);
    await talkToTheEnd(call);
    expect((await service.endedSoon(call.callId)).endReason).toBe("system_error");
    const failures = await failuresOf(call.callId, "tts.failed");
    expect(failures.length).toBeGreaterThan(1);
    expect(new Set(failures.map(({ severity }) => severity))).toEqual(new Set(["error"]));
  });

  test("a model that fails before the greeting: within the limit, and exactly one end", async () => {
    const fromMs = performance.now();
    const call = await service.call({ model: "fails", voice: "quick" });
    expect(await call.client.closed).toBe(1011);
    expect(performance.now() - fromMs).toBeLessThan(FAILURE_LIMIT_MS + END_LIMIT_MS);
    expect((await service.endedSoon(call.callId)).endReason).toBe("system_error");
    expect(agentTexts(call)).toEqual([apology]);
  });
});

describe.concurrent("an engine that works badly does not end the call", () => {
  test("a model that fails once is asked again", async () => {
    const settings = { ...QUICK_USER_FIRST, model: "flaky", systemPrompt: "once" };
    const call = await service.call(settings);
    expect(await answerOf(call)).toBe(REPLY);
    expect(await failuresOf(call.callId, "llm.failed")).toHaveLength(1);
    await hangUp(call);
  });

  test.each([
    ["nothing", "speechless"],
    ["punctuation only", "punctuation"],
  ])("a model that says %s: the agent asks to say it again", async (_name, model) => {
    const call = await service.call({ ...QUICK_USER_FIRST, model });
    expect(await answerOf(call)).toBe(sayAgain);
    expect((await failuresOf(call.callId, "llm.failed")).length).toBeGreaterThan(0);
    await hangUp(call);
  });

  test("a model that has no greeting: the agent greets all the same", async () => {
    const call = await service.call({ voice: "quick", model: "speechless" });
    await until(() => agentTexts(call).length > 0, "the greeting");
    expect(agentTexts(call)).toEqual([greeting]);
    await hangUp(call);
  });

  test.each([
    ["invents tools", "invents-tools", "Text beside it."],
    ["goes on after its end", "goes-on", "It is said."],
  ])("a model that %s: its text is said", async (_name, model, text) => {
    const call = await service.call({ ...QUICK_USER_FIRST, model });
    expect(await answerOf(call)).toBe(text);
    await hangUp(call);
  });

  test("a model without an end is cut at the limit of a reply", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, model: "endless" });
    const text = await answerOf(call);
    expect(text.length).toBeGreaterThan(150);
    expect(text.length).toBeLessThanOrEqual(200);
    await hangUp(call);
  });

  test("a model that stalls in the middle: what was whole is said, and the call continues", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, model: "stalls", maxDuration: "20s" });
    expect(await answerOf(call)).toBe("This sentence is whole.");
    expect((await failuresOf(call.callId, "llm.failed")).length).toBeGreaterThan(0);
    await hangUp(call);
  });

  test("a model whose text no database takes: it is kept readable", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, model: "ugly" });
    await answerOf(call);
    const messages = await hangUp(call);
    expect(messages.find(({ role }) => role === "MESSAGE_ROLE_AGENT")?.text.replaceAll(/\s+/g, " ")).toBe(
      READABLE.replaceAll(/\s+/g, " "),
    );
  });

  test("a recogniser that understands nothing: the agent answers that, and no user transcript is made up", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, languageHint: "x-deaf" });
    expect(await answerOf(call)).toBe(REPLY);
    expect(call.client.of("transcript").filter(({ role }) => role === "user")).toEqual([]);
    await hangUp(call);
  });

  test("a recogniser that sends unrequested answers: only the requested answer counts", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, languageHint: "x-babbles" });
    expect(await answerOf(call)).toBe(REPLY);
    const messages = await hangUp(call);
    expect(messages.map(({ text }) => text)).toEqual([READABLE, REPLY]);
  });

  test("a recogniser that is slower than the end of the turn: the answer waits for it", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, languageHint: "x-slow" });
    expect(await answerOf(call)).toBe(REPLY);
    const messages = await hangUp(call);
    expect(messages.map(({ text }) => text)).toEqual([HEARD, REPLY]);
  });

  test.each([
    ["breaks off in every sentence", "breaks-off"],
    ["changes its rate in the middle", "rate-changing"],
    ["puts its words anywhere", "words-anywhere"],
    ["hangs after its first sound", "hangs-midway"],
  ])("a voice that %s: the text goes out whole", async (_name, voice) => {
    const call = await service.call({ ...USER_FIRST, voice });
    const text = await answerOf(call);
    expect(text === REPLY || REPLY.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(0);
    await wait(200);
    expect((await service.record(call.callId)).ended).toBeNull();
    await hangUp(call);
  });
});

test("nothing is left", async () => {
  expect(await service.leftovers()).toEqual(NOTHING);
});
