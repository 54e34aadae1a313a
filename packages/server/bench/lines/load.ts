/**
 * Calls at 8 kHz that all live at the same time, each with a turn every 6 s, and what they cost in a window in which
 * none of them begins or ends.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import nodeProcess from "node:process";
import { initResampler, Resampler } from "../../src/media/resample.ts";
import { makeAgent, pause, SAMPLE_RATE_HZ, speechClip } from "../load.ts";
import { percentile } from "../report.ts";
import type { BenchService } from "../service.ts";
import { openLine, type Line } from "./line.ts";
import { FRAME_MS, LINE_RATE_HZ, recordedFor, type LineMedium } from "./recorded.ts";
import { cpuSecondsOf, cpuShares } from "./thread-cpu.ts";

export const TURN_EVERY_MS = 6_000;
/** A gap longer than this ends an utterance. */
const UTTERANCE_GAP_MS = 300;
/** The service sends this many frames of an utterance at once, to be 200 ms ahead. */
const BURST_FRAMES = 12;
const LOOP_RESOLUTION_MS = 1;

const MEDIA: Readonly<Record<LineMedium, object>> = {
  telephony1: { telephony1: {} },
  serverWebSocket: { serverWebSocket: { inputSampleRate: LINE_RATE_HZ, clientBufferSizeMs: 200 } },
};

export interface LoadFigures {
  /** Deviation of the distance between two frames from 20 ms, seen by the callers. */
  readonly jitterMs: readonly number[];
  readonly unanswered: number;
  /** Of the service's main thread, median second. */
  readonly loopP99Ms: number;
  /** Of one core, over the window. */
  readonly cpuShare: number;
  /** The same of the threads by name, where the system tells. */
  readonly threads: ReadonlyMap<string, number>;
  /** Sent to the database, in a second. */
  readonly statementsPerS: number;
  /** Of all calls, from their beginnings to their ends. */
  readonly statementsPerCall: number;
  /** Calls that could not be made or joined, with the first cause. */
  readonly refused: { readonly calls: number; readonly cause: string | null };
  /** Calls that the service has ended by itself, by end reason. */
  readonly ended: ReadonlyMap<string, number>;
  /** The callers, which share the cores with the service: what they take, and how late they are themselves. */
  readonly callers: { readonly cpuShare: number; readonly loopP99Ms: number };
}

export async function clipAtLineRate(): Promise<Int16Array> {
  await initResampler(nodeProcess);
  const resampler = new Resampler(SAMPLE_RATE_HZ, LINE_RATE_HZ);
  const clip = resampler.push(await speechClip("cards_001")).slice();
  resampler.close();
  return clip;
}

/** One caller: counts the frames that it hears, and the turns that were not answered. */
class Caller {
  jitterMs: number[] = [];
  unanswered = 0;
  #line: Line | null = null;
  #lastMs = Number.NEGATIVE_INFINITY;
  #inUtterance = 0;
  #frames = 0;
  #before = -1;

  async open(joinUrl: string, recorded: ReturnType<typeof recordedFor>): Promise<void> {
    this.#line = await openLine(joinUrl, recorded, { audio: (atMs) => this.#heard(atMs) });
  }

  /** Begins the next turn, and looks whether the last one was answered. */
  turn(): void {
    if (this.#frames === this.#before) this.unanswered += 1;
    this.#before = this.#frames;
    this.#line?.say();
  }

  /** Forgets what was measured so far. */
  restart(): void {
    this.jitterMs = [];
    this.unanswered = 0;
  }

  async hangUp(): Promise<void> {
    await this.#line?.hangUp();
  }

  #heard(atMs: number): void {
    const gapMs = atMs - this.#lastMs;
    this.#lastMs = atMs;
    this.#frames += 1;
    this.#inUtterance = gapMs > UTTERANCE_GAP_MS ? 1 : this.#inUtterance + 1;
    if (this.#inUtterance > BURST_FRAMES) this.jitterMs.push(Math.abs(gapMs - FRAME_MS));
  }
}

export interface LoadOptions {
  readonly medium: LineMedium;
  readonly calls: number;
  readonly clip: Int16Array;
  /** How many turns of each call are measured. */
  readonly turns: number;
}

/** Work after the end of calls, and the last line of figures. */
const SETTLE_MS = 3_000;

/** Takes one turn longer than those that are measured, and some seconds: the calls begin in the first turn. */
export async function measuredLoad(service: BenchService, options: LoadOptions): Promise<LoadFigures> {
  const { medium, calls, clip, turns } = options;
  const recorded = recordedFor(medium, clip);
  const agentId = await makeAgent(service.rest, { medium: MEDIA[medium] });
  const callers = Array.from({ length: calls }, () => new Caller());
  service.takeEnded();
  const statementsBefore = service.statements();
  const startedMs = performance.now();
  const talk = async (caller: Caller, index: number): Promise<void> => {
    const phaseMs = (TURN_EVERY_MS * index) / calls;
    const until = (turn: number) => pause(startedMs + phaseMs + turn * TURN_EVERY_MS - performance.now());
    await until(0);
    const { joinUrl } = await service.rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
    await caller.open(joinUrl, recorded);
    for (let turn = 0; turn <= turns; turn += 1) {
      await until(turn);
      caller.turn();
    }
    await until(turns + 1);
    caller.turn();
    await caller.hangUp();
  };
  const talking = Promise.allSettled(callers.map(talk));
  const figures = await inWindow(service, callers, { startedMs, turns });
  const failures = (await talking).flatMap((talked) =>
    talked.status === "rejected" ? [String(talked.reason)] : [],
  );
  await pause(SETTLE_MS);
  return {
    ...figures,
    unanswered: callers.reduce((sum, caller) => sum + caller.unanswered, 0),
    statementsPerCall: (service.statements() - statementsBefore) / calls,
    refused: { calls: failures.length, cause: failures[0] ?? null },
    ended: service.takeEnded(),
  };
}

async function inWindow(
  service: BenchService,
  callers: readonly Caller[],
  { startedMs, turns }: { readonly startedMs: number; readonly turns: number },
): Promise<Omit<LoadFigures, "unanswered" | "statementsPerCall" | "refused" | "ended">> {
  await pause(startedMs + TURN_EVERY_MS - performance.now());
  for (const caller of callers) caller.restart();
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  service.takeFigures();
  const [fromMs, own, before] = [performance.now(), process.cpuUsage(), await cpuSecondsOf(service.pid)];
  await pause(turns * TURN_EVERY_MS);
  const after = await cpuSecondsOf(service.pid);
  const used = process.cpuUsage(own);
  const tookMs = performance.now() - fromMs;
  loop.disable();
  const seconds = service.takeFigures();
  const shares = seconds.map(({ cpuShare }) => cpuShare);
  const threads = cpuShares(before, after, tookMs);
  return {
    jitterMs: callers.flatMap(({ jitterMs }) => jitterMs),
    loopP99Ms: percentile(
      seconds.map(({ loopP99Ms }) => loopP99Ms),
      0.5,
    ),
    cpuShare: threads.get("all") ?? shares.reduce((sum, share) => sum + share, 0) / shares.length,
    threads,
    statementsPerS: (seconds.reduce((sum, { statements }) => sum + statements, 0) * 1_000) / tookMs,
    callers: {
      cpuShare: (used.user + used.system) / 1_000 / tookMs,
      loopP99Ms: Math.max(0, loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
    },
  };
}
