/** What one request to an engine has used, for the record of its call and for the metrics. */

import type { EngineKind } from "@parley/schema";

/**
 * answered: the engine gave all of its answer. failed: it did not. dropped: nobody waited for the rest any more, for
 * example after an interruption, or because another engine was faster.
 */
export type UseOutcome = "answered" | "failed" | "dropped";

/** Which engine of a deployment a request went to. */
export interface UsedEngine {
  readonly kind: EngineKind;
  /** As the metrics name it: of a list the name of its entry, of an external voice the vendor. */
  readonly engine: string;
  /** The adapter or the vendor, such as `openai` or `ElevenLabs`. */
  readonly provider: string;
  /** As its server names it; null: it has no name. */
  readonly model: string | null;
  /** It runs on this machine. */
  readonly isLocal: boolean;
}

/** Amounts of one request; 0 where the kind of engine has no such amount. */
export interface UsedAmounts {
  /** As the model server counted them; of these, those from its cache. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** Audio that a recogniser was given, ms. */
  readonly heardMs: number;
  /** Unicode characters that a voice was given. */
  readonly characters: number;
  /** Audio that a voice gave, ms. */
  readonly spokenMs: number;
}

export const NO_AMOUNTS: UsedAmounts = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  heardMs: 0,
  characters: 0,
  spokenMs: 0,
};

export interface EngineUse extends UsedEngine, UsedAmounts {
  /** 0: audio that a recogniser was given, but no transcript was requested of. */
  readonly requests: 0 | 1;
  readonly outcome: UseOutcome;
  /** From the request to the first token, the first audio or the transcript; null: there was none. */
  readonly latencyMs: number | null;
  /** The model server did not say how many tokens the request took. */
  readonly isUncounted: boolean;
}

/** With its price. */
export interface PricedUse extends EngineUse {
  /** In 1e-9 units of the currency; null: it is not known. */
  readonly costNanos: number | null;
}

/**
 * Notified of each request: `used` follows each `begun` once. A use without a request has no `begun`. Neither may
 * throw.
 */
export interface UseListener {
  begun(): void;
  used(use: PricedUse): void;
}
