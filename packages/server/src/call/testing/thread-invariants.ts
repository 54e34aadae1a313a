/** What must hold of side threads at every step of every call (`SPEC.md`, I21 to I23). */

import type { SnapshotState } from "../adoption/snapshot.ts";
import type { CallEffect } from "../effects.ts";
import { HISTORY_MAX_CHARS, HISTORY_MAX_MESSAGES } from "../history/history.ts";
import type { CallState, TimerKind } from "../state.ts";
import {
  INBOX_MAX,
  SIDE_CALLS_RUNNING_MAX,
  THREADS_FAILED_KEPT,
  THREADS_LIVE_MAX,
} from "../threads/thread-limits.ts";
import { threadCalls, type SideThread } from "../threads/thread-state.ts";
import { CALLS_PER_REPLY } from "../tools/use.ts";

/** What may exceed the characters: a round of calls and results, the last message of the user, and the newest. */
const NEEDED_MESSAGES = 2 * CALLS_PER_REPLY + 3;

export class ThreadChecker {
  #lastId = 0;
  readonly #aborted = new Set<number>();
  /** Threads whose `thread_spawned` clients got, and whose `thread_terminated` they did not. */
  readonly #told = new Set<string>();
  #tokens = { inputTokens: 0, outputTokens: 0 };

  /** @param since a snapshot, where another process had the call before */
  constructor(since: SnapshotState | null = null) {
    for (const { threadId, fault } of since?.sideThreads.list ?? [])
      if (fault === null) this.#told.add(threadId);
  }

  /** The invariants that this effect broke. */
  observe(effect: CallEffect): readonly string[] {
    if (effect.type === "generateSide") {
      const ascends = effect.generationId > this.#lastId;
      this.#lastId = effect.generationId;
      return ascends ? [] : ["I5 ids of side generations ascend"];
    }
    if (effect.type === "abortSide") {
      const { generationId } = effect;
      const isFirst = generationId <= this.#lastId && !this.#aborted.has(generationId);
      this.#aborted.add(generationId);
      return isFirst ? [] : [`I23 side generation ${generationId} is aborted once`];
    }
    if (effect.type === "recordSideTokens") {
      const { inputTokens, outputTokens } = this.#tokens;
      const grows = effect.inputTokens >= inputTokens && effect.outputTokens >= outputTokens;
      this.#tokens = effect;
      return grows ? [] : ["I23 tokens of side threads are never taken back"];
    }
    return effect.type === "sendDataMessage" ? this.#message(effect.message) : [];
  }

  #message(message: Extract<CallEffect, { readonly type: "sendDataMessage" }>["message"]): readonly string[] {
    if (message.type === "thread_spawned") {
      const isNew = !this.#told.has(message.threadId);
      this.#told.add(message.threadId);
      return isNew ? [] : [`I21 ${message.threadId} is spawned while it is live`];
    }
    const isOfLive =
      message.type === "thread_terminated" ||
      message.type === "side_generation_delta" ||
      message.type === "side_generation_completed";
    if (!isOfLive) return [];
    const isTold = this.#told.has(message.threadId);
    if (message.type === "thread_terminated") this.#told.delete(message.threadId);
    return isTold ? [] : [`I21 ${message.type} of a thread that is not live`];
  }

  /** The invariants that the state after a step breaks. */
  broken(state: CallState): readonly string[] {
    const { list } = state.sideThreads;
    const live = list.filter(({ fault }) => fault === null);
    const running = threadCalls(state.sideThreads).filter(({ progress }) => progress.kind === "running");
    const ids = new Set(list.map(({ threadId }) => threadId));
    const rules: readonly (readonly [boolean, string])[] = [
      [ids.size === list.length, "I21 a thread's id is its own"],
      [live.length <= THREADS_LIVE_MAX, "I21 live threads are bounded"],
      [list.length - live.length <= THREADS_FAILED_KEPT, "I21 failed threads are bounded"],
      [running.length <= SIDE_CALLS_RUNNING_MAX, "I21 running calls of threads are bounded"],
      [live.length === this.#told.size, "I21 clients know of every live thread"],
      [state.phase.kind !== "ended" || list.length === 0, "I23 no thread outlives the call"],
    ];
    const broken = rules.flatMap(([holds, what]) => (holds ? [] : [what]));
    return [...broken, ...live.flatMap((thread) => brokenBy(thread, state))];
  }
}

function brokenBy(thread: SideThread, { timers, phase, clock, toolRound, sideThreads }: CallState): string[] {
  const { threadId, generation, round, due, history, inbox, retryAtMs } = thread;
  const chars = history.entries.reduce((sum, { text }) => sum + text.length, 0);
  const isBounded = chars <= HISTORY_MAX_CHARS || history.entries.length <= NEEDED_MESSAGES;
  const has = (kind: TimerKind) => timers[kind] !== undefined;
  const rules: [boolean, string][] = [
    [history.chars === chars, `I21 the characters of ${threadId} are counted`],
    [history.entries.length <= HISTORY_MAX_MESSAGES && isBounded, `I21 messages of ${threadId} are bounded`],
    [inbox.length <= INBOX_MAX, `I21 the inbox of ${threadId} is bounded`],
    [generation === null || round === null, `I23 ${threadId} does one thing at a time`],
  ];
  if (phase.kind !== "live") return rules.flatMap(([holds, what]) => (holds ? [] : [what]));
  const open = round?.calls.filter(({ progress }) => progress.kind !== "answered") ?? [];
  const elsewhere = [...(toolRound?.calls ?? []), ...threadCalls(sideThreads)];
  const lent = open.every((call) => elsewhere.some(({ invocationId }) => invocationId === call.invocationId));
  rules.push(
    [generation === null || has("thread"), `I22 a generation of ${threadId} has a limit`],
    [round === null || open.length > 0, `I22 the results of ${threadId} are taken up`],
    [round === null || round.borrowed || has("tool"), `I22 calls of ${threadId} have a limit`],
    [round?.borrowed !== true || lent, `I22 what ${threadId} has borrowed is under way`],
    [
      !due || round !== null || generation !== null || (retryAtMs > clock.atMs && has("thread")),
      `I22 ${threadId} generates what is due`,
    ],
    [
      inbox.length === 0 || generation !== null || round !== null || due,
      `I22 what ${threadId} was sent is taken up`,
    ],
  );
  return rules.flatMap(([holds, what]) => (holds ? [] : [what]));
}
