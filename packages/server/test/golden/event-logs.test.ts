/**
 * The stored calls of `fixtures/event-logs`: the engine answers each of their events as recorded, byte for byte, and
 * their content is what a person who knows the clips expects. `record.ts` writes them.
 */

import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EXTRA_MAX_MS, UNFINISHED } from "../../src/call/turn/endpointing.ts";
import { INTERRUPTED_MARK } from "../../src/call/history/model-messages.ts";
import { CONVERSATIONS, PHRASES, transcriptOf } from "./conversations.ts";
import { formatLog, logUrl, parseLog, readLogText, replay, scoresOf, type EventLog } from "./event-log.ts";
import { simulate } from "./simulate.ts";

const WINDOW_MS = 32;
/** A log larger than this is too long to read in a comparison of two versions. */
const MAX_LOG_BYTES = 200_000;

const logs = new Map(
  CONVERSATIONS.map(({ name }) => {
    const text = readLogText(name);
    return [name, { text, log: parseLog(text) }];
  }),
);

function stored(name: string): EventLog {
  const entry = logs.get(name);
  if (entry === undefined) throw new Error(`no stored call is named ${name}`);
  return entry.log;
}

const names = [...logs.keys()];
const clips = Object.keys(PHRASES);
const clipLogs = clips.map((clip) => [clip, stored(`clip-${clip.replace(".wav", "")}`)] as const);

function turnsOf({ summary }: EventLog): string[] {
  return summary.utterances.flatMap(({ text }) => (text === null ? [] : [text]));
}

/** Times of effects of a kind, in ms. */
function timesOf({ steps }: EventLog, type: string): number[] {
  return steps.flatMap(({ event, effects }) =>
    effects.filter((effect) => effect.type === type).map(() => event.atMs),
  );
}

describe("every stored call", () => {
  test("belongs to a conversation, and every conversation has one", () => {
    const files = readdirSync(new URL(".", logUrl("any"))).filter((file) => file.endsWith(".jsonl"));
    expect(files.toSorted()).toEqual(names.map((name) => `${name}.jsonl`).toSorted());
  });

  // Line by line, so that a difference names the event; the strings are the bytes of the file.
  test.each(names)("%s: replays to the same effects with every invariant kept", (name) => {
    const { text = "", log } = logs.get(name) ?? { log: stored(name) };
    const again = replay(
      log.head,
      log.steps.map(({ event }) => event),
    );
    expect(formatLog(again).split("\n")).toEqual(text.split("\n"));
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_LOG_BYTES);
  });

  test.each(CONVERSATIONS)("$name: is what its scores give with the settings of today", (conversation) => {
    const { name } = conversation;
    const today = formatLog(simulate(conversation, scoresOf(stored(name).steps)));
    expect(today.split("\n")).toEqual(logs.get(name)?.text.split("\n"));
  });

  test.each(names)("%s: ends by the user's hang-up, with every reply said, cut or dropped", (name) => {
    const { summary, steps } = stored(name);
    expect(summary.endReason).toBe("hangup");
    expect(steps.at(-1)?.effects.at(-1)?.type).toBe("endCall");
    expect(summary.replies.filter(({ outcome }) => outcome === "running")).toEqual([]);
    expect(summary.pauses.filter(({ outcome }) => outcome === "open")).toEqual([]);
    expect(summary.replies.at(-1)?.outcome).toBe("said");
  });
});

/** Ends of windows that count as speech: two in a row, or one right beside others of the same sound. */
function speechEnds(log: EventLog): number[] {
  const { frameActivationThreshold } = log.head.plan.stage.vad;
  const loud = scoresOf(log.steps).map((score) => score > frameActivationThreshold);
  return loud.flatMap((is, index) =>
    is && (loud[index - 1] === true || loud[index - 2] === true || loud[index + 1] === true)
      ? [(index + 1) * WINDOW_MS]
      : [],
  );
}

describe("the end of a turn", () => {
  test.each(names)(
    "%s: comes one endpoint after the last speech, and pauses that end none were open",
    (name) => {
      const log = stored(name);
      const { turnEndpointDelayMs } = log.head.plan.stage.vad;
      const ends = speechEnds(log);
      for (const { fromMs, speechEndMs, endMs, text } of log.summary.utterances) {
        const within = ends.filter((ms) => ms > fromMs && ms <= endMs);
        const silence = endMs - (within.at(-1) ?? NaN);
        // An utterance over the agent's voice that was not understood is over at once.
        const dropped =
          text === null && log.summary.pauses.some(({ endMs: resumedMs }) => resumedMs === endMs);
        expect(dropped || silence >= turnEndpointDelayMs).toBe(true);
        expect(silence).toBeLessThanOrEqual(turnEndpointDelayMs + WINDOW_MS);
        expect(speechEndMs).toBe(within.at(-1));
        const gaps = within.slice(1).map((ms, index) => ms - (within[index] ?? ms));
        const longest = Math.max(...gaps);
        if (longest < turnEndpointDelayMs + WINDOW_MS) continue;
        // A longer pause within a turn is one in which the words were left open.
        expect(longest).toBeLessThan(turnEndpointDelayMs + EXTRA_MAX_MS);
        const open = log.steps.filter(
          ({ event }) => event.type === "turnJudged" && (event.finished ?? 1) < UNFINISHED,
        );
        expect(open.some(({ event }) => event.atMs > fromMs && event.atMs < endMs)).toBe(true);
      }
    },
  );

  test.each(clipLogs)("%s: with the defaults it comes 0.3 to 0.6 s after the last word", (clip, log) => {
    const startMs = log.head.sounds[0]?.atMs ?? NaN;
    const lastWords = (PHRASES[clip] ?? []).map(({ toMs }) => startMs + toMs);
    for (const { endMs } of log.summary.utterances) {
      const lastMs = lastWords.findLast((ms) => ms <= endMs) ?? NaN;
      expect(endMs - lastMs).toBeGreaterThan(300);
      expect(endMs - lastMs).toBeLessThan(600);
    }
  });
});

describe("with the defaults", () => {
  test("the words of each clip are those of its transcript", () => {
    for (const [clip, phrases] of Object.entries(PHRASES)) {
      expect(phrases.map(({ text }) => text).join(" ")).toBe(transcriptOf(clip));
    }
  });

  test.each([
    ["cards_001.wav", 1],
    ["cards_002.wav", 1],
    ["cards_004.wav", 1],
    ["cards_005.wav", 1],
    ["goforward.wav", 1],
    ["austen_0880.wav", 1],
    ["austen_0920.wav", 1],
    ["austen_0930.wav", 1],
    // There are pauses of about 1, 1 and 0.5 s, the first two after words that do not end a sentence.
    ["jfk.wav", 2],
    // There are gaps of 2.5 s after a sentence, and of 0.8 s after half of one.
    ["austen_long_pauses.wav", 2],
  ])("%s is heard as %i turn(s), and no word is lost", (clip, count) => {
    const turns = turnsOf(stored(`clip-${clip.replace(".wav", "")}`));
    expect(turns).toHaveLength(count);
    expect(turns.join(" ")).toBe(transcriptOf(clip));
  });

  test("a speech with pauses is talked into once, where it might have ended, and the agent gives way", () => {
    const { summary } = stored("clip-jfk");
    const heard = summary.replies.filter(({ spokenMs }) => spokenMs !== null);
    expect(heard.map(({ outcome }) => outcome)).toEqual(["cut", "said"]);
    expect(summary.pauses).toHaveLength(1);
    // The answer has only just begun, so it is paused when its grace of 400 ms is over, and cut when the speech is
    // longer than listening words are.
    const { interruptionGraceMs, backchannelMaxMs } = stored("clip-jfk").head.plan.turnTaking;
    for (const [index, { pausedMs, endMs }] of summary.pauses.entries()) {
      const { fromMs } = summary.utterances[index + 1] ?? { fromMs: NaN };
      const sinceFirstSoundMs = pausedMs - (heard[index]?.spokenMs ?? NaN);
      expect(sinceFirstSoundMs).toBeGreaterThanOrEqual(interruptionGraceMs);
      expect(sinceFirstSoundMs).toBeLessThan(interruptionGraceMs + 4 * WINDOW_MS);
      expect((endMs ?? NaN) - fromMs).toBe(backchannelMaxMs);
    }
  });
});

describe("pauses within an utterance", () => {
  test("jfk with an endpoint beyond its longest pause is one turn, and nothing is said before its end", () => {
    const log = stored("jfk-endpoint-1.5s");
    expect(turnsOf(log)).toEqual([transcriptOf("jfk.wav")]);
    const ends = speechEnds(log);
    const pauses = ends.slice(1).map((ms, index) => ms - (ends[index] ?? ms));
    expect(Math.max(...pauses)).toBeGreaterThan(900);
    expect(Math.max(...pauses)).toBeLessThan(log.head.plan.stage.vad.turnEndpointDelayMs);
    const [turn] = log.summary.utterances;
    const startedMs = timesOf(log, "speak");
    expect(startedMs).toHaveLength(1);
    expect(startedMs[0]).toBeGreaterThanOrEqual(turn?.endMs ?? NaN);
    const sounds = log.steps.filter(({ event }) => event.type === "segmentPlayoutStarted");
    expect(sounds[0]?.event.atMs).toBeGreaterThan(turn?.endMs ?? NaN);
    // Replies begun in the pauses were dropped unheard.
    const dropped = log.summary.replies.filter(({ outcome }) => outcome === "dropped");
    expect(dropped.every(({ text, spokenMs }) => text === null && spokenMs === null)).toBe(true);
    expect(timesOf(log, "pausePlayout")).toEqual([]);
  });

  test("1 s bridges the gap of 0.8 s but not that of 2.5 s; 4 s bridges both", () => {
    const [first, second, third] = PHRASES["austen_long_pauses.wav"]?.map(({ text }) => text) ?? [];
    expect(turnsOf(stored("clip-austen_long_pauses"))).toEqual([first, `${second ?? ""} ${third ?? ""}`]);
    expect(turnsOf(stored("long-pauses-endpoint-1s"))).toEqual([first, `${second ?? ""} ${third ?? ""}`]);
    const whole = stored("long-pauses-endpoint-4s");
    expect(turnsOf(whole)).toEqual([transcriptOf("austen_long_pauses.wav")]);
    expect(timesOf(whole, "speak")).toHaveLength(1);
  });

  test("two clips with a pause below the endpoint are one turn with one answer", () => {
    const log = stored("short-pause");
    expect(turnsOf(log)).toEqual(["five five ten of clubs"]);
    expect(timesOf(log, "speak")).toHaveLength(1);
    expect(log.summary.replies.at(-1)?.text).toBe("Very well: five five ten of clubs.");
  });
});

test("a breath into a reply pauses it for a third of a second and costs it nothing", () => {
  const log = stored("breath-during-reply");
  const { summary } = log;
  const [first, breath] = summary.utterances;
  const [pause] = summary.pauses;
  expect(first?.text).toBe("go forward ten meters");
  expect(breath?.text).toBeNull();
  expect((breath?.speechEndMs ?? NaN) - (breath?.fromMs ?? NaN)).toBeLessThan(400);
  expect(summary.pauses).toHaveLength(1);
  expect(pause).toMatchObject({ outcome: "resumed", endMs: breath?.endMs });
  expect((pause?.endMs ?? NaN) - (pause?.pausedMs ?? NaN)).toBeLessThan(350);
  const story = CONVERSATIONS.find(({ name }) => name === "breath-during-reply")?.answers;
  expect(summary.replies.map(({ outcome, text }) => ({ outcome, text }))).toEqual([
    { outcome: "said", text: story?.["go forward ten meters"] },
  ]);
});

test("a breath in silence is no turn, and the turn after it is heard as if it had not been", () => {
  const { summary } = stored("breath-before-turn");
  expect(summary.utterances.map(({ text }) => text)).toEqual([null, "ten of clubs"]);
  expect(summary.replies.map(({ outcome, text }) => `${outcome}: ${text ?? ""}`)).toEqual([
    "said: Very well: ten of clubs.",
  ]);
});

describe("answers", () => {
  test("each of two turns has its own, in order", () => {
    const { summary } = stored("two-turns");
    expect(turnsOf(stored("two-turns"))).toEqual(["ten of clubs", "go forward ten meters"]);
    expect(summary.replies.map(({ outcome, text }) => `${outcome}: ${text ?? ""}`)).toEqual([
      "said: Very well: ten of clubs.",
      "said: Very well: go forward ten meters.",
    ]);
    // The reply was begun in the silence, so that it is spoken in the step that ends the turn.
    for (const [index, { askedMs, spokenMs }] of summary.replies.entries()) {
      const { endMs = NaN } = summary.utterances[index] ?? {};
      expect(askedMs).toBeLessThan(endMs);
      expect(spokenMs).toBe(endMs);
    }
  });

  test("what is said during an uninterruptible greeting waits for its end", () => {
    const { summary, head } = stored("greeting-uninterruptible");
    const [greeting, answer] = summary.replies;
    expect(summary.pauses).toEqual([]);
    expect(greeting).toMatchObject({
      outcome: "said",
      text: head.plan.firstSpeaker.kind === "agent" && head.plan.firstSpeaker.text,
    });
    expect(answer).toMatchObject({ outcome: "said", text: `Very well: ${transcriptOf("cards_005.wav")}.` });
    expect(answer?.spokenMs).toBeGreaterThanOrEqual(greeting?.endMs ?? NaN);
  });
});

describe.each([
  ["interruption-long", "he might even have been made amiable himself"],
  ["interruption-short", "ten of clubs"],
])("%s", (name, words) => {
  const log = stored(name);
  const { summary } = log;
  const [pause] = summary.pauses;
  const [first, second] = summary.replies;
  const story = CONVERSATIONS.find((conversation) => conversation.name === name)?.answers;

  test("pauses the reply at the third window of speech, and its words or its length confirm it", () => {
    const { fromMs = NaN } = summary.utterances[1] ?? {};
    expect(summary.pauses).toHaveLength(1);
    expect(pause?.replyId).toBe(first?.replyId);
    expect((pause?.pausedMs ?? NaN) - fromMs).toBe(96);
    expect(pause?.outcome).toBe("cut");
    // A second of speech, three silent windows and 60 ms for the words; longer speech is one by its length.
    const { backchannelMaxMs } = log.head.plan.turnTaking;
    expect((pause?.endMs ?? NaN) - fromMs).toBe(name === "interruption-short" ? 1_180 : backchannelMaxMs);
    expect(timesOf(log, "resumePlayout")).toEqual([]);
  });

  test("cuts it at the word that was heard when it paused", () => {
    const whole = story?.["go forward ten meters"] ?? "";
    const heard = first?.text ?? "-";
    expect(first?.outcome).toBe("cut");
    expect(whole.startsWith(heard)).toBe(true);
    expect(whole[heard.length]).toBe(" ");
    const advanced = log.steps.filter(({ event }) => event.type === "segmentPlayoutAdvanced");
    const late = advanced.filter(({ event }) => {
      const { atMs } = event;
      return "replyId" in event && event.replyId === first?.replyId && atMs > (pause?.pausedMs ?? NaN);
    });
    expect(late).toEqual([]);
    // The voice of the scenario takes 55 ms for a character.
    const beganMs = log.steps.find(({ event }) => event.type === "segmentPlayoutStarted")?.event.atMs ?? NaN;
    const soundedMs = (pause?.pausedMs ?? NaN) - beganMs;
    expect(Math.abs(heard.length * 55 - soundedMs)).toBeLessThan(1_000);
  });

  test("is answered, and the model knows what was heard of the first reply", () => {
    expect(turnsOf(log)).toEqual(["go forward ten meters", words]);
    expect(second).toMatchObject({ outcome: "said", text: `Very well: ${words}.` });
    const requests = log.steps.flatMap(({ effects }) =>
      effects.flatMap((effect) => (effect.type === "generateReply" ? [effect.request.messages] : [])),
    );
    expect(requests.at(-1)).toEqual([
      { role: "user", text: "go forward ten meters" },
      { role: "agent", text: `${first?.text ?? ""}${INTERRUPTED_MARK}` },
      { role: "user", text: words },
    ]);
  });
});
