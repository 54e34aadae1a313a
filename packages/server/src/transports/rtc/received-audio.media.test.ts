import { describe, expect, it } from "vitest";
import type { RtpPiece } from "../../media/rtp-order.ts";
import { FaultyNetwork, type NetworkFaults } from "../../media/testing/faulty-network.ts";
import { concat } from "../../media/testing/signals.ts";
import { readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { openOpus } from "./opus.ts";
import { ReceivedAudio } from "./received-audio.ts";

const FRAME = 320;
const speech = readSpeechFixture("jfk.wav").subarray(0, 5 * 16_000);

async function packets(): Promise<RtpPiece[]> {
  const opus = await openOpus();
  const made: RtpPiece[] = [];
  for (let n = 0; (n + 1) * FRAME <= speech.length; n += 1) {
    const payload = Uint8Array.from(opus.encode(speech.slice(n * FRAME, (n + 1) * FRAME)));
    made.push({ ssrc: 1, sequence: (65_500 + n) & 0xffff, timestamp: n * 960, payload });
  }
  opus.close();
  return made;
}

const sent = await packets();

/** What comes out of a network, with a look every 10 ms. */
async function heard(faults: NetworkFaults, mend: "all" | "no repair" = "all"): Promise<Int16Array> {
  const codec = await openOpus();
  const out: Int16Array[] = [];
  const forgetful = {
    decode: (packet: Uint8Array) => codec.decode(packet),
    // As if no packet remembered the one before.
    conceal: (frames: number) => codec.conceal(frames, new Uint8Array(0)),
  };
  const received = new ReceivedAudio(mend === "all" ? codec : forgetful, (samples) =>
    out.push(samples.slice()),
  );
  const network = new FaultyNetwork<RtpPiece>(faults);
  const arrivals = sent
    .map((packet, n) => network.send(packet, n * 20))
    .filter((arrival) => arrival !== null)
    .sort((a, b) => a.atMs - b.atMs);
  for (let nowMs = 0; nowMs < sent.length * 20 + 200; nowMs += 10) {
    while ((arrivals[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const { packet, atMs } = arrivals.shift()!;
      received.push(packet, atMs);
    }
    received.tick(nowMs);
  }
  codec.close();
  return concat(out);
}

/** Energy of the difference, as a share of the signal's. */
function errorShare(clean: Int16Array, other: Int16Array): number {
  let [error, all] = [0, 0];
  for (const [i, sample] of clean.entries()) {
    error += (sample - (other[i] ?? 0)) ** 2;
    all += sample ** 2;
  }
  return error / all;
}

describe("received audio", () => {
  const none = { seed: 1, lossShare: 0, jitterMs: 0 };

  it("is what was sent where nothing is lost, whatever the jitter", async () => {
    const clean = await heard(none);
    expect(clean.length).toBe(sent.length * FRAME);
    for (const seed of [1, 2, 3]) expect(await heard({ seed, lossShare: 0, jitterMs: 50 })).toEqual(clean);
  });

  it.each([0.01, 0.05, 0.1])("keeps its length and its sound where %f of it is lost", async (lossShare) => {
    const clean = await heard(none);
    for (const seed of [1, 2, 3]) {
      const mended = await heard({ seed, lossShare, jitterMs: 50 });
      // The last packets have no successor that tells of them.
      expect(Math.abs(mended.length - clean.length)).toBeLessThanOrEqual(3 * FRAME);
      expect(errorShare(clean, mended)).toBeLessThan(4 * lossShare);
    }
  });

  it("is mended by what the next packet remembers, and not by guessing alone", async () => {
    const clean = await heard(none);
    let [remembered, guessed] = [0, 0];
    for (const seed of [1, 2, 3]) {
      const faults = { seed, lossShare: 0.1, jitterMs: 0 };
      remembered += errorShare(clean, await heard(faults));
      guessed += errorShare(clean, await heard(faults, "no repair"));
    }
    expect(remembered).toBeLessThan(0.6 * guessed);
  });
});
