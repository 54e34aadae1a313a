/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  TimedMessage,
} from "./requests.ts";
import type {
  ExternalVoice,
  VoiceOverrides,
} from "./voices.ts";

/** A part of a call with its own settings. */
export interface CallStage {
  /** A UUID. */
  callId: string;
  /** A UUID. */
  callStageId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  systemPrompt: string | null;
  timeExceededMessage: string | null;
  voice: string | null;
  /** Language of the conversation as a BCP 47 tag, such as `en` or `de-CH`. At most 16 characters. */
  languageHint: string | null;
  /** The name of a model from the list of models. At most 128 characters. Default: `"default"`. */
  model: string;
  /** Randomness of the model's output. From 0 to 1. Default: `0`. */
  temperature: number;
  externalVoice: ExternalVoice | null;
  voiceOverrides: VoiceOverrides | null;
  /** At most 100 entries. */
  inactivityMessages: TimedMessage[];
  /**
   * Input tokens of the stage's first request to the model, as the model server counted them. Null until it
   * reports a count. At least 0.
   */
  initialTokenCount: number | null;
  /** The same of the latest request. The service never estimates these counts. At least 0. */
  latestTokenCount: number | null;
  /** Failed tool invocations. At least 0. */
  errorCount: number;
  experimentalSettings: Record<string, unknown> | null;
  initialState: Record<string, unknown>;
}

export interface CallStagePage {
  results: CallStage[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}
