/**
 * `npm run bench:sip-loss`: the effect of packet loss and jitter on recorded speech that comes by RTP, as the service
 * hears it, for each codec of SIP. Runs in simulated time: the same packets are lost in every run.
 */

import { readFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { initResampler, Resampler } from "../../src/media/resample.ts";
import type { NetworkFaults } from "../../src/media/testing/faulty-network.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import { CODEC_RATE_HZ, type RtpCodecName } from "../../src/transports/rtc/rtp-media.ts";
import { RtpPair } from "../../src/transports/sip/media/testing/rtp-pair.ts";
import { publish } from "../report.ts";
import { openWordLoop, wordErrors } from "../word-loop.ts";

const SPEECH_RATE_HZ = 16_000;
const FRAMES_A_SECOND = 50;
/** Until the last packets have come and are played. */
const TAIL_FRAMES = 20;
const SEEDS = [1, 2];
const CODECS: readonly RtpCodecName[] = ["PCMU", "G722", "opus"];
const CONDITIONS: readonly (readonly [string, Omit<NetworkFaults, "seed">])[] = [
  ["nothing", { lossShare: 0, jitterMs: 0 }],
  ["1 % lost", { lossShare: 0.01, jitterMs: 0 }],
  ["5 % lost", { lossShare: 0.05, jitterMs: 0 }],
  ["10 % lost", { lossShare: 0.1, jitterMs: 0 }],
  ["50 ms of jitter", { lossShare: 0, jitterMs: 50 }],
  ["10 % lost, 50 ms of jitter", { lossShare: 0.1, jitterMs: 50 }],
];

function resampled(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  if (fromHz === toHz) return samples;
  const resampler = new Resampler(fromHz, toHz);
  const [first, last] = [resampler.push(samples), resampler.flush()];
  const all = new Int16Array(first.length + last.length);
  all.set(first);
  all.set(last, first.length);
  return all;
}

interface Heard {
  readonly samples: Int16Array;
  /** Of the audio that was sent, what came, was repaired or concealed. */
  readonly heardShare: number;
}

async function hearBy(codec: RtpCodecName, speech: Int16Array, faults: NetworkFaults): Promise<Heard> {
  const rateHz = CODEC_RATE_HZ[codec];
  const line = resampled(speech, SPEECH_RATE_HZ, rateHz);
  const size = rateHz / FRAMES_A_SECOND;
  const frames = Math.floor(line.length / size);
  const pair = new RtpPair(rateHz, faults);
  await pair.agree(codec, { isSecure: true });
  pair.run(frames, (frame) => pair.a.stream.push(line.subarray(frame * size, (frame + 1) * size)));
  pair.run(TAIL_FRAMES);
  const heardShare = Math.min(1, pair.b.samples().length / ((frames + TAIL_FRAMES) * size));
  const samples = resampled(pair.b.samples(), rateHz, SPEECH_RATE_HZ);
  pair.close();
  return { samples, heardShare };
}

async function clips(): Promise<{ readonly text: string; readonly speech: Int16Array }[]> {
  const list = new URL("../../../../fixtures/speech/transcripts.tsv", import.meta.url);
  const lines = (await readFile(fileURLToPath(list), "utf8")).trim().split("\n").slice(1);
  return (
    lines
      .map((line) => line.split("\t"))
      // It is joined from others, with long pauses.
      .filter(([file]) => file !== "austen_long_pauses.wav")
      .map(([file = "", text = ""]) => ({ text, speech: readSpeechFixture(file) }))
  );
}

await initResampler(process);
const spoken = await clips();
const recognise = await openWordLoop(spoken.map(({ text }) => text));
const words = spoken.reduce((sum, { text }) => sum + text.split(" ").length, 0);

async function cell(codec: RtpCodecName, faults: Omit<NetworkFaults, "seed">): Promise<string[]> {
  const seeds = faults.lossShare === 0 && faults.jitterMs === 0 ? SEEDS.slice(0, 1) : SEEDS;
  let [errors, heardShare, count] = [0, 0, 0];
  for (const seed of seeds) {
    for (const [index, { text, speech }] of spoken.entries()) {
      const heard = await hearBy(codec, speech, { ...faults, seed: seed * 100 + index });
      errors += wordErrors(text, recognise(heard.samples));
      heardShare += heard.heardShare;
      count += 1;
    }
  }
  return [
    `${((100 * errors) / (words * seeds.length)).toFixed(1)} %`,
    `${((100 * heardShare) / count).toFixed(1)} %`,
  ];
}

const rows: string[] = [];
for (const [name, faults] of CONDITIONS) {
  const cells: string[][] = [];
  for (const codec of CODECS) cells.push(await cell(codec, faults));
  const columns = [0, 1].flatMap((column) => cells.map((one) => one[column] ?? ""));
  rows.push(`| ${[name, ...columns].join(" | ")} |`);
  console.log(rows.at(-1));
}
await publish(
  "bench:sip-loss",
  `${String(spoken.length)} recordings, ${String(words)} words, ${String(SEEDS.length)} runs of each network.

| network | word error, G.711 | G.722 | Opus | audio heard, G.711 | G.722 | Opus |
|---|---|---|---|---|---|---|
${rows.join("\n")}`,
);
