/**
 * Marks where the repeating part of a prompt ends, for vendors that cache only what is marked. Marks change no text: the
 * part before a mark is the same in the next request, so that its cache entry is found. Pure.
 */

import type { ModelMessage, SystemModelMessage } from "ai";

/** As `providerOptions` of the SDK. */
export type CacheMark = NonNullable<SystemModelMessage["providerOptions"]>;

/** Entries live for five minutes from their last use, longer than any pause of a call that goes on. */
export const ANTHROPIC_MARK: CacheMark = { anthropic: { cacheControl: { type: "ephemeral" } } };
export const BEDROCK_MARK: CacheMark = { bedrock: { cachePoint: { type: "default" } } };

export interface Unmarked {
  /** The same during the whole stage. */
  readonly lasting: string;
  /** For this request only; may be empty. */
  readonly instruction: string;
  readonly messages: readonly ModelMessage[];
}

export interface Marked {
  readonly system: SystemModelMessage[];
  readonly messages: ModelMessage[];
}

/**
 * Three of the four marks that Anthropic allows: the end of the system prompt, which covers the tools as well; the end of
 * the last turn, where this request writes an entry for the next one; and the turn before it, for when the newest words
 * were only provisional. An instruction comes after the first mark, because the next request does not have it.
 */
export function withCacheMarks({ lasting, instruction, messages }: Unmarked, mark: CacheMark): Marked {
  const system: SystemModelMessage[] = [];
  if (lasting !== "") system.push({ role: "system", content: lasting, providerOptions: mark });
  if (instruction !== "") system.push({ role: "system", content: instruction });
  const last = messages.length - 1;
  const before = messages.findLastIndex(({ role }, index) => index < last && role !== "user");
  const marked = messages.map((message, index) =>
    index === last || index === before ? { ...message, providerOptions: mark } : message,
  );
  return { system, messages: marked };
}
