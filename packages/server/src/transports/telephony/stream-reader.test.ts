import { CARRIER_KINDS, type CarrierKind } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { encodeAudio } from "../../media/audio-format.ts";
import { ramp, sine } from "../../media/testing/signals.ts";
import type { TransportProblem } from "../../ports/transport.ts";
import { carrierCodecs } from "./codecs.ts";
import { DIGITS_PER_SECOND } from "../../media/digit-limit.ts";
import { LONGEST_AUDIO_MS, MESSAGES_BEFORE_START, StreamReader } from "./stream-reader.ts";
import { CARRIER_RULES } from "./testing/carrier-rules.ts";
import type { FakeStream } from "./testing/rule-checks.ts";

const CODECS = carrierCodecs();

function open(kind: CarrierKind, isStarted = true) {
  const rules = CARRIER_RULES[kind];
  const { input, output } = rules;
  const stream: FakeStream = { streamId: "stream-1", callId: "call-1", input, output };
  const heard: Int16Array[] = [];
  const problems: TransportProblem[] = [];
  const told: string[] = [];
  const reader = new StreamReader(CODECS[kind], {
    started: ({ streamId }) => told.push(`started ${String(streamId)}`),
    refused: (reason) => told.push(`refused: ${reason}`),
    audio: (samples) => heard.push(samples.slice()),
    marked: (name) => told.push(`mark ${name}`),
    digit: (key) => told.push(`key ${key}`),
    stopped: () => told.push("stopped"),
    problem: (problem) => problems.push(problem),
  });
  let nowMs = 0;
  const read = (message: object | string) => {
    reader.read(typeof message === "string" ? message : JSON.stringify(message), nowMs);
  };
  const start = () => rules.begin(stream).forEach(read);
  const frame = (samples: Int16Array, chunk: number, of = stream) =>
    rules.media(of, chunk + 1, chunk, Buffer.from(encodeAudio(input.encoding, samples)).toString("base64"));
  if (isStarted) {
    start();
    told.length = 0;
  }
  return {
    stream,
    heard,
    problems,
    told,
    read,
    start,
    frame,
    digit: (key: string, of = stream) => rules.digit(of, 9, key),
    mark: (name: string, of = stream) => rules.mark(of, 9, name),
    stop: (of = stream) => rules.stop(of, 9),
    pass: (ms: number) => (nowMs += ms),
    now: () => nowMs,
  };
}

describe.each(CARRIER_KINDS)("a stream of %s", (kind) => {
  test("begins with its start; what comes before it is left out", () => {
    const { told, heard, read, start, frame, digit, mark } = open(kind, false);
    [frame(ramp(160), 1), digit("5"), mark("g1:1"), "rubbish", '{"event":"x"}'].forEach(read);
    start();
    read(frame(ramp(160), 2));
    expect([told, heard.length]).toEqual([["started stream-1"], 1]);
  });

  test("that does not begin is given up after so many messages", () => {
    const { told, read, start } = open(kind, false);
    for (let i = 0; i < MESSAGES_BEFORE_START; i += 1) read('{"event":"media"}');
    start();
    expect(told).toEqual(["refused: did not begin with its start"]);
  });

  test("that is stopped before its start is given up", () => {
    const { told, read, start, stop } = open(kind, false);
    read(stop());
    start();
    expect(told).toEqual(["refused: stopped before its start"]);
  });

  test("hands on audio as it sounded, keys and marks, and ends with its stop", () => {
    const { stream, told, heard, problems, read, frame, digit, mark, stop } = open(kind);
    const sound = sine(440, stream.input.sampleRateHz, 320);
    [frame(sound, 1), digit("#"), mark("g1:1"), stop(), frame(sound, 2), digit("5")].forEach(read);
    expect(told).toEqual(["key #", "mark g1:1", "stopped"]);
    expect(heard).toHaveLength(1);
    const worst = Math.max(...(heard[0] ?? []).map((sample, i) => Math.abs(sample - (sound[i] ?? 0))));
    expect(worst).toBeLessThanOrEqual(512);
    expect(problems).toEqual([]);
  });

  test("puts its audio in order, drops what is doubled, and goes on after what is missing", () => {
    const { heard, problems, read, frame, pass } = open(kind);
    const level = (n: number) => new Int16Array(160).fill(n * 1_000);
    for (const chunk of [1, 3, 2, 2, 4, 5, 7, 8, 9, 10, 11]) {
      read(frame(level(chunk), chunk));
      pass(20);
    }
    const levels = heard.map((samples) => Math.round((samples[0] ?? 0) / 1_000));
    expect(levels).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 10, 11]);
    expect(problems).toEqual([]);
  });

  test("of a carrier whose numbers stand still is heard after half a second", () => {
    const { heard, read, frame, pass } = open(kind);
    for (let i = 0; i < 100; i += 1) {
      read(frame(new Int16Array(160), 1));
      pass(20);
    }
    expect(heard.length).toBeGreaterThan(70);
  });

  test("leaves out messages of another stream, and reports them", () => {
    const { stream, told, heard, problems, read, frame, digit, mark, stop } = open(kind);
    const other = { ...stream, streamId: "stream-2" };
    [frame(ramp(160), 1, other), digit("5", other), mark("g1:1", other), stop(other)].forEach(read);
    expect([told, heard]).toEqual([[], []]);
    expect(problems).toEqual(Array.from({ length: 4 }, () => "foreign_stream"));
    CARRIER_RULES[kind].begin(other).forEach(read);
    expect(told).toEqual([]);
    expect(problems.slice(4)).toEqual(["foreign_stream"]);
  });

  test("is not begun again by a doubled start", () => {
    const { told, problems, start, read, digit } = open(kind);
    start();
    read(digit("5"));
    expect([told, problems]).toEqual([["key 5"], []]);
  });

  test("leaves out audio of no sample, of half a sample and of more than a second", () => {
    const { stream, heard, problems, read } = open(kind);
    const { encoding, sampleRateHz } = stream.input;
    const send = (bytes: number, chunk: number) =>
      read(CARRIER_RULES[kind].media(stream, 9, chunk, Buffer.alloc(bytes).toString("base64")));
    const width = encoding === "mulaw" || encoding === "alaw" ? 1 : 2;
    const longest = ((sampleRateHz * LONGEST_AUDIO_MS) / 1_000) * width;
    [0, longest + width, ...(width === 2 ? [321] : [])].forEach((bytes, i) => send(bytes, i + 1));
    expect(new Set(problems)).toEqual(new Set(["wrong_audio"]));
    expect(heard).toEqual([]);
    send(longest, 10);
    send(width, 11);
    send(width, 12);
    send(width, 13);
    send(width, 14);
    expect(heard.length).toBeGreaterThan(0);
  });

  test("reports what cannot be read, and is heard after it", () => {
    const { heard, problems, read, frame } = open(kind);
    ["", "{", "[]", '{"event":"media"}', '{"event":"dtmf","dtmf":{"digit":"?"}}'].forEach(read);
    expect(problems).toEqual(Array.from({ length: 5 }, () => "malformed_message"));
    read(frame(ramp(160), 1));
    expect(heard).toHaveLength(1);
  });

  test("takes so many keys a second", () => {
    const { told, problems, read, digit, pass } = open(kind);
    for (let i = 0; i < DIGITS_PER_SECOND + 5; i += 1) read(digit("1"));
    expect([told.length, problems]).toEqual([
      DIGITS_PER_SECOND,
      Array.from({ length: 5 }, () => "too_many_digits"),
    ]);
    pass(1_000);
    read(digit("2"));
    expect(told.at(-1)).toBe("key 2");
  });
});

test("errors that carriers report are problems", () => {
  const two = open("telephony2");
  two.read({ event: "error", stream_id: "stream-1", payload: { code: 100_004, title: "invalid_media" } });
  expect(two.problems).toEqual(["carrier_error"]);
  const three = open("telephony3");
  three.read({ event: "playFailed", streamId: "stream-1", reason: "bad" });
  expect(three.problems).toEqual(["carrier_error"]);
});
