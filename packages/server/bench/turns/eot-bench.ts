/**
 * Reads the data of LiveKit's eot-bench (https://github.com/livekit/eot-bench) and plays its turns: complete turns of
 * people who talk with an agent, with every silence in them. The final silence of a row is the end of the turn; the
 * agent must not speak in the others. The published data is Parquet, which is exported first, as docs/turn-taking.md
 * says: `rows.jsonl`, one row a line with `id`, `language`, `silence_spans`, `words` and `messages` as published, and
 * `audio`, the path of a 16 kHz mono WAV file.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readSpeechFile } from "../../src/ports/testing/speech-fixtures.ts";
import type { SpokenWord } from "./clips.ts";
import { play } from "./play.ts";
import { quantilesText, shareText } from "./statistics.ts";
import { layPlain, LEAD_MS, type Scorer } from "./tracks.ts";

/** Shorter silences are not judged by the benchmark either. */
const SPAN_MIN_S = 0.1;
/** The benchmark's own allowance for the recogniser. */
const TRANSCRIPT_LAG_MS = 500;
/** A longer turn is not a turn. */
const TURN_MAX_MS = 120_000;
/** The agent had the time of a word to begin in a span that ends here. */
const SPAN_SLACK_MS = 64;

const Row = z.object({
  id: z.string(),
  language: z.string(),
  audio: z.string(),
  silence_spans: z.array(z.object({ start: z.number(), end: z.number() })).min(1),
  words: z
    .array(
      z.object({
        word: z.string().optional(),
        text: z.string().optional(),
        start: z.number(),
        end: z.number(),
      }),
    )
    .nullish(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).nullish(),
});
type Row = z.infer<typeof Row>;

interface Judged {
  readonly holds: number;
  readonly cutOffs: number;
  readonly waitMs: number | null;
}

/** A table by language of false cut-offs per pause and of the wait at the end. */
export async function eotBench(folder: string, scorer: Scorer): Promise<string> {
  const lines = readFileSync(join(folder, "rows.jsonl"), "utf8").trim().split("\n");
  const byLanguage = new Map<string, Judged[]>();
  for (const line of lines) {
    const row = Row.parse(JSON.parse(line));
    const judged = await playRow(folder, row, scorer);
    byLanguage.set(row.language, [...(byLanguage.get(row.language) ?? []), judged]);
  }
  const rows = [...byLanguage].map(([language, judged]) => {
    const holds = judged.reduce((sum, of) => sum + of.holds, 0);
    const cutOffs = judged.reduce((sum, of) => sum + of.cutOffs, 0);
    const waits = judged.flatMap((of) => of.waitMs ?? []);
    const mean = waits.reduce((sum, ms) => sum + ms, 0) / Math.max(1, waits.length);
    const missed = judged.length - waits.length;
    return `| ${language} | ${String(judged.length)} | ${shareText(cutOffs, holds)} | ${mean.toFixed(0)} ms | ${quantilesText(waits)} | ${String(missed)} |`;
  });
  return [
    "| language | turns | pauses in which the agent spoke | mean wait | wait p50 / p95 | missed ends |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

async function playRow(folder: string, row: Row, scorer: Scorer): Promise<Judged> {
  const spans = row.silence_spans.filter(({ start, end }) => end - start >= SPAN_MIN_S);
  const last = spans.at(-1);
  if (last === undefined) throw new Error(`row ${row.id} has no silence of ${String(SPAN_MIN_S)} s`);
  const words = (row.words ?? []).map(({ word, text, start, end }): SpokenWord => {
    const written = (word ?? text ?? "").trim();
    return { text: written, fromMs: Math.round(1_000 * start), toMs: Math.round(1_000 * end) };
  });
  // Everything after the beginning of the last silence is silence.
  const samples = readSpeechFile(join(folder, row.audio)).slice(0, Math.round(last.start * 16_000));
  if (samples.length > TURN_MAX_MS * 16) throw new Error(`row ${row.id} is longer than two minutes`);
  const [track] = await scorer.tracks([layPlain({ samples, words })]);
  if (track === undefined) throw new Error(`row ${row.id} was not scored`);
  const agent = row.messages?.findLast(({ role }) => role === "assistant")?.content ?? null;
  const outcome = play(track, {
    style: "punctuated",
    sttMs: TRANSCRIPT_LAG_MS,
    partialsMs: null,
    agent,
    intoAgentMs: null,
  });
  const endMs = LEAD_MS + 1_000 * last.start;
  const holds = spans.slice(0, -1);
  const cutOffs = holds.filter(({ start, end }) =>
    outcome.spokeMs.some(
      (atMs) => atMs >= LEAD_MS + 1_000 * start && atMs <= LEAD_MS + 1_000 * end + SPAN_SLACK_MS,
    ),
  );
  const answer = outcome.spokeMs.find((atMs) => atMs >= endMs);
  return {
    holds: holds.length,
    cutOffs: cutOffs.length,
    waitMs: answer === undefined ? null : answer - endMs,
  };
}
