/** Chooses the context for a prompt, so that little of it must be computed again. Pure. */

import type { Token } from "./loaded-llama.ts";

export interface FreeContext {
  readonly tokens: readonly Token[];
  /** Larger is later. */
  readonly usedAt: number;
}

/** How many tokens both begin with. */
export function commonPrefix(one: readonly Token[], other: readonly Token[]): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[count] === other[count]) count += 1;
  return count;
}

/**
 * What is saved now is weighed against what is lost: the rest of a context is that of another call, which would have to
 * be computed again. Of equals the one that was used least recently is taken. Null: there is none.
 */
export function chooseContext<Context extends FreeContext>(
  free: readonly Context[],
  prompt: readonly Token[],
): Context | null {
  let best: { readonly context: Context; readonly score: number } | null = null;
  for (const context of free) {
    const common = commonPrefix(context.tokens, prompt);
    const score = common - (context.tokens.length - common);
    const isBetter =
      best === null || score > best.score || (score === best.score && context.usedAt < best.context.usedAt);
    if (isBetter) best = { context, score };
  }
  return best?.context ?? null;
}
