/** The state of side threads: work beside the conversation, without audio. Rules R114 to R118 of SPEC.md. */

import type { History } from "../history/history-state.ts";
import type { ToolCall, ToolProgress, ToolRound } from "../tools/tool-state.ts";

/** Of one thread, in tokens and generations. */
export interface ThreadLimits {
  readonly threadOutputTokenLimit: number;
  readonly threadFuzzyInputTokenLimit: number;
  readonly generationLimit: number;
  readonly generationOutputTokenLimit: number;
  readonly generationFuzzyInputTokenLimit: number;
}

export interface ToolFilter {
  /** Empty: all. */
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
}

export interface SideGeneration {
  readonly generationId: number;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** False: the model must answer without tools, and its calls are ignored. */
  readonly mayCall: boolean;
  readonly requestChars: number;
  /** When the model last sent anything, and when that is checked next. */
  readonly lastSignAtMs: number;
  readonly checkAtMs: number;
}

/** The calls of a generation until each has its result. */
export interface SideRound extends ToolRound {
  /** They are calls of the parent, which were open when the thread was spawned: their results come to both. */
  readonly borrowed: boolean;
}

/** What a thread was sent and has not taken up. */
export type ThreadInput =
  | { readonly kind: "text"; readonly text: string; readonly asks: boolean }
  | { readonly kind: "forced"; readonly text: string; readonly calls: readonly ToolCall[] };

export interface SideThread {
  readonly threadId: string;
  readonly parentId: string;
  /** Why it does nothing more; null: it is live. */
  readonly fault: "failed" | "limit_reached" | null;
  readonly history: History;
  readonly callState: Readonly<Record<string, unknown>>;
  readonly toolFilter: ToolFilter;
  readonly limits: ThreadLimits;
  readonly used: {
    readonly generations: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  };
  /** Rounds of tools since a message from outside. */
  readonly toolRounds: number;
  /** A generation is due. */
  readonly due: boolean;
  /** Failed attempts of the generation that is due, and when the next may begin. */
  readonly failures: number;
  readonly retryAtMs: number;
  readonly generation: SideGeneration | null;
  readonly round: SideRound | null;
  readonly inbox: readonly ThreadInput[];
}

export interface SideThreads {
  /** Live ones, and the latest that have failed, in the order in which they were spawned. */
  readonly list: readonly SideThread[];
  /** Threads, and tool calls of threads, in the call so far. */
  readonly spawned: number;
  readonly toolCalls: number;
  readonly nextGenerationId: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const NO_THREADS: SideThreads = {
  list: [],
  spawned: 0,
  toolCalls: 0,
  nextGenerationId: 1,
  inputTokens: 0,
  outputTokens: 0,
};

export type ThreadStatus = "IDLE" | "GENERATING" | "CALLING_TOOL" | "FAILED";

export function statusOf({ fault, round, generation, due }: SideThread): ThreadStatus {
  if (fault !== null) return "FAILED";
  if (round !== null) return "CALLING_TOOL";
  return generation !== null || due ? "GENERATING" : "IDLE";
}

/** The threads as tools see them, by their ids. */
export function threadStates({ list }: SideThreads): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    list.map((thread) => {
      const state = statusOf(thread);
      const last = thread.history.entries.findLast(({ role }) => role === "agent");
      const isKnown = state === "IDLE" && last !== undefined;
      return [thread.threadId, isKnown ? { state, lastResponse: last.text } : { state }];
    }),
  );
}

export function threadNamed({ list }: SideThreads, threadId: string): SideThread | null {
  return list.find((thread) => thread.threadId === threadId) ?? null;
}

/** The same, unless it has failed. */
export function liveThread(threads: SideThreads, threadId: string): SideThread | null {
  const thread = threadNamed(threads, threadId);
  return thread?.fault === null ? thread : null;
}

/** Calls that the threads themselves have made. */
export function threadCalls({ list }: SideThreads): readonly ToolCall[] {
  return list.flatMap(({ round }) => (round === null || round.borrowed ? [] : round.calls));
}

/** The thread that made the call; null: none of them. */
export function threadOfCall({ list }: SideThreads, invocationId: string): SideThread | null {
  const made = ({ round }: SideThread) =>
    round?.borrowed === false && round.calls.some((call) => call.invocationId === invocationId);
  return list.find(made) ?? null;
}

/** The progress of a call, also where it is borrowed. */
export function withProgress(
  threads: SideThreads,
  invocationId: string,
  progress: ToolProgress,
): SideThreads {
  const isIt = (call: ToolCall) => call.invocationId === invocationId;
  const list = threads.list.map((thread) => {
    const { round } = thread;
    if (round === null || !round.calls.some(isIt)) return thread;
    const calls = round.calls.map((call) => (isIt(call) ? { ...call, progress } : call));
    return { ...thread, round: { ...round, calls } };
  });
  return list.every((thread, at) => thread === threads.list[at]) ? threads : { ...threads, list };
}
