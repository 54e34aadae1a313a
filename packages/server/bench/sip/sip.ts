/**
 * `npm run bench:sip`: how many calls over SIP with G.711 one process holds, each with a turn every 6 s; the time to the
 * answer of an INVITE; the CPU of a call beside that of a call over `serverWebSocket` at the same rate; and what a flood
 * of INVITEs of a refused source costs the calls. sipp (Debian package `sip-tester`) calls, signals and sends recorded
 * speech by RTP; a few calls of the benchmark's own measure what is heard. All of them share the cores with the service.
 * A call that is refused or that the service ends is counted, and the run goes on; it takes about five minutes.
 * BENCH_CALLS (such as 20,40) and BENCH_TURNS change it. With DATABASE_URL and SECRETS_KEY, PostgreSQL is the database: give it
 * one of its own. With BENCH_PROFILE, the folder for it, the service writes a CPU profile of each of its threads. Then, and with
 * `--no-page`, docs/benchmarks.md stays as it is.
 */

import { endedCell } from "../lines/ended-calls.ts";
import { clipAtLineRate, measuredLoad, TURN_EVERY_MS } from "../lines/load.ts";
import type { LineMedium } from "../lines/recorded.ts";
import { cpuSecondsOf, cpuShares, type CpuSeconds } from "../lines/thread-cpu.ts";
import { pause } from "../load.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { startFlood } from "./flood.ts";
import { openProbeCalls, type Heard, type ProbeCalls } from "./probe-calls.ts";
import { startServiceWithSip, type SipBenchService } from "./service-with-sip.ts";
import { startSippCallers, type SippCallers } from "./sipp-callers.ts";

const CALLS = (process.env["BENCH_CALLS"] ?? "50,100,150,200").split(",").map(Number);
const TURNS = Number(process.env["BENCH_TURNS"] ?? 2);
const WINDOW_MS = TURNS * TURN_EVERY_MS;
/** Of each step, in place of calls of sipp. */
const PROBES = 10;
const FLOOD_PER_SECOND = 2_000;
/** Code is compiled, and buffers have grown. */
const WARM_CALLS = 20;
/** Calls of the comparison and of the flood, or those of the first step if there is no such step. */
const COMPARED_CALLS = 100;
const PROFILE = process.env["BENCH_PROFILE"];
const HAS_PAGE = PROFILE === undefined && !process.argv.includes("--no-page");

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
const perCall = (share: number, calls: number): string => milliseconds((share / calls) * 1_000);
const p99 = (values: readonly number[]): string => milliseconds(percentile(values, 0.99));

interface Window {
  readonly heard: Heard;
  readonly share: number;
  readonly callersShare: number;
  readonly threads: ReadonlyMap<string, number>;
  readonly loopP99Ms: number;
  /** Sent to the database, in a second. */
  readonly statementsPerS: number;
}

async function inWindow(service: SipBenchService, sipp: SippCallers, probes: ProbeCalls): Promise<Window> {
  const read = (): Promise<[CpuSeconds, CpuSeconds, CpuSeconds]> =>
    Promise.all([cpuSecondsOf(service.pid), cpuSecondsOf(sipp.pid), cpuSecondsOf(process.pid)]);
  probes.take();
  service.takeFigures();
  const [fromMs, before] = [performance.now(), await read()];
  await pause(WINDOW_MS);
  const after = await read();
  const tookMs = performance.now() - fromMs;
  const [threads, callers, own] = ([0, 1, 2] as const).map((at) => cpuShares(before[at], after[at], tookMs));
  const all = (shares: ReadonlyMap<string, number> | undefined): number => shares?.get("all") ?? Number.NaN;
  const seconds = service.takeFigures();
  return {
    heard: probes.take(),
    share: all(threads),
    callersShare: all(callers) + all(own),
    threads: threads ?? new Map<string, number>(),
    loopP99Ms: percentile(
      seconds.map(({ loopP99Ms }) => loopP99Ms),
      0.5,
    ),
    statementsPerS: (seconds.reduce((sum, { statements }) => sum + statements, 0) * 1_000) / tookMs,
  };
}

interface Step {
  readonly calls: number;
  readonly quiet: Window;
  /** Null: there was no flood in this step. */
  readonly flooded: (Window & { readonly answers: number; readonly sent: number }) | null;
  readonly setUpsMs: readonly number[];
  /** Calls that were refused or lost, as the callers have seen it. */
  readonly failed: number;
  /** Calls that the service has ended, by end reason. */
  readonly ended: ReadonlyMap<string, number>;
  readonly statementsPerCall: number;
}

/** Work after the end of calls, and the last line of figures. */
const SETTLE_MS = 3_000;

/** Begins the calls within one turn, and measures as soon as all of them talk. */
async function step(
  service: SipBenchService,
  calls: number,
  clip: Int16Array,
  hasFlood: boolean,
): Promise<Step> {
  const measuredMs = WINDOW_MS * (hasFlood ? 2 : 1);
  const holdMs = measuredMs + TURN_EVERY_MS;
  const own = Math.min(PROBES, calls - 1);
  service.takeEnded();
  const statementsBefore = service.statements();
  const load = { calls: calls - own, rampMs: TURN_EVERY_MS, holdMs, clip };
  const sipp = await startSippCallers(service, load);
  const probes = await openProbeCalls(service, own, clip);
  // Replies that began before the window are left out of it.
  await pause(TURN_EVERY_MS / (own + 1));
  const quiet = await inWindow(service, sipp, probes);
  let flooded: Step["flooded"] = null;
  if (hasFlood) {
    const flood = await startFlood(service, FLOOD_PER_SECOND);
    const window = await inWindow(service, sipp, probes);
    flooded = { ...window, ...(await flood.stop()) };
  }
  const lost = probes.lost();
  await probes.close();
  const { setUpsMs, failed, problem } = await sipp.done;
  if (problem !== null) console.log(`  ${problem}`);
  await pause(SETTLE_MS);
  return {
    calls,
    quiet,
    flooded,
    setUpsMs,
    failed: failed + lost,
    ended: service.takeEnded(),
    statementsPerCall: (service.statements() - statementsBefore) / calls,
  };
}

/** Null: it could not be measured. The next one may be. */
async function triedStep(...parameters: Parameters<typeof step>): Promise<Step | null> {
  try {
    return await step(...parameters);
  } catch (error) {
    console.log(`  ${String(parameters[1])} calls were not measured: ${String(error)}`);
    return null;
  }
}

function threadsOf(threads: ReadonlyMap<string, number>): string {
  return [...threads]
    .filter(([, share]) => share >= 0.01)
    .sort(([, one], [, other]) => other - one)
    .map(([name, share]) => `${name} ${percent(share)}`)
    .join(", ");
}

function rowOf({ calls, quiet, setUpsMs, failed, ended }: Step): string {
  const { heard, share, callersShare, loopP99Ms } = quiet;
  const shortest = Math.min(...heard.repliesMs);
  const cells = [
    String(calls),
    milliseconds(percentile(setUpsMs, 0.5)),
    p99(setUpsMs),
    milliseconds(percentile(heard.jitterMs, 0.5)),
    p99(heard.jitterMs),
    p99(heard.repliesMs.map((ms) => ms - shortest)),
    milliseconds(loopP99Ms),
    percent(share),
    perCall(share, calls),
    percent(callersShare),
    quiet.statementsPerS.toFixed(0),
    String(failed),
    endedCell(ended),
  ];
  return `| ${cells.join(" | ")} |`;
}

function floodRows(flood: Step | null): string {
  if (flood === null || flood.flooded === null) return "| not measured | – | – | – | – |";
  const { quiet, flooded } = flood;
  const row = (name: string, { heard, share, loopP99Ms }: Window, answers: string): string =>
    `| ${name} | ${p99(heard.jitterMs)} | ${milliseconds(loopP99Ms)} | ${percent(share)} | ${answers} |`;
  const answers = `${String(flooded.answers)} of ${String(flooded.sent)}`;
  return `${row("none", quiet, "–")}\n${row(`${String(FLOOD_PER_SECOND)} a second`, flooded, answers)}`;
}

/** Both at the same rate as the calls over SIP. */
const OTHER_MEDIA = ["serverWebSocket", "telephony1"] as const;

interface Compared {
  readonly medium: LineMedium;
  readonly share: number;
  readonly statementsPerCall: number;
}

async function otherMedia(service: SipBenchService, calls: number, clip: Int16Array): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const medium of OTHER_MEDIA) {
    const figures = await measuredLoad(service, { medium, calls, clip, turns: TURNS });
    const { cpuShare, statementsPerCall } = figures;
    console.log(`  ${medium}: ${percent(cpuShare)}, ${threadsOf(figures.threads)}`);
    compared.push({ medium, share: cpuShare, statementsPerCall });
  }
  return compared;
}

function comparisonRows(calls: number, steps: readonly Step[], others: readonly Compared[]): string {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanOf = (wanted: LineMedium, value: (compared: Compared) => number): number =>
    mean(others.filter(({ medium }) => medium === wanted).map(value));
  const plain = meanOf("serverWebSocket", ({ share }) => share);
  const row = (name: string, share: number, statements: number): string =>
    `| ${name} | ${percent(share)} | ${(share / plain).toFixed(2)} | ${statements.toFixed(0)} |`;
  const sip = steps.find((one) => one.calls === calls);
  return [
    row("SIP", sip?.quiet.share ?? Number.NaN, sip?.statementsPerCall ?? Number.NaN),
    ...OTHER_MEDIA.map((medium) =>
      row(
        `\`${medium}\``,
        meanOf(medium, ({ share }) => share),
        meanOf(medium, ({ statementsPerCall }) => statementsPerCall),
      ),
    ),
  ].join("\n");
}

async function measure(service: SipBenchService): Promise<string> {
  const clip = await clipAtLineRate();
  await triedStep(service, Math.min(WARM_CALLS, CALLS[0] ?? 1), clip, false);
  const compared = CALLS.includes(COMPARED_CALLS) ? COMPARED_CALLS : (CALLS[0] ?? 1);
  const others = await otherMedia(service, compared, clip);
  const steps: Step[] = [];
  for (const calls of CALLS) {
    const taken = await triedStep(service, calls, clip, false);
    if (taken === null) continue;
    steps.push(taken);
    console.log(rowOf(taken));
    console.log(`  ${threadsOf(taken.quiet.threads)}`);
  }
  others.push(...(await otherMedia(service, compared, clip)));
  const flood = await triedStep(service, compared, clip, true);
  return `| calls at once | set-up p50, ms | p99, ms | jitter p50, ms | p99, ms | gaps in a reply p99, ms | event loop p99, ms | CPU (of one core) | per call and second, ms | callers: CPU | statements a second | calls that failed | ended by the service |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
${steps.map(rowOf).join("\n")}

${String(compared)} calls over each medium at 8 kHz, by turns (the other media before and after the steps):

| medium | CPU (of one core) | times \`serverWebSocket\` | statements for each call |
|---|---|---|---|
${comparisonRows(compared, steps, others)}

| INVITEs of a refused source, with ${String(compared)} calls | jitter p99, ms | event loop p99, ms | CPU (of one core) | answers |
|---|---|---|---|---|
${floodRows(flood)}`;
}

const profiling =
  PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILE}`, "--cpu-prof-interval=500"];
const service = await startServiceWithSip(profiling);
try {
  const page = await measure(service);
  if (HAS_PAGE) await publish("bench:sip", page);
  else console.log(page);
} finally {
  await service.stop();
}
