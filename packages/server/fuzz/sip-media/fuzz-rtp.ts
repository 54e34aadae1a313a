/**
 * Changed RTP, RTCP and SRTP packets to a stream on a virtual clock, by strangers, neighbours and a spoofer of the
 * peer's own address. Faults are: a throw, audio or keys that no call may get, and a stream that is not heard any more.
 */

import { initResampler } from "../../src/media/resample.ts";
import { DIGITS_PER_SECOND } from "../../src/media/digit-limit.ts";
import type { Place } from "../../src/transports/sip/media/source-latch.ts";
import { LAST_PACKETS } from "../../src/transports/sip/media/telephone-events.ts";
import { RtpPair } from "../../src/transports/sip/media/testing/rtp-pair.ts";
import { Draw } from "../../sim/draw.ts";

/** Inputs between two frames: 5 ms from one to the next. */
const INPUTS_PER_FRAME = 4;
/** Inputs between two checks that the stream is still heard. */
const CHECK_EVERY = 2_000;
/** Good frames of one check: the change of a source that a spoofer made lasts half a second. */
const CHECK_FRAMES = 100;
const RATE_HZ = 8_000;
/** One packet of 200 ms, and five frames that are made up. */
const LONGEST_AUDIO = RATE_HZ / 5;

export interface RtpFuzzResult {
  readonly faults: readonly string[];
  /** Frames that the attacked side has heard. */
  readonly heard: number;
}

export interface RtpFuzzOptions {
  readonly seed: number;
  readonly isSecure: boolean;
  readonly mostFaults: number;
  /** In tests of the fuzzer: gives the pair a fault. */
  readonly damage?: (pair: RtpPair) => Promise<void>;
}

export async function fuzzRtp(inputs: number, options: RtpFuzzOptions): Promise<RtpFuzzResult> {
  await initResampler(process);
  const fuzz = new RtpFuzz(options);
  await fuzz.begin(options.damage);
  return fuzz.run(inputs, options.mostFaults);
}

class RtpFuzz {
  readonly #draw: Draw;
  readonly #isSecure: boolean;
  readonly #pair = new RtpPair(RATE_HZ);
  readonly #faults: string[] = [];
  #heard = 0;
  #checkedMs = 0;

  constructor({ seed, isSecure }: RtpFuzzOptions) {
    this.#draw = new Draw(seed);
    this.#isSecure = isSecure;
  }

  async begin(damage?: (pair: RtpPair) => Promise<void>): Promise<void> {
    await this.#pair.agree("PCMU", { isSecure: this.#isSecure });
    this.#pair.a.stream.digits("1234567890*#");
    this.#pair.run(20);
    await damage?.(this.#pair);
  }

  run(inputs: number, mostFaults: number): RtpFuzzResult {
    const { b } = this.#pair;
    for (let n = 1; n <= inputs && this.#faults.length < mostFaults; n += 1) {
      const packet = this.#packet();
      try {
        const from = this.#place();
        if (this.#draw.chance(0.3)) b.stream.rtcp(packet, from, this.#pair.clocks());
        else b.stream.rtp(packet, from, this.#pair.nowMs);
        if (n % INPUTS_PER_FRAME === 0) this.#pair.run(1);
      } catch (error) {
        this.#faults.push(`${String(error)} at ${packet.toString("hex")}`);
      }
      if (n % CHECK_EVERY === 0) this.#check(n);
      else if (b.heard.length > CHECK_EVERY) this.#count();
    }
    this.#pair.close();
    return { faults: this.#faults, heard: this.#heard };
  }

  /** One that was sent, with other bytes; or noise. */
  #packet(): Buffer {
    const { sent } = this.#pair.a;
    const base = sent[this.#draw.whole(0, sent.length - 1)] ?? Buffer.alloc(12);
    if (this.#draw.chance(0.1)) {
      return Buffer.from(
        Uint8Array.from({ length: this.#draw.whole(0, 300) }, () => this.#draw.whole(0, 255)),
      );
    }
    const packet = Buffer.from(base);
    for (let n = this.#draw.whole(1, 4); n > 0; n -= 1) {
      packet[this.#draw.whole(0, this.#draw.chance(0.7) ? 15 : packet.length - 1)] = this.#draw.whole(0, 255);
    }
    return this.#draw.chance(0.2) ? packet.subarray(0, this.#draw.whole(0, packet.length)) : packet;
  }

  #place(): Place {
    const { place } = this.#pair.a;
    return this.#draw.one([
      place,
      { address: place.address, port: 9_000 },
      { address: "198.51.100.9", port: 4_000 },
      { address: place.address, port: 0 },
    ]);
  }

  #count(): void {
    const { b, a } = this.#pair;
    for (const { length } of b.heard) {
      if (length === 0 || length > LONGEST_AUDIO) this.#faults.push(`audio of ${String(length)} samples`);
    }
    this.#heard += b.heard.length;
    b.heard.length = 0;
    a.heard.length = 0;
    b.sent.length = 0;
    if (a.sent.length > CHECK_EVERY) a.sent.splice(0, a.sent.length - CHECK_EVERY / 2);
  }

  #check(n: number): void {
    this.#count();
    const { a, b } = this.#pair;
    const seconds = Math.ceil((this.#pair.nowMs - this.#checkedMs) / 1_000) + 1;
    this.#checkedMs = this.#pair.nowMs;
    if (b.keys.length > seconds * DIGITS_PER_SECOND) this.#faults.push(`${String(b.keys.length)} keys`);
    if (this.#isSecure && b.keys.length > 12) this.#faults.push("a key that nobody has pressed");
    if (!this.#isSecure) b.keys.length = 0;
    a.stream.digits("5");
    this.#pair.run(CHECK_FRAMES);
    // With encryption nothing of the attack is heard, and all of the peer but for the frames of its key.
    const least = this.#isSecure ? CHECK_FRAMES - 4 - 2 * LAST_PACKETS : CHECK_FRAMES / 2;
    if (b.heard.length < least) {
      this.#faults.push(
        `${String(b.heard.length)} of ${String(CHECK_FRAMES)} frames heard after ${String(n)}`,
      );
    }
    if (this.#isSecure) b.keys.splice(b.keys.indexOf("5"), 1);
    this.#count();
  }
}
