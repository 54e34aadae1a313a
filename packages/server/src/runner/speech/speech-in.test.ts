import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import { ECHO_UNKNOWN, EchoEstimator } from "../../media/echo.ts";
import { initResampler } from "../../media/resample.ts";
import { concat, ramp, sine } from "../../media/testing/signals.ts";
import type { SttEngine } from "../../ports/stt.ts";
import { readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openFakeVad } from "../../ports/testing/fake-vad.ts";
import type { VadEngine } from "../../ports/vad.ts";
import { SpeechIn } from "./speech-in.ts";
import { openManualClock } from "../testing/manual-clock.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** A recogniser that records its input. */
function keepingStt() {
  const heard = new Map<number, Int16Array[]>();
  const stt: SttEngine = {
    name: "keeps",
    open: () => ({
      open: (id) => heard.set(id, []),
      push: (id, samples) => heard.get(id)?.push(samples.slice()),
      request: () => {},
      abandon: (id) => heard.delete(id),
      close: () => {},
    }),
    close: () => Promise.resolve(),
  };
  return { stt, heard: (id: number) => concat(heard.get(id) ?? []), open: () => [...heard.keys()] };
}

function start(
  changes: {
    vad?: VadEngine;
    stt?: SttEngine;
    inputSampleRateHz?: number;
    idleMs?: number;
    listens?: boolean;
    keepsVoice?: boolean;
    echo?: EchoEstimator;
  } = {},
) {
  const clock = openManualClock();
  const events: CallEngineEventBody[] = [];
  const speech = new SpeechIn({
    answerer: null,
    vad: changes.vad ?? openFakeVad(),
    stt: changes.stt ?? openFakeStt(),
    inputSampleRateHz: changes.inputSampleRateHz ?? 16_000,
    mediaIdleTimeoutMs: changes.idleMs ?? null,
    language: null,
    recorder: null,
    tap: null,
    listens: changes.listens ?? false,
    keepsVoice: changes.keepsVoice ?? false,
    echo: changes.echo ?? null,
    nowMs: () => clock.nowMs(),
    post: (event) => void events.push(event),
  });
  speech.start();
  clock.onTick((nowMs) => {
    speech.tick(nowMs);
  });
  /** Sends `audio` in 20 ms frames in real time. */
  const send = async (audio: Int16Array, sampleRateHz = 16_000) => {
    const frame = sampleRateHz / 50;
    for (let at = 0; at < audio.length; at += frame) {
      speech.audio(audio.subarray(at, at + frame));
      await clock.advance(20);
    }
  };
  const scores = () => events.filter((event) => event.type === "voiceScored");
  return { clock, events, speech, send, scores };
}

test("each 32 ms of the stream give one score, with its place in received media", async () => {
  const { send, scores } = start();
  await send(new Int16Array(16_000));
  await send(sine(440, 16_000, 16_000));
  expect(scores().length).toBe(62);
  expect(scores().map(({ mediaMs }) => mediaMs)).toEqual(Array.from({ length: 62 }, (_, i) => (i + 1) * 32));
  const spoken = scores().filter(({ score }) => score > 0.5);
  expect(spoken[0]?.mediaMs).toBe(1_024);
  expect(spoken.length).toBe(31);
});

test.each([8_000, 11_025, 24_000, 44_100, 48_000])("audio at %d Hz is heard at 16 kHz", async (rate) => {
  const { stt, heard } = keepingStt();
  const { speech, send, scores } = start({ stt, inputSampleRateHz: rate });
  speech.openUtterance(1, 0);
  await send(sine(500, rate, rate), rate);
  expect(Math.abs(heard(1).length - 16_000)).toBeLessThan(500);
  expect(scores().at(-1)?.score).toBeGreaterThan(0.5);
});

test("an utterance begins before it was noticed, and misses and repeats nothing", async () => {
  const { stt, heard } = keepingStt();
  const { speech, send } = start({ stt });
  const audio = ramp(48_000);
  await send(audio.subarray(0, 24_000));
  speech.openUtterance(1, 500);
  speech.openUtterance(2, 60_000);
  await send(audio.subarray(24_000));
  expect(heard(1)).toEqual(audio.subarray(16_000));
  expect(heard(2)).toEqual(audio);
});

test("utterances are bounded: the oldest is abandoned", () => {
  const { stt, open } = keepingStt();
  const { speech } = start({ stt });
  for (let id = 1; id <= 20; id += 1) speech.openUtterance(id, 0);
  expect(open()).toEqual([13, 14, 15, 16, 17, 18, 19, 20]);
});

test("a silent connection continues in silence and ends by the idle limit", async () => {
  const { clock, events, scores } = start({ idleMs: 10_000 });
  await clock.advance(12_000);
  expect(scores().length).toBeGreaterThan(340);
  expect(events.filter(({ type }) => type === "mediaUnderflowed").length).toBe(2);
  expect(events.filter(({ type }) => type === "mediaIdled").length).toBe(1);
});

test("too much audio is limited and reported", async () => {
  const { clock, events, speech, scores } = start();
  for (let i = 0; i < 100; i += 1) {
    speech.audio(new Int16Array(3_200));
    await clock.advance(20);
  }
  // In 2 s of real time, 20 s of audio came.
  expect(scores().length * 32).toBeLessThan(2_000 * 1.1 + 300);
  expect(events.filter(({ type }) => type === "mediaOverflowed").length).toBe(1);
});

test("engines that do not open are reported as if they failed later", () => {
  const vad: VadEngine = {
    ...openFakeVad(),
    open: () => {
      throw new Error("no detector");
    },
  };
  const { events, speech } = start({ vad, stt: openFakeStt({ opensNot: true }) });
  speech.openUtterance(1, 0);
  speech.requestTranscript(1, 4);
  expect(events).toEqual([
    { type: "voiceDetectionFailed", error: "no detector" },
    { type: "transcriptFailed", utteranceId: 1, revision: 4, error: "the recogniser did not open" },
  ]);
});

test("nothing is posted after the close, and nothing is held", async () => {
  const stt = openFakeStt();
  const { speech, send, events } = start({ stt });
  await send(sine(440, 16_000, 8_000));
  speech.openUtterance(1, 100);
  speech.requestTranscript(1, 1);
  speech.close();
  speech.close();
  const before = events.length;
  await send(sine(440, 16_000, 8_000));
  expect(events.length).toBe(before);
  expect(stt.openStreams()).toBe(0);
});

test("a detector that listens is given the utterance from its beginning, at most its last 8 s", async () => {
  const { send, speech } = start({ listens: true });
  const audio = ramp(16_000 * 12);
  await send(audio.subarray(0, 16_000));
  speech.openUtterance(1, 320);
  expect(speech.utteranceAudio(1)).toEqual(audio.slice(16_000 - 320 * 16, 16_000));
  await send(audio.subarray(16_000, 16_000 * 3));
  expect(speech.utteranceAudio(1)).toEqual(audio.slice(16_000 - 320 * 16, 16_000 * 3));
  await send(audio.subarray(16_000 * 3));
  expect(speech.utteranceAudio(1)).toEqual(audio.slice(16_000 * 4));
  speech.abandonUtterance(1);
  expect(speech.utteranceAudio(1)).toBeNull();
});

test("nobody listens, nothing is kept for them", async () => {
  const { send, speech } = start();
  await send(sine(440, 16_000, 16_000));
  speech.openUtterance(1, 320);
  expect(speech.utteranceAudio(1)).toBeNull();
});

test("scores of windows that are the agent's own voice coming back say so", async () => {
  const echo = new EchoEstimator(16_000, 16_000);
  const { send, scores, clock } = start({ echo });
  const voice = readSpeechFixture("austen_0920.wav");
  const quieter = voice.map((sample) => Math.round(sample / 10));
  // Every 20 ms the agent's frame is heard, and the one of 100 ms ago comes in.
  for (let at = 0; at + 320 <= voice.length; at += 320) {
    echo.agent(voice.subarray(at, at + 320), clock.nowMs());
    await send(at < 1_600 ? new Int16Array(320) : quieter.subarray(at - 1_600, at - 1_280));
  }
  const found = scores().filter(({ mediaMs, echo: likely = 0 }) => mediaMs > 1_500 && likely >= 0.5);
  expect(found.length).toBeGreaterThan(80);
  expect(scores()[3]?.echo).toBe(ECHO_UNKNOWN);
});
