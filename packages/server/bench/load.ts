/** Callers in this process against a service in another: real websockets, recorded speech, real-time pace. */

import { fileURLToPath } from "node:url";
import { FRAME_MS, openCaller, type Caller, type CallerMessage } from "../demo/caller.ts";
import type { Rest } from "../demo/child-service.ts";
import { readClip } from "../demo/clips.ts";

export const SAMPLE_RATE_HZ = 16_000;
/** A turn without an answer after this time has failed. */
const ANSWER_LIMIT_MS = 15_000;

/** The extras of `turn.completed`: ms after the caller's last sound. */
export interface TurnFigures {
  readonly endOfTurnMs: number;
  readonly transcriptFinalMs: number | null;
  readonly firstPlayedMs: number | null;
}

export interface LoadOptions {
  readonly rest: Rest;
  readonly calls: number;
  readonly turns: number;
  /** From one turn's beginning to the next. */
  readonly turnEveryMs: number;
  /** The starts of the calls are spread over this time. */
  readonly spreadMs: number;
  readonly clip: Int16Array;
}

export interface LoadResult {
  readonly figures: TurnFigures[];
  /** Deviation from the even 20 ms of each frame's distance to the one before, within one utterance. */
  readonly jitterMs: number[];
  readonly failedTurns: number;
  readonly failedCalls: number;
}

export function speechClip(name: string): Promise<Int16Array> {
  const file = fileURLToPath(new URL(`../../../fixtures/speech/${name}.wav`, import.meta.url));
  return readClip(file).then((clip) => clip.samples);
}

export async function makeAgent(
  rest: Rest,
  template: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const agent = await rest<{ agentId: string }>("POST", "/api/agents", {
    name: "bench",
    callTemplate: {
      medium: { serverWebSocket: { inputSampleRate: SAMPLE_RATE_HZ, dataMessages: { callEvent: true } } },
      firstSpeakerSettings: { user: {} },
      ...template,
    },
  });
  return agent.agentId;
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const agentId = await makeAgent(options.rest);
  const result: LoadResult & { failedTurns: number; failedCalls: number } = {
    figures: [],
    jitterMs: [],
    failedTurns: 0,
    failedCalls: 0,
  };
  const one = async (index: number): Promise<void> => {
    await pause((options.spreadMs * index) / options.calls);
    try {
      result.failedTurns += await oneCall(options, agentId, result);
    } catch (error) {
      console.error(String(error));
      result.failedCalls += 1;
    }
  };
  await Promise.all(Array.from({ length: options.calls }, (_, index) => one(index)));
  return result;
}

/** @returns the number of turns without an answer. */
async function oneCall(options: LoadOptions, agentId: string, result: LoadResult): Promise<number> {
  const call = await options.rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
  let completed = 0;
  let wake: () => void = () => undefined;
  const frames = new FrameTimes(result.jitterMs);
  const caller = await openCaller({
    joinUrl: call.joinUrl,
    sampleRateHz: SAMPLE_RATE_HZ,
    onAudio: (_frame, atMs) => frames.arrived(atMs),
    onMessage(message) {
      const figures = turnFigures(message);
      if (figures === null) return;
      result.figures.push(figures);
      completed += 1;
      wake();
    },
  });
  let failed = 0;
  for (let turn = 1; turn <= options.turns; turn++) {
    const startedMs = performance.now();
    await caller.say(options.clip);
    const answered = new Promise<void>((resolve) => (wake = resolve));
    if (completed < turn - failed) await Promise.race([answered, pause(ANSWER_LIMIT_MS), caller.closed]);
    if (completed < turn - failed) failed += 1;
    await pause(options.turnEveryMs - (performance.now() - startedMs));
  }
  await endCall(caller);
  return failed;
}

export async function endCall(caller: Caller): Promise<void> {
  caller.hangUp();
  await caller.closed;
}

/** Null: the message is another one. */
export function turnFigures(message: CallerMessage): TurnFigures | null {
  if (message.type !== "call_event") return null;
  const event = message["event"] as { type: string; extras: unknown };
  return event.type === "turn.completed" ? (event.extras as TurnFigures) : null;
}

/** A gap longer than this ends an utterance; 5 frames, more than any jitter worth measuring. */
const UTTERANCE_GAP_MS = 100;
/** The service sends this many frames of an utterance at once, to fill the client's buffer of 60 ms. */
const BURST_FRAMES = 4;

class FrameTimes {
  readonly #jitterMs: number[];
  #lastMs = Number.NEGATIVE_INFINITY;
  #inUtterance = 0;

  constructor(jitterMs: number[]) {
    this.#jitterMs = jitterMs;
  }

  arrived(atMs: number): void {
    const gapMs = atMs - this.#lastMs;
    this.#lastMs = atMs;
    this.#inUtterance = gapMs > UTTERANCE_GAP_MS ? 1 : this.#inUtterance + 1;
    if (this.#inUtterance > BURST_FRAMES) this.#jitterMs.push(Math.abs(gapMs - FRAME_MS));
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, Math.max(0, ms)));
}
