/** The table of `docs/turn-taking.md`: development and test side by side. */

import type { Clip, Column } from "./clips.ts";
import { STT_USUAL_MS, type Result } from "./cases.ts";
import { quantilesText, shareText } from "./statistics.ts";

/** An answer later than this after the last word is a missed end. */
const MISSED_MS = 3_000;
/** Speech over the agent counts for the time to silence from here on: before, echo is still unknown. */
const SETTLED_MS = 1_000;

const COLUMNS: readonly Column[] = ["development", "test"];

export function isCutOff({ outcome, track }: Result): boolean {
  return outcome.spokeMs.some((atMs) => atMs < track.endMs);
}

export function waitMs({ outcome, track }: Result): number | null {
  const answer = outcome.spokeMs.find((atMs) => atMs >= track.endMs);
  return answer === undefined ? null : answer - track.endMs;
}

/** Whether a case went wrong. */
export function failed(result: Result): boolean {
  const wait = waitMs(result);
  switch (result.kind) {
    case "pause":
      return isCutOff(result);
    case "end":
      return wait === null || wait > MISSED_MS || isCutOff(result);
    case "listening":
      return result.outcome.cut;
    case "noise":
      return !result.outcome.heardOut;
    case "interruption":
      break;
  }
  return !result.outcome.cut;
}

type Row = readonly [label: string, cell: (results: readonly Result[]) => string];

function shareRow(
  label: string,
  is: (result: Result) => boolean,
  wrong: (result: Result) => boolean = failed,
): Row {
  return [
    label,
    (results) => {
      const cases = results.filter(is);
      return shareText(cases.filter(wrong).length, cases.length);
    },
  ];
}

function waitRow(label: string, is: (result: Result) => boolean): Row {
  return [
    label,
    (results) =>
      quantilesText(
        results
          .filter((result) => result.kind === "end" && result.sttMs === STT_USUAL_MS && is(result))
          .flatMap((result) => waitMs(result) ?? []),
      ),
  ];
}

const inPause =
  (voice: Clip["voice"], style: Result["style"] | null, from: number, to: number) => (of: Result) =>
    of.kind === "pause" &&
    of.voice === voice &&
    (style === null || of.style === style) &&
    (of.pauseMs ?? 0) >= from &&
    (of.pauseMs ?? 0) < to;

const ROWS: readonly Row[] = [
  shareRow("**pauses up to 1 s**, recorded voices: the agent spoke", inPause("recorded", null, 0, 1_000)),
  shareRow("– punctuated text", inPause("recorded", "punctuated", 0, 1_000)),
  shareRow("– bare text", inPause("recorded", "bare", 0, 1_000)),
  shareRow("pauses of 1 to 1.5 s, recorded voices", inPause("recorded", null, 1_000, 9_000)),
  shareRow("**pauses up to 1 s**, synthetic voices: the agent spoke", inPause("synthetic", null, 0, 1_000)),
  shareRow("– punctuated text", inPause("synthetic", "punctuated", 0, 1_000)),
  shareRow("– bare text", inPause("synthetic", "bare", 0, 1_000)),
  shareRow("– of 0.2 to 0.5 s", inPause("synthetic", null, 0, 500)),
  shareRow("– of 0.5 to 1 s", inPause("synthetic", null, 500, 1_000)),
  shareRow("pauses of 1 to 1.5 s, synthetic voices", inPause("synthetic", null, 1_000, 9_000)),
  ...(["sentence", "answer", "list", "number", "spelled", "hesitation"] as const).map((kind) =>
    shareRow(
      `– pauses up to 1 s, ${kind}`,
      (of) => inPause("synthetic", null, 0, 1_000)(of) && of.of === kind,
    ),
  ),
  shareRow("**ends**: cut off, or no answer within 3 s", ({ kind }) => kind === "end"),
  waitRow("wait after a sentence, p50 / p95 (recorded)", (of) => of.voice === "recorded"),
  waitRow(
    "– synthetic, punctuated",
    ({ voice, of, style }) => voice === "synthetic" && of === "sentence" && style === "punctuated",
  ),
  waitRow(
    "– synthetic, bare",
    ({ voice, of, style }) => voice === "synthetic" && of === "sentence" && style === "bare",
  ),
  waitRow("wait after a short answer", ({ of }) => of === "answer"),
  waitRow("wait after lists, numbers, spelling, hesitations", ({ of }) =>
    ["list", "number", "spelled", "hesitation"].includes(of),
  ),
  shareRow("**listening words** that cut the agent", ({ kind }) => kind === "listening"),
  shareRow("– drawn out to 1.4 s", ({ kind, of }) => kind === "listening" && of === "drawn out"),
  ...(["coughs", "laughter", "clicks", "music", "a distant voice"] as const).map((sound) =>
    shareRow(`${sound}: the agent's words were lost`, ({ kind, of }) => kind === "noise" && of === sound),
  ),
  shareRow("**interruptions** that were not taken", ({ kind }) => kind === "interruption"),
  [
    "silence after the interruption began, p50 / p95",
    (results) =>
      quantilesText(
        results
          .filter(({ kind, intoAgentMs }) => kind === "interruption" && (intoAgentMs ?? 0) >= SETTLED_MS)
          .flatMap(({ outcome, track }) =>
            outcome.pausedMs === null ? [] : [outcome.pausedMs - track.startMs],
          ),
      ),
  ],
];

export function tableOf(results: readonly Result[]): string {
  const columns = COLUMNS.map((column) => results.filter((result) => result.column === column));
  const lines = ROWS.map(([label, cell]) => `| ${label} | ${columns.map(cell).join(" | ")} |`);
  return ["| | development | test |", "| --- | --- | --- |", ...lines].join("\n");
}

/** Who speaks in each column: few people, so the intervals say too little about other voices. */
export function speakersOf(clips: readonly Clip[]): string {
  const of = (column: Column, voice: Clip["voice"]) => {
    const chosen = clips.filter((clip) => clip.column === column && clip.voice === voice);
    const speakers = new Set(chosen.map(({ speaker }) => speaker)).size;
    return `${String(chosen.length)} clips of ${String(speakers)} ${voice} voices`;
  };
  return COLUMNS.map((column) => `${column}: ${of(column, "recorded")}, ${of(column, "synthetic")}`).join(
    "; ",
  );
}
