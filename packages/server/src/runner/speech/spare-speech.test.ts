import { expect, it } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import { sentencesFor } from "../../call/sentences.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import type { TtsEngine, TtsRequest } from "../../ports/tts.ts";
import { DEFAULT_VOICE, type VoicePlan } from "../../plan/voice-plan.ts";
import { openManualClock, type ManualClock } from "../testing/manual-clock.ts";
import { SpareSpeech } from "./spare-speech.ts";

const { moment, apology } = sentencesFor("en");
const SERVER = { address: "voices.example", port: 443 };

/** In small steps: between two of them everything that waits for promises only goes on. */
async function pass(clock: ManualClock): Promise<void> {
  for (let at = 0; at < 1_500; at += 100) await clock.advance(100);
}

function world(changes: Partial<TtsEngine> = {}) {
  const clock = openManualClock();
  const asked: TtsRequest[] = [];
  const works = openFakeTts();
  const tts: TtsEngine = {
    ...works,
    server: SERVER,
    synthesize: (request, signal) => {
      asked.push(request);
      return works.synthesize(request, signal);
    },
    ...changes,
  };
  const open = () => {
    const posted: CallEngineEventBody[] = [];
    return { posted, spare: new SpareSpeech({ tts, clock, post: (event) => void posted.push(event) }) };
  };
  return { clock, asked, open };
}

it("renders its sentences after the first second, in the voice of the call, and shares them with other calls", async () => {
  const { clock, asked, open } = world();
  const { spare, posted } = open();
  spare.prepare(DEFAULT_VOICE, "en");
  await clock.advance(900);
  expect(asked).toEqual([]);
  await pass(clock);
  expect(posted).toEqual([{ type: "spareSpeechPrepared", language: "en" }]);
  expect(asked.map(({ text }) => text).join(" ")).toContain(moment);
  expect(spare.find(moment, DEFAULT_VOICE)?.some((part) => part.type === "audio")).toBe(true);
  expect(spare.find("Something else.", DEFAULT_VOICE)).toBeNull();
  // Each segment of the apology, as a call asks for it.
  const [first = ""] = asked.map(({ text }) => text).filter((text) => apology.startsWith(text));
  expect(spare.find(first, DEFAULT_VOICE)).not.toBeNull();
  const before = asked.length;
  const other = open();
  other.spare.prepare(DEFAULT_VOICE, "en");
  await pass(clock);
  expect([asked.length, other.posted.length]).toEqual([before, 1]);
  other.spare.prepare({ kind: "deployment", name: "anna" }, "de");
  await pass(clock);
  expect(asked.slice(before).map(({ voice }) => voice)).toContain("anna");
  spare.close();
  expect(spare.find(moment, DEFAULT_VOICE)).toBeNull();
});

it("has nothing of a voice that runs on this machine, and nothing after the end of the call", async () => {
  const local = openFakeTts();
  const clock = openManualClock();
  const posted: CallEngineEventBody[] = [];
  const spare = new SpareSpeech({ tts: local, clock, post: (event) => void posted.push(event) });
  spare.prepare(DEFAULT_VOICE, "en");
  expect(clock.pending()).toBe(0);
  const { open, clock: second, asked } = world();
  const ended = open();
  ended.spare.prepare(DEFAULT_VOICE, "en");
  ended.spare.close();
  await second.advance(2_000);
  expect([posted, asked, second.pending()]).toEqual([[], [], 0]);
});

it("leaves a voice that fails already to the sentences of the call, and tries again in the next call", async () => {
  let fails = true;
  const works = openFakeTts();
  const { open, clock } = world({
    synthesize: (request, signal) => {
      if (fails) throw new Error("HTTP 503");
      return works.synthesize(request, signal);
    },
  });
  const first = open();
  first.spare.prepare(DEFAULT_VOICE, "en");
  await pass(clock);
  expect(first.posted).toEqual([]);
  fails = false;
  const next = open();
  next.spare.prepare(DEFAULT_VOICE, "en");
  await pass(clock);
  expect(next.posted).toHaveLength(1);
  // No timer of an attempt is left.
  expect(clock.pending()).toBe(0);
});

it("prepares the default voice for a call that speaks with an external one, which says its sentences by itself", async () => {
  const { clock, asked, open } = world();
  const external: VoicePlan = {
    kind: "external",
    provider: "provider1",
    settings: { voiceId: "v" },
    key: "account",
    voiceId: null,
  };
  const { spare, posted } = open();
  spare.prepare(external, "en");
  await pass(clock);
  expect(posted).toEqual([{ type: "spareSpeechPrepared", language: "en" }]);
  expect(new Set(asked.map(({ voice }) => voice))).toEqual(new Set([null]));
  expect(spare.find(moment, external)).toBeNull();
  expect(spare.find(moment, DEFAULT_VOICE)).not.toBeNull();
});
