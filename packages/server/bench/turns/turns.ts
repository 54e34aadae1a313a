/**
 * How well turns are taken: recorded and synthetic speech with a pause at every word, whole sentences, listening words,
 * noises and interruptions, through the real detector of voice activity and the real engine on a virtual clock; only
 * recogniser, model and voice are scripted. Every run is the same. `npm run bench:turns` writes the table of
 * `docs/turn-taking.md`.
 *
 * `--no-page`: do not write. `--all`: print the cases that went wrong. `--cache FILE`: keep the detector's scores.
 * `--clips DIR`: more recordings. `--only pause,end,…`: some kinds. `--eot-bench DIR`: that benchmark's data instead.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import nodeProcess from "node:process";
import { parseArgs } from "node:util";
import { initResampler } from "../../src/media/resample.ts";
import { openEspeakTts } from "../../src/providers/tts-espeak/tts-espeak.ts";
import { ends, interruptions, listening, noises, pauses, type Result } from "./cases.ts";
import { recordedClips, syntheticClips } from "./clips.ts";
import { eotBench } from "./eot-bench.ts";
import { failed, speakersOf, tableOf, waitMs } from "./table.ts";
import { Scorer } from "./tracks.ts";

const { values } = parseArgs({
  options: {
    "no-page": { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    cache: { type: "string" },
    clips: { type: "string" },
    only: { type: "string" },
    "eot-bench": { type: "string" },
  },
});

await initResampler(nodeProcess);
const [scorer, tts] = await Promise.all([
  Scorer.open(values.cache ?? null),
  // A busy machine makes the run slower, and must not end it.
  openEspeakTts({ log: () => {}, limits: { startTimeoutMs: 120_000, pieceTimeoutMs: 120_000 } }),
]);
const startedMs = performance.now();
try {
  if (values["eot-bench"] === undefined) await ownBench();
  else console.log(await eotBench(values["eot-bench"], scorer));
} finally {
  await tts.close();
}

async function ownBench(): Promise<void> {
  const clips = [...(await recordedClips(values.clips ?? null)), ...(await syntheticClips(tts))];
  const parts: readonly (readonly [Result["kind"], () => Promise<Result[]>])[] = [
    ["pause", () => pauses(clips, scorer)],
    ["end", () => ends(clips, scorer)],
    ["listening", () => listening(tts, scorer)],
    ["noise", () => noises(tts, scorer)],
    ["interruption", () => interruptions(clips, tts, scorer)],
  ];
  const chosen = values.only?.split(",");
  const results: Result[] = [];
  for (const [kind, run] of parts)
    if (chosen?.includes(kind) ?? true) {
      console.error(kind);
      results.push(...(await run()));
    }
  if (values.all) for (const result of results.filter(failed)) showFailed(result);
  const tookS = (performance.now() - startedMs) / 1_000;
  const machine = `${cpus()[0]?.model ?? "unknown"}, ${String(cpus().length)} cores, Node ${process.version}`;
  const cases = `${String(results.length)} cases, ${new Date().toISOString().slice(0, 10)}, ${machine}.`;
  const table = `${tableOf(results)}\n\n${cases} ${speakersOf(clips)}.`;
  console.log(`${table}\n${tookS.toFixed(0)} s`);
  if (!values["no-page"] && chosen === undefined) writePage(table);
}

function showFailed(result: Result): void {
  const { kind, of, column, style, sttMs, name, intoAgentMs } = result;
  const wait = waitMs(result);
  console.log(
    [kind, of, column, style, `${String(sttMs)} ms`, intoAgentMs ?? "", name, wait ?? "no answer"].join(
      " · ",
    ),
  );
}

function writePage(table: string): void {
  const page = new URL("../../../../docs/turn-taking.md", import.meta.url);
  const text = readFileSync(page, "utf8");
  const [begin, end] = ["<!-- bench:turns -->", "<!-- /bench:turns -->"];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to === -1) throw new Error("docs/turn-taking.md has lost its markers");
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`);
}
