import { CARRIER_KINDS, type CarrierKind } from "@parley/schema";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { encodeAudio, type AudioFormat } from "../../media/audio-format.ts";
import type { CarrierEvent, StreamStart } from "./codec.ts";
import { carrierCodecs } from "./codecs.ts";
import { CARRIER_RULES } from "./testing/carrier-rules.ts";
import type { Command, FakeStream } from "./testing/rule-checks.ts";

const CODECS = carrierCodecs();
const KEYS = ["0", "1", "5", "9", "*", "#", "A", "D"];

/** A command whose bytes are numbers, to be compared. */
function plain(command: Command): object {
  return command.type === "audio" ? { ...command, payload: [...command.payload] } : command;
}

function streamOf(kind: CarrierKind, streamId = "stream-1"): FakeStream {
  const { input, output } = CARRIER_RULES[kind];
  return { streamId, callId: "call-1", input, output };
}

function startOf(kind: CarrierKind, stream = streamOf(kind)): StreamStart {
  const events = CARRIER_RULES[kind]
    .begin(stream)
    .map((message) => CODECS[kind].decode(JSON.stringify(message)));
  const last = events.at(-1);
  if (last?.type !== "started") throw new Error(`no start: ${JSON.stringify(last)}`);
  expect(events.slice(0, -1).map(({ type }) => type)).toEqual(events.slice(0, -1).map(() => "unused"));
  return last.start;
}

describe.each(CARRIER_KINDS)("the codec of %s", (kind) => {
  const codec = CODECS[kind];
  const rules = CARRIER_RULES[kind];
  const ids = fc.string({ minLength: 1, maxLength: 40 });
  const counts = fc.integer({ min: 0, max: 2 ** 31 });

  it("reads the start: ids and both formats", () => {
    fc.assert(
      fc.property(ids, ids, (streamId, callId) => {
        const stream = { ...streamOf(kind), streamId, callId };
        expect(startOf(kind, stream)).toEqual({
          streamId,
          carrierCallId: callId,
          input: stream.input,
          output: stream.output,
        });
      }),
    );
  });

  it("gives back the audio, marks and keys that the carrier sends", () => {
    const payloads = fc.uint8Array({ minLength: 2, maxLength: 400 });
    fc.assert(
      fc.property(ids, counts, counts, payloads, fc.constantFrom(...KEYS), (id, n, chunk, bytes, key) => {
        const stream = streamOf(kind, id);
        const read = (message: object) => codec.decode(JSON.stringify(message));
        const payload = Buffer.from(bytes).toString("base64");
        expect(read(rules.media(stream, n, chunk, payload))).toEqual({
          type: "audio",
          streamId: id,
          order: chunk,
          payload: Buffer.from(bytes),
        });
        expect(read(rules.mark(stream, n, "g1:2"))).toEqual({ type: "marked", streamId: id, name: "g1:2" });
        expect(read(rules.digit(stream, n, key))).toEqual({ type: "digit", streamId: id, key });
        expect(read(rules.stop(stream, n))).toEqual({ type: "stopped", streamId: id });
        expect(read(rules.cleared(stream, n) ?? { event: "connected" })).toEqual({ type: "unused" });
      }),
    );
  });

  it("writes what the carrier accepts, and the carrier reads it as it was meant", () => {
    const start = startOf(kind);
    const samples = Int16Array.from({ length: 1_600 }, (_, i) => i * 10);
    const payload = encodeAudio(start.output.encoding, samples);
    const commands: Command[] = [
      { type: "audio", payload },
      { type: "mark", name: "g3:17" },
      { type: "clear" },
      ...(codec.sendsDigits ? [{ type: "digits", digits: "12#" } as const] : []),
    ];
    for (const command of commands) {
      const read = rules.accept(codec.encode(command, start), streamOf(kind));
      expect(plain(read)).toEqual(plain(command));
    }
  });

  it("has keys as a command only where the carrier has", () => {
    const encoded = (): string => {
      try {
        return codec.encode({ type: "digits", digits: "1" }, startOf(kind));
      } catch (error) {
        return String(error);
      }
    };
    expect(codec.sendsDigits).toBe(kind === "telephony3");
    expect(encoded()).toMatch(codec.sendsDigits ? /"1"/ : /no command for keys/);
  });

  it("survives anything: every text is an event", () => {
    const types: CarrierEvent["type"][] = [
      "unused",
      "malformed",
      "unsupported",
      "started",
      "stopped",
      "failed",
    ];
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          event: fc.constantFrom("start", "media", "mark", "dtmf", "stop", "x"),
          media: fc.jsonValue(),
        })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect([...types, "audio", "marked", "digit"]).toContain(codec.decode(text).type);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["", "malformed"],
    ["null", "malformed"],
    ["[]", "malformed"],
    ['{"event":5}', "malformed"],
    ['{"event":"media"}', "malformed"],
    ['{"event":"media","media":{"payload":7}}', "malformed"],
    ['{"event":"dtmf","dtmf":{"digit":"55"}}', "malformed"],
    ['{"event":"dtmf","dtmf":{}}', "malformed"],
    ['{"event":"of a later version","x":1}', "unused"],
    ['{"__proto__":{"event":"stop"}}', "malformed"],
  ])("reads %s as %s", (text, type) => {
    expect(codec.decode(text).type).toBe(type);
  });
});

/** The start of each carrier with another announcement. */
function announced(kind: CarrierKind, encoding: string, rate: number | string): string {
  const camel = { mediaFormat: { encoding, sampleRate: rate } };
  const snake = { media_format: { encoding, sample_rate: rate } };
  const starts: Readonly<Record<CarrierKind, object>> = {
    telephony1: { streamSid: "s", start: camel },
    telephony2: { stream_id: "s", start: snake },
    telephony3: { start: { streamId: "s", ...camel } },
    telephony4: { streamSid: "s", start: snake },
  };
  return JSON.stringify({ event: "start", ...starts[kind] });
}

const mulaw: AudioFormat = { encoding: "mulaw", sampleRateHz: 8_000 };
const linear = (encoding: "s16le" | "s16be", sampleRateHz: number): AudioFormat => ({
  encoding,
  sampleRateHz,
});

test.each<[CarrierKind, string, number | string, AudioFormat, AudioFormat]>([
  ["telephony1", "audio/x-mulaw", "8000", mulaw, mulaw],
  ["telephony2", "PCMU", 8_000, mulaw, mulaw],
  ["telephony2", "audio/x-mulaw", 8_000, mulaw, mulaw],
  ["telephony2", "PCMA", "8000", { encoding: "alaw", sampleRateHz: 8_000 }, mulaw],
  ["telephony2", "L16", 16_000, linear("s16be", 16_000), linear("s16be", 16_000)],
  ["telephony3", "audio/x-l16", 8_000, linear("s16le", 8_000), linear("s16le", 8_000)],
  ["telephony3", "audio/x-l16;rate=16000", 16_000, linear("s16le", 16_000), linear("s16le", 16_000)],
  ["telephony3", "audio/x-mulaw", 8_000, mulaw, mulaw],
  ["telephony4", "audio/x-raw", "24000", linear("s16le", 24_000), linear("s16le", 24_000)],
  ["telephony4", "audio/x-mulaw", "8000", mulaw, mulaw],
])("%s with %s at %s Hz is served", (kind, encoding, rate, input, output) => {
  expect(CODECS[kind].decode(announced(kind, encoding, rate))).toMatchObject({
    type: "started",
    start: { streamId: "s", input, output },
  });
});

test.each<[CarrierKind, string, number]>([
  ["telephony1", "audio/x-l16", 16_000],
  ["telephony1", "audio/x-mulaw", 16_000],
  ["telephony2", "OPUS", 16_000],
  ["telephony2", "G722", 8_000],
  ["telephony2", "L16", 11_025],
  ["telephony3", "audio/x-l16", 44_100],
  ["telephony4", "raw", 48_000],
])("%s with %s at %d Hz is refused, and the reason names it", (kind, encoding, rate) => {
  expect(CODECS[kind].decode(announced(kind, encoding, rate))).toEqual({
    type: "unsupported",
    reason: `has the audio format ${encoding} at ${rate} Hz`,
  });
});

test("a start without an id is refused where every message needs one", () => {
  for (const kind of ["telephony1", "telephony3", "telephony4"] as const) {
    expect(CODECS[kind].decode('{"event":"start","start":{}}').type).toBe("unsupported");
  }
  expect(CODECS.telephony2.decode('{"event":"start","start":{}}')).toMatchObject({
    start: { streamId: null },
  });
});

test("linear samples of telephony2 have the order of the setting", () => {
  const little = carrierCodecs("s16le").telephony2.decode(announced("telephony2", "L16", 16_000));
  expect(little).toMatchObject({
    start: { input: linear("s16le", 16_000), output: linear("s16le", 16_000) },
  });
});

test("audio of another track than the caller's is left out", () => {
  const message = { event: "media", streamSid: "s", media: { track: "outbound", payload: "AAAA" } };
  expect(CODECS.telephony1.decode(JSON.stringify(message))).toEqual({ type: "unused" });
});
