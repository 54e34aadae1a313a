/**
 * `npm run bench:webrtc-loss`: the effect of packet loss and jitter on incoming recorded speech, as the service hears
 * it and as it would without reordering, repair and concealment. Runs in simulated time: the same packets are lost in
 * every run.
 */

import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";
import type { RtpPiece } from "../src/media/rtp-order.ts";
import { FaultyNetwork, type NetworkFaults } from "../src/media/testing/faulty-network.ts";
import { OPUS_RATE_HZ } from "../src/transports/rtc/leg.ts";
import { openOpus } from "../src/transports/rtc/opus.ts";
import { ReceivedAudio } from "../src/transports/rtc/received-audio.ts";
import { speechClip } from "./load.ts";
import { publish } from "./report.ts";
import { openWordLoop, wordErrors } from "./word-loop.ts";

const FRAME = OPUS_RATE_HZ / 50;
const FRAME_MS = 20;
const TICK_MS = 10;
const SEEDS = [1, 2, 3];
const CONDITIONS: readonly (readonly [string, Omit<NetworkFaults, "seed">])[] = [
  ["nothing", { lossShare: 0, jitterMs: 0 }],
  ["1 % lost", { lossShare: 0.01, jitterMs: 0 }],
  ["5 % lost", { lossShare: 0.05, jitterMs: 0 }],
  ["10 % lost", { lossShare: 0.1, jitterMs: 0 }],
  ["50 ms of jitter", { lossShare: 0, jitterMs: 50 }],
  ["1 % lost, 50 ms of jitter", { lossShare: 0.01, jitterMs: 50 }],
  ["5 % lost, 50 ms of jitter", { lossShare: 0.05, jitterMs: 50 }],
  ["10 % lost, 50 ms of jitter", { lossShare: 0.1, jitterMs: 50 }],
];
/** Frames of this level or more hold speech; loss elsewhere is inaudible. */
const SPEECH_LEVEL = 0.01;
/** A frame whose level is this much lower than in the original is a gap. */
const GAP_SHARE = 0.1;

interface Clip {
  readonly text: string;
  readonly packets: readonly RtpPiece[];
  /** Output without loss. */
  readonly clean: Int16Array;
}

const NO_FAULTS: NetworkFaults = { seed: 0, lossShare: 0, jitterMs: 0 };

/** What a browser sends once it detects loss; our answer requests in-band repair. */
async function packetsOf(samples: Int16Array): Promise<RtpPiece[]> {
  const opus = await openOpus();
  const packets: RtpPiece[] = [];
  for (let n = 0; (n + 1) * FRAME <= samples.length; n += 1) {
    const payload = Uint8Array.from(opus.encode(samples.slice(n * FRAME, (n + 1) * FRAME)));
    packets.push({ ssrc: 1, sequence: n & 0xffff, timestamp: n * 960, payload });
  }
  opus.close();
  return packets;
}

/** The same as in the service. */
async function repaired(packets: readonly RtpPiece[], faults: NetworkFaults): Promise<Int16Array> {
  const codec = await openOpus();
  const out: Int16Array[] = [];
  const received = new ReceivedAudio(codec, (samples) => out.push(samples.slice()));
  const arrivals = arrivalsOf(packets, faults);
  const endMs = packets.length * FRAME_MS + 200;
  let next = 0;
  for (let nowMs = 0; nowMs <= endMs; nowMs += TICK_MS) {
    for (; next < arrivals.length && (arrivals[next]?.atMs ?? 0) <= nowMs; next += 1) {
      const arrival = arrivals[next];
      if (arrival !== undefined) received.push(arrival.packet, arrival.atMs);
    }
    received.tick(nowMs);
  }
  codec.close();
  return joined(out);
}

/** Each packet in order of arrival: missing or late ones are silence. */
async function plain(packets: readonly RtpPiece[], faults: NetworkFaults): Promise<Int16Array> {
  const codec = await openOpus();
  const out: Int16Array[] = [];
  let at = 0;
  for (const { packet } of arrivalsOf(packets, faults)) {
    if (packet.sequence < at) continue;
    if (packet.sequence > at) out.push(new Int16Array((packet.sequence - at) * FRAME));
    out.push(codec.decode(packet.payload).slice());
    at = packet.sequence + 1;
  }
  codec.close();
  return joined(out);
}

function arrivalsOf(packets: readonly RtpPiece[], faults: NetworkFaults) {
  const network = new FaultyNetwork<RtpPiece>(faults);
  return packets
    .map((packet, n) => network.send(packet, n * FRAME_MS))
    .filter((arrival) => arrival !== null)
    .sort((a, b) => a.atMs - b.atMs);
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function level(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += (sample / 32_768) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Milliseconds of speech that are gaps, and milliseconds of speech. */
function gaps(clean: Int16Array, heard: Int16Array): { readonly gapMs: number; readonly speechMs: number } {
  let [gapMs, speechMs] = [0, 0];
  for (let at = 0; at + FRAME <= clean.length; at += FRAME) {
    const said = level(clean.subarray(at, at + FRAME));
    if (said < SPEECH_LEVEL) continue;
    speechMs += FRAME_MS;
    if (level(heard.subarray(at, at + FRAME)) < GAP_SHARE * said) gapMs += FRAME_MS;
  }
  return { gapMs, speechMs };
}

/** Signal to error over the speech, in dB, of frames with speech. */
function likeness(clean: Int16Array, heard: Int16Array): number {
  let [signal, error] = [0, 0];
  for (let i = 0; i < clean.length; i += 1) {
    signal += (clean[i] ?? 0) ** 2;
    error += ((clean[i] ?? 0) - (heard[i] ?? 0)) ** 2;
  }
  return error === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(signal / error);
}

async function clips(): Promise<Clip[]> {
  const list = new URL("../../../fixtures/speech/transcripts.tsv", import.meta.url);
  const lines = (await readFile(fileURLToPath(list), "utf8")).trim().split("\n").slice(1);
  return Promise.all(
    lines
      .map((line) => line.split("\t"))
      // It is joined from others, with long pauses.
      .filter(([file]) => file !== "austen_long_pauses.wav")
      .map(async ([file = "", text = ""]) => {
        const packets = await packetsOf(await speechClip(file.replace(/\.wav$/, "")));
        return { text, packets, clean: await plain(packets, NO_FAULTS) };
      }),
  );
}

const spoken = await clips();
const hear = await openWordLoop(spoken.map(({ text }) => text));
const words = spoken.reduce((sum, { text }) => sum + text.split(" ").length, 0);

async function row(name: string, faults: Omit<NetworkFaults, "seed">): Promise<string> {
  const seeds = faults.lossShare === 0 && faults.jitterMs === 0 ? SEEDS.slice(0, 1) : SEEDS;
  const cells: string[] = [];
  for (const receive of [plain, repaired]) {
    let [errors, gapMs, speechMs, dB, n] = [0, 0, 0, 0, 0];
    for (const seed of seeds) {
      for (const [index, { text, packets, clean }] of spoken.entries()) {
        const heard = await receive(packets, { ...faults, seed: seed * 100 + index });
        const found = gaps(clean, heard);
        gapMs += found.gapMs;
        speechMs += found.speechMs;
        dB += Math.min(60, likeness(clean, heard));
        n += 1;
        errors += wordErrors(text, hear(heard));
      }
    }
    cells.push(
      `${((100 * errors) / (words * seeds.length)).toFixed(1)} %`,
      `${((100 * gapMs) / speechMs).toFixed(1)} %`,
      (dB / n).toFixed(0),
    );
  }
  const [e0, g0, d0, e1, g1, d1] = cells;
  const line = `| ${name} | ${e0 ?? ""} | ${e1 ?? ""} | ${g0 ?? ""} | ${g1 ?? ""} | ${d0 ?? ""} | ${d1 ?? ""} |`;
  console.log(line);
  return line;
}

const rows: string[] = [];
for (const [name, faults] of CONDITIONS) rows.push(await row(name, faults));
await publish(
  "bench:webrtc-loss",
  `${String(spoken.length)} recordings, ${String(words)} words, ${String(SEEDS.length)} runs of each network.

| network | word error, plain | repaired | gaps in speech, plain | repaired | likeness in dB, plain | repaired |
|---|---|---|---|---|---|---|
${rows.join("\n")}`,
);
