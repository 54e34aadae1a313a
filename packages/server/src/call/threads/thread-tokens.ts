/** Tokens of side threads: what model servers report, and estimates where they do not. Rule R131 of SPEC.md. */

import { emit, update, type Draft } from "../draft.ts";
import type { CallState } from "../state.ts";
import { updateThread } from "./thread-draft.ts";
import { threadNamed } from "./thread-state.ts";

export interface TokenCount {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function estimatedTokens({ contextWindow }: Pick<CallState, "contextWindow">, chars: number): number {
  return Math.ceil(chars / contextWindow.charsPerToken);
}

/** Adds to the counts of the thread and of the call. */
export function countTokens(draft: Draft, threadId: string, { inputTokens, outputTokens }: TokenCount): void {
  const thread = threadNamed(draft.state.sideThreads, threadId);
  if (thread === null) return;
  const { used } = thread;
  updateThread(draft, threadId, {
    used: {
      ...used,
      inputTokens: used.inputTokens + inputTokens,
      outputTokens: used.outputTokens + outputTokens,
    },
  });
  const { sideThreads } = draft.state;
  const counted = {
    inputTokens: sideThreads.inputTokens + inputTokens,
    outputTokens: sideThreads.outputTokens + outputTokens,
  };
  update(draft, { sideThreads: { ...sideThreads, ...counted } });
  emit(draft, { type: "recordSideTokens", ...counted });
}
