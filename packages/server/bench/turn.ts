/**
 * `npm run bench:turn`: the time that the service itself adds to a turn, between the end of the turn and the first
 * reply audio on the socket, with the fakes' own delays subtracted.
 */

import { milliseconds, percentile, publish } from "./report.ts";
import { runLoad, speechClip, type TurnFigures } from "./load.ts";
import { startBenchService, type FakeDelays } from "./service.ts";

/** Slower than the endpoint delay, so that the whole path from transcript to audio is in the figure. */
const SLOW: FakeDelays = { sttMs: 20, llmMs: 150, ttsMs: 80 };
/** It is done before the turn ends: only the commit of the reply begun early remains. */
const FAST: FakeDelays = { sttMs: 5, llmMs: 5, ttsMs: 5 };
const CALLS = [1, 50, 100];
const TURN_EVERY_MS = 5_000;
/** A single call needs many turns for a figure; many calls have enough. */
const TURNS_ALONE = 25;
const TURNS_TOGETHER = 5;

const clip = await speechClip("cards_001");
const rows: string[] = [];
for (const [name, delays] of [
  ["engines slower than the endpoint delay", SLOW],
  ["engines faster than the endpoint delay", FAST],
] as const) {
  const service = await startBenchService(delays);
  try {
    for (const calls of CALLS) {
      const turns = calls === 1 ? TURNS_ALONE : TURNS_TOGETHER;
      const load = {
        rest: service.rest,
        calls,
        turns,
        turnEveryMs: TURN_EVERY_MS,
        spreadMs: TURN_EVERY_MS,
        clip,
      };
      service.takeFigures();
      const result = await runLoad(load);
      const loop = percentile(
        service.takeFigures().map((second) => second.loopP99Ms),
        0.5,
      );
      const added = result.figures.flatMap((turn) => addedMs(turn, delays));
      rows.push(
        `| ${name} | ${String(calls)} | ${String(added.length)} | ${milliseconds(percentile(added, 0.5))} | ` +
          `${milliseconds(percentile(added, 0.99))} | ${milliseconds(loop)} | ${String(result.failedTurns + result.failedCalls)} |`,
      );
      console.log(rows.at(-1));
    }
  } finally {
    await service.stop();
  }
}

await publish(
  "bench:turn",
  `| fakes | calls at once | turns | added p50, ms | added p99, ms | event loop p99, ms | failed |
|---|---|---|---|---|---|---|
${rows.join("\n")}`,
);

/** Beyond the later of the end of the turn and the moment at which ideal engines would have had audio. */
function addedMs(turn: TurnFigures, delays: FakeDelays): number[] {
  if (turn.firstPlayedMs === null || turn.transcriptFinalMs === null) return [];
  const audioMs = turn.transcriptFinalMs + delays.llmMs + delays.ttsMs;
  return [turn.firstPlayedMs - Math.max(turn.endOfTurnMs, audioMs)];
}
