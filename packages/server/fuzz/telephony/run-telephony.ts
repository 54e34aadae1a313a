/**
 * Sends hostile frames to the reader of each carrier's stream, in the place of a call. Faults are: a throw, audio or a
 * key that no call may get, an end that no frame asked for, and a stream that is not heard any more afterwards.
 */

import { CARRIER_KINDS, type CarrierKind } from "@parley/schema";
import { encodeAudio } from "../../src/media/audio-format.ts";
import { DIGITS_PER_SECOND } from "../../src/media/digit-limit.ts";
import { msToSamples } from "../../src/media/frame.ts";
import { carrierCodecs, type CarrierCodecs } from "../../src/transports/telephony/codecs.ts";
import { LONGEST_AUDIO_MS, StreamReader } from "../../src/transports/telephony/stream-reader.ts";
import { StreamWriter } from "../../src/transports/telephony/stream-writer.ts";
import { CARRIER_RULES } from "../../src/transports/telephony/testing/carrier-rules.ts";
import type { FakeStream } from "../../src/transports/telephony/testing/rule-checks.ts";
import { Draw } from "../../sim/draw.ts";
import { drawMessage } from "./draw-message.ts";

/** Between two frames, of the clock that the reader is given. */
const FRAME_MS = 5;
/** Frames between two checks that the stream is still heard. */
const CHECK_EVERY = 500;
/** Good frames of one check: more than the numbering may withhold. */
const CHECK_FRAMES = 40;
/** Faults shown of each carrier. */
const MOST_FAULTS = 5;

export interface TelephonyFuzzOptions {
  /** Of each carrier. */
  readonly inputs: number;
  readonly seed: number;
  readonly log: (line: string) => void;
  /** In tests of the fuzzer: codecs with a fault. */
  readonly codecs?: CarrierCodecs;
}

/** @returns what the streams have not withstood */
export function runTelephonyFuzz({
  inputs,
  seed,
  log,
  codecs = carrierCodecs(),
}: TelephonyFuzzOptions): string[] {
  const faults: string[] = [];
  for (const kind of CARRIER_KINDS) {
    const fuzz = new StreamFuzz(kind, codecs, seed);
    const found = fuzz.run(inputs);
    log(
      `  ${kind}: ${String(inputs)} inputs, ${String(fuzz.heard)} of them audio, ${String(found.length)} failed`,
    );
    for (const fault of found) log(`  FAILED: ${fault}`);
    faults.push(...found);
  }
  return faults;
}

class StreamFuzz {
  readonly #kind: CarrierKind;
  readonly #codecs: CarrierCodecs;
  readonly #draw: Draw;
  readonly #faults: string[] = [];
  readonly #stream: FakeStream;
  #reader: StreamReader;
  #isOver = false;
  #nowMs = 0;
  #keys = 0;
  #keysFromMs = 0;
  heard = 0;

  constructor(kind: CarrierKind, codecs: CarrierCodecs, seed: number) {
    const { input, output } = CARRIER_RULES[kind];
    this.#kind = kind;
    this.#codecs = codecs;
    this.#draw = new Draw(seed);
    this.#stream = { streamId: "stream-1", callId: "call-1", input, output };
    this.#reader = this.#opened();
  }

  run(inputs: number): readonly string[] {
    const rules = CARRIER_RULES[this.#kind];
    for (let n = 1; n <= inputs && this.#faults.length < MOST_FAULTS; n += 1) {
      const text = drawMessage(this.#draw, rules, this.#stream, n);
      this.#nowMs += FRAME_MS;
      this.#read(text);
      if (n % CHECK_EVERY === 0) this.#check(n);
    }
    return this.#faults;
  }

  #opened(): StreamReader {
    const { encoding, sampleRateHz } = this.#stream.input;
    const longest = msToSamples(LONGEST_AUDIO_MS, sampleRateHz);
    const { streamId, callId: carrierCallId, input, output } = this.#stream;
    const writer = new StreamWriter(
      this.#codecs[this.#kind],
      { streamId, carrierCallId, input, output },
      { sendAudio: () => true, sendMessage: () => undefined },
    );
    writer.mark(1);
    const reader = new StreamReader(this.#codecs[this.#kind], {
      started: () => undefined,
      refused: (reason) => this.#fault(`the stream was refused: ${reason}`),
      audio: (samples) => {
        this.heard += 1;
        if (samples.length === 0 || samples.length > longest) {
          this.#fault(`${encoding} audio of ${String(samples.length)} samples`);
        }
      },
      marked: (name) => {
        const position = writer.echoed(name);
        if (position !== null && position !== 1)
          this.#fault(`the mark ${name} stands for ${String(position)}`);
      },
      digit: (key) => this.#key(key),
      stopped: () => (this.#isOver = true),
      problem: () => undefined,
    });
    for (const message of CARRIER_RULES[this.#kind].begin(this.#stream)) {
      reader.read(JSON.stringify(message), this.#nowMs);
    }
    return reader;
  }

  #read(text: string): void {
    try {
      this.#reader.read(text, this.#nowMs);
    } catch (error) {
      this.#fault(`${String(error)} at ${JSON.stringify(text.slice(0, 300))}`);
    }
    if (!this.#isOver) return;
    // No frame here is a stop of this stream, though a changed one may have become one.
    if (!/"stop"/.test(text)) this.#fault(`the stream ended at ${JSON.stringify(text.slice(0, 300))}`);
    this.#isOver = false;
    this.#reader = this.#opened();
  }

  #key(key: string): void {
    if (this.#nowMs - this.#keysFromMs >= 1_000) {
      this.#keysFromMs = this.#nowMs;
      this.#keys = 0;
    }
    this.#keys += 1;
    // A second of the reader may begin in the middle of one here.
    if (this.#keys > 2 * DIGITS_PER_SECOND) this.#fault("too many keys in a second");
    if (!/^[0-9*#A-D]$/.test(key)) this.#fault(`the key ${JSON.stringify(key)}`);
  }

  /** A carrier that goes on as it should is heard. */
  #check(sequence: number): void {
    const before = this.heard;
    const rules = CARRIER_RULES[this.#kind];
    const payload = Buffer.from(encodeAudio(this.#stream.input.encoding, new Int16Array(160))).toString(
      "base64",
    );
    for (let i = 1; i <= CHECK_FRAMES; i += 1) {
      this.#nowMs += FRAME_MS;
      this.#read(JSON.stringify(rules.media(this.#stream, sequence, sequence + i, payload)));
    }
    if (this.heard === before) this.#fault("the stream is not heard any more");
  }

  #fault(what: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(`${this.#kind}: ${what}`);
  }
}
