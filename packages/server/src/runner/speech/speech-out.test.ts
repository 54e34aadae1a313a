import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import { dtmfSamples } from "../../media/dtmf.ts";
import { initResampler } from "../../media/resample.ts";
import { concat, tonePower } from "../../media/testing/signals.ts";
import { deploymentSpeaker } from "../../ports/deployment-speaker.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { openFakeTts, type FakeTtsOptions } from "../../ports/testing/fake-tts.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { SpeechOut } from "./speech-out.ts";
import { openBrokenTts, openHangingTts } from "../testing/fakes.ts";
import { openManualClock, settle } from "../testing/manual-clock.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

function start(tts: TtsEngine, outputSampleRateHz = 8_000) {
  const clock = openManualClock();
  const events: CallEngineEventBody[] = [];
  const sent: { readonly atMs: number; readonly frame: Int16Array }[] = [];
  const faults: unknown[] = [];
  const options = {
    speakerOf: () => deploymentSpeaker(tts, null),
    outputSampleRateHz,
    aheadMs: 60,
    taps: [],
    nowMs: () => clock.nowMs(),
    after: (delayMs: number, fire: () => void) => clock.after(delayMs, fire),
    send: (frame: Int16Array) => void sent.push({ atMs: clock.nowMs(), frame }),
    post: (event: CallEngineEventBody) => void events.push(event),
    faulted: (error: unknown) => void faults.push(error),
  };
  const speech = new SpeechOut(options);
  const stop = clock.onTick(() => {
    speech.tick();
  });
  const say = (
    segmentId: number,
    text: string,
    changes: { silent?: boolean; languageHint?: string } = {},
  ) => {
    speech.synthesize({
      type: "synthesize",
      replyId: 1,
      segmentId,
      text,
      voice: { kind: "deployment", name: null },
      languageHint: null,
      silent: false,
      ...changes,
    });
  };
  const types = () => events.map(({ type }) => type);
  return { clock, events, sent, faults, speech, say, types, stop };
}

const equalRates = (options: FakeTtsOptions = {}) => openFakeTts({ sampleRateHz: 8_000, ...options });

test("the first audio leaves as soon as it comes, not with the next tick", async () => {
  const { speech, say, sent, types, clock } = start(equalRates());
  speech.speak(1);
  await clock.advance(3);
  say(1, "one two");
  await settle();
  expect(sent.map(({ atMs }) => atMs)).toEqual([3, 3, 3]);
  expect(types().slice(0, 2)).toEqual(["segmentAudioReceived", "segmentPlayoutStarted"]);
});

test("nothing leaves before the reply may speak, and then at once", async () => {
  const { speech, say, sent, clock, types } = start(equalRates());
  say(1, "one two");
  await clock.advance(100);
  expect(sent).toEqual([]);
  expect(types()).toEqual(["segmentAudioReceived", "segmentSynthesized"]);
  speech.speak(1);
  expect(sent.length).toBe(3);
});

test.each([8_000, 22_050, 24_000])("a voice at %d Hz is heard whole, word by word", async (sampleRateHz) => {
  const { speech, say, sent, events, clock } = start(openFakeTts({ sampleRateHz }));
  say(1, "one two three");
  speech.speak(1);
  await clock.advance(2_000);
  const synthesized = events.find(({ type }) => type === "segmentSynthesized");
  expect(synthesized).toMatchObject({ durationMs: 900 });
  expect(sent.length).toBe(45);
  const advanced = events.filter((event) => event.type === "segmentPlayoutAdvanced");
  expect(advanced.map(({ heardChars }) => heardChars)).toEqual([3, 7, 13]);
  expect(events.at(-1)).toEqual({ type: "segmentPlayoutFinished", replyId: 1, segmentId: 1, playedMs: 900 });
});

test("silence takes the place of a voice that failed, as long as the text would take", async () => {
  const { speech, say, sent, events, clock } = start(openBrokenTts());
  say(1, "one two three four");
  await settle();
  expect(events).toMatchObject([{ type: "segmentFailed", receivedMs: 0, error: "broken on purpose" }]);
  say(1, "one two three four", { silent: true });
  speech.speak(1);
  await clock.advance(3_000);
  expect(sent.length).toBe(60);
  expect(sent.every(({ frame }) => frame.every((sample) => sample === 0))).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: "segmentPlayoutFinished", playedMs: 1_200 });
});

test("a segment that failed keeps its place until its next attempt", async () => {
  let attempts = 0;
  const failsOnce = equalRates();
  const tts: TtsEngine = {
    ...failsOnce,
    synthesize: (request, signal) => {
      attempts += request.text === "first" ? 1 : 0;
      if (request.text === "first" && attempts === 1) throw new Error("once");
      return failsOnce.synthesize(request, signal);
    },
  };
  const { speech, say, events, clock } = start(tts);
  speech.speak(1);
  say(1, "first");
  say(2, "second");
  await clock.advance(500);
  expect(events.filter(({ type }) => type === "segmentPlayoutStarted")).toEqual([]);
  say(1, "first");
  await clock.advance(1_000);
  const started = events.filter((event) => event.type === "segmentPlayoutStarted");
  expect(started.map(({ segmentId }) => segmentId)).toEqual([1, 2]);
});

test("a voice that refuses its key says that a retry cannot help", async () => {
  const failure = () => new EngineFailure("wrong key", { isPermanent: true, type: "401" });
  const { speech, say, events, clock } = start(equalRates({ failure }));
  speech.speak(1);
  say(1, "one two three");
  await clock.advance(1_000);
  expect(events.find(({ type }) => type === "segmentFailed")).toMatchObject({
    permanent: true,
    errorType: "401",
  });
});

test("audio of before a failure is played to its end", async () => {
  const { speech, say, events, clock } = start(equalRates({ failure: () => new Error("broke off") }));
  speech.speak(1);
  say(1, "one two three");
  await clock.advance(1_000);
  expect(events.find(({ type }) => type === "segmentFailed")).toMatchObject({ receivedMs: 300 });
  expect(events.at(-1)).toMatchObject({ type: "segmentPlayoutFinished", playedMs: 300 });
});

test("another attempt replaces a running one, of which nothing more is reported", async () => {
  const { speech, say, types, clock } = start(openHangingTts(false));
  speech.speak(1);
  say(1, "one");
  say(1, "one");
  say(1, "one", { silent: true });
  await clock.advance(1_000);
  expect(types().filter((type) => type === "segmentSynthesized").length).toBe(1);
  expect(types()).not.toContain("segmentFailed");
});

test("an aborted reply keeps the audio it has, and its voice falls silent", async () => {
  const { speech, say, sent, types, clock } = start(equalRates({ wordDelayMs: 50 }));
  speech.speak(1);
  say(1, "one two three");
  await settle();
  speech.abortReply(1);
  await clock.advance(1_000);
  expect(sent.length).toBe(15);
  expect(types()).not.toContain("segmentSynthesized");
  expect(types()).not.toContain("segmentFailed");
});

test("pause and clear are answered with the heard position, and nothing follows a clear", async () => {
  const { speech, say, sent, events, clock } = start(equalRates());
  speech.speak(1);
  say(1, "one two three");
  await clock.advance(400);
  speech.pause(1);
  expect(events.at(-1)).toEqual({ type: "playoutPaused", replyId: 1, segmentId: 1, heardChars: 7 });
  const before = sent.length;
  await clock.advance(500);
  expect(sent.length).toBe(before);
  speech.resume(1);
  expect(sent.length).toBe(before + 3);
  await clock.advance(100);
  speech.clear(1);
  expect(events.at(-1)).toEqual({ type: "playoutCleared", replyId: 1, segmentId: 1, heardChars: 7 });
  const after = [sent.length, events.length];
  await clock.advance(2_000);
  expect([sent.length, events.length]).toEqual(after);
});

test("what the engine does in answer to a playout event may change the playout", async () => {
  const { clock, events, sent, speech, say } = start(equalRates());
  speech.speak(1);
  const push = events.push.bind(events);
  events.push = (event) => {
    if (event.type === "segmentPlayoutAdvanced" && event.heardChars === 7) speech.clear(1);
    return push(event);
  };
  say(1, "one two three");
  await clock.advance(2_000);
  expect(events.at(-1)).toMatchObject({ type: "playoutCleared", heardChars: 7 });
  expect(sent.length).toBeLessThan(25);
});

test("a language that the voice lacks is reported once", () => {
  const { say, events } = start(openFakeTts({ languages: ["en"] }));
  say(1, "eins", { languageHint: "de-DE" });
  say(2, "zwei", { languageHint: "de-DE" });
  say(3, "three", { languageHint: "en-GB" });
  expect(events.filter(({ type }) => type === "engineWarned")).toMatchObject([{ engine: "tts" }]);
});

test("a voice that never stops is made to wait", async () => {
  let parts = 0;
  const endless: TtsEngine = {
    ...openFakeTts(),
    async *synthesize(_request, signal) {
      while (!signal.aborted && parts < 10_000) {
        parts += 1;
        yield { type: "audio", samples: new Int16Array(8_000), sampleRateHz: 8_000 };
        await Promise.resolve();
      }
    },
  };
  const { speech, say, clock, stop } = start(endless);
  say(1, "for ever");
  await clock.advance(2_000);
  expect(parts).toBeLessThan(130);
  speech.close();
  stop();
  await clock.advance(1_000);
  expect(clock.pending()).toBe(0);
});

test("tones sound in place of speech, and the whole is heard", async () => {
  const { speech, sent, types, events, clock } = start(equalRates());
  speech.speak(1);
  const tones = { digits: "19", toneMs: 200, spaceMs: 100 };
  speech.synthesize({
    type: "synthesize",
    replyId: 1,
    segmentId: 1,
    text: "",
    voice: { kind: "deployment", name: null },
    languageHint: null,
    silent: false,
    tones,
  });
  await clock.advance(1_000);
  expect(types()).toEqual([
    "segmentAudioReceived",
    "segmentSynthesized",
    "segmentPlayoutStarted",
    "segmentPlayoutFinished",
  ]);
  expect(events.at(-1)).toMatchObject({ segmentId: 1, playedMs: 500 });
  const samples = concat(sent.map(({ frame }) => frame));
  expect(samples).toEqual(concat([...dtmfSamples(tones, 8_000)]));
  expect(tonePower(samples.subarray(0, 1_600), 697, 8_000).tone).toBeGreaterThan(0.01);
  expect(tonePower(samples.subarray(2_400), 1_477, 8_000).tone).toBeGreaterThan(0.01);
});

test("tones that are cut leave the position where they were", async () => {
  const { speech, types, events, clock } = start(equalRates());
  speech.speak(1);
  speech.synthesize({
    type: "synthesize",
    replyId: 1,
    segmentId: 1,
    text: "",
    voice: { kind: "deployment", name: null },
    languageHint: null,
    silent: false,
    tones: { digits: "1", toneMs: 1_000, spaceMs: 100 },
  });
  await clock.advance(300);
  speech.clear(1);
  await clock.advance(2_000);
  expect(types().at(-1)).toBe("playoutCleared");
  expect(events.at(-1)).toMatchObject({ segmentId: 1, heardChars: 0 });
});
