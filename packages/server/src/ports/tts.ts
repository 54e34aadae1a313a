/** Port for speech synthesis: one sentence or short text at a time, streamed. */

import type { EngineOrigin, ServedBy } from "./engine-origin.ts";
import type { EngineUser } from "./engine-steps.ts";
import type { UseListener } from "./engine-use.ts";

export interface TtsRequest {
  readonly text: string;
  /** A voice name of this engine, or null for its default. */
  readonly voice: string | null;
  /** BCP 47 or null. */
  readonly language: string | null;
  /** For lists of engines; others ignore it. */
  readonly user?: EngineUser;
  /** The same. */
  readonly servedBy?: ServedBy;
  /** For engines whose use is counted; others ignore it. */
  readonly meter?: UseListener | undefined;
}

export type TtsPart =
  /** Mono s16. The rate is the same for all parts of one request. */
  | { readonly type: "audio"; readonly samples: Int16Array; readonly sampleRateHz: number }
  /**
   * The word that begins at `textOffset` (UTF-16 units into `text`) starts sounding at `atMs` of this request's audio.
   * Ascending in both; an engine without word times sends none. `isEstimate`: by a rate of speech and not by the sound.
   */
  | { readonly type: "word"; readonly textOffset: number; readonly atMs: number; readonly isEstimate?: true };

export interface TtsEngine extends EngineOrigin {
  readonly name: string;
  readonly voices: readonly string[];
  /** See `SttEngine`. */
  readonly unusable?: () => string | null;
  /**
   * Ends when all audio has been yielded; at least one audio part for text with a letter or digit in it. Throws on a
   * failure or an answer that is not audio; throws an `AbortError` soon after `signal` aborts. No retries inside.
   */
  synthesize(request: TtsRequest, signal: AbortSignal): AsyncIterable<TtsPart>;
  /** The BCP 47 language of a voice that speaks one only. Null, or no such function: several, or unknown. */
  languageOf?(voice: string): string | null;
  /** Whether the engine speaks this BCP 47 language. */
  speaks(language: string): boolean;
  close(): Promise<void>;
}
