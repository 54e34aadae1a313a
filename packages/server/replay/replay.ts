/**
 * `npm run replay -- <event log>`: runs the events of a stored call through the engine again, checks every invariant
 * and prints what happened. The file is what `GET /api/calls/{call_id}/event_log` answers, or one of
 * `fixtures/event-logs`. Options: `--from` and `--to` (ms of the call's clock) choose what is printed, `--states`
 * prints every change of the engine's state, `--fixture <name>` writes the call to `fixtures/event-logs/calls`, where
 * the tests replay it from then on. Exits with 1 when an invariant breaks, with 2 when the file cannot be replayed.
 */

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { describeStep } from "./describe.ts";
import { fixtureOf, fixtureUrl, isFixtureName } from "./fixture.ts";
import { readLog, type ReadLog } from "./read-log.ts";
import { replayLog, type ReplayedStep } from "./run.ts";

/** A million events of some hundred characters; a larger file is not one of our logs. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const EXIT_BROKEN = 1;
const EXIT_UNUSABLE = 2;

interface ReplayOptions {
  readonly file: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly states: boolean;
  readonly fixture: string | null;
}

function readArguments(): ReplayOptions {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      from: { type: "string" },
      to: { type: "string" },
      states: { type: "boolean", default: false },
      fixture: { type: "string" },
    },
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new Error("name one file: npm run replay -- <event log>");
  const { fixture = null } = values;
  if (fixture !== null && !isFixtureName(fixture)) {
    throw new Error("the name of a fixture has small letters, digits and hyphens only");
  }
  const fromMs = milliseconds("--from", values.from) ?? 0;
  const toMs = milliseconds("--to", values.to) ?? Infinity;
  return { file, fromMs, toMs, states: values.states, fixture };
}

function milliseconds(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,12}$/.test(text)) throw new Error(`${option} is a number of milliseconds`);
  return Number(text);
}

function run(replayOptions: ReplayOptions): number {
  if (statSync(replayOptions.file).size > MAX_FILE_BYTES)
    throw new Error("the file is too large for an event log");
  const log = readLog(readFileSync(replayOptions.file, "utf8"));
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const { callId, medium } = log.plan;
  print(`call ${callId}, ${medium.kind}, ${String(log.events.length)} events`);
  const kept: ReplayedStep[] = [];
  const { broken, last } = replayLog(log, (step) => {
    if (replayOptions.fixture !== null) kept.push(step);
    const { atMs } = step.event;
    if (step.broken.length === 0 && (atMs < replayOptions.fromMs || atMs > replayOptions.toMs)) return;
    for (const line of describeStep(step, replayOptions.states)) print(line);
  });
  for (const note of log.notes) print(`note: ${note}`);
  print(`ended as: ${last === null ? "no event" : JSON.stringify(last.phase)}`);
  if (replayOptions.fixture !== null) writeFixture(replayOptions.fixture, log, kept, print);
  print(broken === 0 ? "every invariant holds" : `${String(broken)} broken invariants`);
  return broken === 0 ? 0 : EXIT_BROKEN;
}

function writeFixture(
  name: string,
  log: ReadLog,
  steps: readonly ReplayedStep[],
  print: (line: string) => void,
): void {
  const url = fixtureUrl(name);
  writeFileSync(url, fixtureOf(name, log, steps));
  print(`written: ${url.pathname}`);
}

try {
  process.exitCode = run(readArguments());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT_UNUSABLE;
}
