/**
 * `npm run sim`: thousands of generated conversations on the virtual clock, every invariant of the engine checked after
 * every step. Options: `--runs 10000`, `--seed 1` (the first seed), `--only <seed>` (one conversation again),
 * `--kind <name>` (repeatable). Exits with 1 when a conversation fails, and prints its seed. With `--cluster` it simulates
 * clusters of nodes instead, see `cluster/main.ts`.
 */

import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { playConversation } from "./conversation.ts";
import { KIND_NAMES, type KindName } from "./kinds.ts";

const DEFAULT_RUNS = 10_000;
/** Limit of one command: about ten minutes of two cores. */
const MAX_RUNS = 1_000_000;
/** Failures shown; the first few are enough. */
const FAILURES_SHOWN = 10;

interface Share {
  readonly firstSeed: number;
  readonly runs: number;
  readonly stride: number;
  readonly kinds: readonly [KindName, ...KindName[]];
}

interface Result {
  readonly runs: number;
  readonly steps: number;
  readonly lastedMs: number;
  readonly perKind: Partial<Record<KindName, number>>;
  readonly failures: readonly string[];
}

function playShare({ firstSeed, runs, stride, kinds }: Share): Result {
  const perKind: Partial<Record<KindName, number>> = {};
  const failures: string[] = [];
  let steps = 0;
  let lastedMs = 0;
  for (let n = 0; n < runs; n += 1) {
    try {
      const played = playConversation(firstSeed + n * stride, kinds);
      steps += played.steps;
      lastedMs += played.lastedMs;
      perKind[played.kind] = (perKind[played.kind] ?? 0) + 1;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  return { runs, steps, lastedMs, perKind, failures };
}

function playElsewhere(share: Share): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => {
      if (code !== 0) reject(new Error(`a worker ended with ${String(code)}`));
    });
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: String(DEFAULT_RUNS) },
      seed: { type: "string", default: "1" },
      only: { type: "string" },
      kind: { type: "string", multiple: true },
    },
  });
  const kinds = chosenKinds(values.kind ?? []);
  if (values.only !== undefined) {
    const played = playConversation(wholeNumber("only", values.only, 0xffff_ffff), kinds);
    console.log(
      `${played.kind}: ${String(played.steps)} steps, ${String(played.lastedMs)} ms; all invariants hold`,
    );
    return;
  }
  const runs = wholeNumber("runs", values.runs, MAX_RUNS);
  const firstSeed = wholeNumber("seed", values.seed, 0xffff_ffff);
  const threads = Math.max(1, Math.min(availableParallelism(), runs));
  const startedMs = performance.now();
  const shares = Array.from({ length: threads }, (_, n): Share => {
    const extra = n < runs % threads ? 1 : 0;
    return { firstSeed: firstSeed + n, runs: Math.floor(runs / threads) + extra, stride: threads, kinds };
  });
  report(await Promise.all(shares.map(playElsewhere)), firstSeed, performance.now() - startedMs);
}

function chosenKinds(names: readonly string[]): readonly [KindName, ...KindName[]] {
  const chosen = names.map((name) => {
    const known = KIND_NAMES.find((kind) => kind === name);
    if (known === undefined) throw new Error(`--kind must be one of ${KIND_NAMES.join(", ")}`);
    return known;
  });
  const [first, ...rest] = chosen;
  return first === undefined ? KIND_NAMES : [first, ...rest];
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max)
    throw new Error(`--${name} must be a whole number up to ${String(max)}`);
  return value;
}

function report(results: readonly Result[], firstSeed: number, tookMs: number): void {
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0);
  const runs = sum((result) => result.runs);
  const failures = results.flatMap((result) => result.failures);
  for (const kind of KIND_NAMES) {
    const count = sum((result) => result.perKind[kind] ?? 0);
    if (count > 0) console.log(`${kind.padEnd(16)}${String(count).padStart(7)}`);
  }
  const hours = sum((result) => result.lastedMs) / 3_600_000;
  const seeds = `seeds ${String(firstSeed)} to ${String(firstSeed + runs - 1)}`;
  console.log(
    `${String(runs)} conversations, ${hours.toFixed(1)} hours of talk, ${String(sum((result) => result.steps))} steps in ` +
      `${(tookMs / 1000).toFixed(1)} s; ${seeds}; ${String(failures.length)} failed`,
  );
  for (const failure of failures.slice(0, FAILURES_SHOWN)) console.log(failure);
  if (failures.length > 0) process.exitCode = 1;
}

if (isMainThread && process.argv.includes("--cluster")) {
  const { simulateClusters } = await import("./cluster/main.ts");
  process.exit(await simulateClusters(process.argv.slice(2)));
} else if (isMainThread) await main();
else parentPort?.postMessage(playShare(workerData as Share), []);
