/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { ExactlyOne } from "../../choices.ts";

/** The account's API keys of voice providers, by their first four characters. */
export interface AccountTtsKeys {
  provider1: {
    prefix: string;
  } | null;
  provider2: {
    prefix: string;
  } | null;
  provider3: {
    prefix: string;
  } | null;
  provider4: {
    prefix: string;
  } | null;
  provider5: {
    prefix: string;
  } | null;
  provider6: {
    prefix: string;
  } | null;
}

/** A voice that is not stored in the service. Exactly one provider. */
export type ExternalVoice = ExactlyOne<{
  provider1: {
    /** At most 256 characters. */
    voiceId?: string | undefined;
    /** At most 256 characters. */
    model?: string | undefined;
    /** From 0.7 to 1.2. Default: `1`. */
    speed?: number | undefined;
    /** From 0 to 1. */
    stability?: number | undefined;
    /** From 0 to 1. */
    similarityBoost?: number | undefined;
    /** From 0 to 1. */
    style?: number | undefined;
    useSpeakerBoost?: boolean | undefined;
    /** At most 3 entries. */
    pronunciationDictionaries?: Array<{
      dictionaryId: string;
      versionId?: string | undefined;
    }> | undefined;
    /** From 0 to 4. */
    optimizeStreamingLatency?: number | undefined;
    /** Hz From 8000 to 48000. */
    maxSampleRate?: number | undefined;
    enableSsmlParsing?: boolean | undefined;
  };
  provider2: {
    /** At most 256 characters. */
    voiceId?: string | undefined;
    /** At most 256 characters. */
    model?: string | undefined;
    /**
     * Obsolete, like `emotion` and `emotions`; use `generationConfig`. From -1 to 1. Default: `0`.
     * @deprecated
     */
    speed?: number | undefined;
    /** @deprecated */
    emotion?: string | undefined;
    /** @deprecated */
    emotions?: string[] | undefined;
    generationConfig?: {
      /** From 0.5 to 2. Default: `1`. */
      volume?: number | undefined;
      /** From 0.6 to 1.5. Default: `1`. */
      speed?: number | undefined;
      emotion?: string | undefined;
      pronunciationDictId?: string | undefined;
    } | undefined;
  };
  provider3: {
    /** At most 256 characters. */
    voiceId?: string | undefined;
    /** At most 256 characters. */
    model?: string | undefined;
    /** From 0.25 to 2. Default: `1`. */
    speed?: number | undefined;
    conversational?: boolean | undefined;
  };
  provider4: {
    /** At most 256 characters. */
    voiceId?: string | undefined;
    /** From 0.25 to 2. Default: `1`. */
    speakingRate?: number | undefined;
  };
  provider5: {
    /** At most 256 characters. */
    voiceId?: string | undefined;
    /** At most 256 characters. */
    modelId?: string | undefined;
    /** From 0.5 to 1.5. Default: `1`. */
    speakingRate?: number | undefined;
    /** At most 2. More than 0. */
    temperature?: number | undefined;
    applyTextNormalization?: boolean | undefined;
  };
  provider6: {
    /** At most 256 characters. */
    voiceId?: string | undefined;
    /** At most 256 characters. */
    model?: string | undefined;
    seed?: number | undefined;
    /** At least 0. */
    temperature?: number | undefined;
    /** At least -1. */
    topK?: number | undefined;
    /** At most 1. More than 0. */
    topP?: number | undefined;
    /** From 0 to 1. */
    minP?: number | undefined;
    /** From 0 to 2. */
    presencePenalty?: number | undefined;
    /** From 0 to 2. */
    frequencyPenalty?: number | undefined;
    /** From 1 to 2. */
    repetitionPenalty?: number | undefined;
  };
  generic: {
    /** A URL. At most 2048 characters. */
    url: string;
    headers?: Record<string, string> | undefined;
    body?: Record<string, unknown> | undefined;
    /** In Hz, for audio without a header. From 8000 to 48000. */
    responseSampleRate?: number | undefined;
    /** Used to estimate word times if the voice returns none. From 1 to 1000. Default: `150`. */
    responseWordsPerMinute?: number | undefined;
    responseMimeType?: "audio/l16" | "audio/wav" | "application/json" | "application/jsonl" | undefined;
    /** Dotted path to the audio in a JSON response. */
    jsonAudioFieldPath?: string | undefined;
    /** Default: `"JSON_BYTE_ENCODING_BASE64"`. */
    jsonByteEncoding?: "JSON_BYTE_ENCODING_BASE64" | "JSON_BYTE_ENCODING_HEX" | undefined;
  };
}>;

/**
 * API keys of voice providers. Null removes a key; absent keys stay unchanged. Encrypted at rest and never
 * returned.
 */
export interface SetTtsApiKeysRequest {
  /** At most 4096 characters. Never returned. */
  provider1?: string | null | undefined;
  /** At most 4096 characters. Never returned. */
  provider2?: string | null | undefined;
  /** At most 4096 characters. Never returned. */
  provider3?: string | null | undefined;
  /** A service-account document, as a JSON object or as its text; null removes it. Never returned. */
  provider4?: unknown;
  /** At most 4096 characters. Never returned. */
  provider5?: string | null | undefined;
  /** At most 4096 characters. Never returned. */
  provider6?: string | null | undefined;
}

/**
 * A voice. Header values in its definition are masked. Public voices are spoken by the deployment's own
 * engine.
 */
export interface Voice {
  /** A UUID. */
  voiceId: string;
  /** At most 40 characters for your own voices; public voices are named by their engine. */
  name: string;
  description: string | null;
  /** BCP 47. Null: not limited to one language. */
  primaryLanguage: string | null;
  /** The English name of the language, such as `German (Switzerland)`. */
  languageLabel: string | null;
  /** A URL. */
  previewUrl: string;
  ownership: "public" | "private";
  /** Whether the deployment's own engine or an account with a provider speaks. */
  billingStyle: "VOICE_BILLING_STYLE_INCLUDED" | "VOICE_BILLING_STYLE_EXTERNAL";
  /**
   * `provider1` (ElevenLabs), `provider2` (Cartesia), `provider3` (LMNT), `provider4` (Google), `provider5`
   * (Inworld), `provider6` (Respeecher) or `generic`. Null: an engine of the deployment.
   */
  provider: string | null;
  /** No value if an engine of the deployment speaks. */
  definition: ExternalVoice | null;
}

/** Changes to the voice that `voice` names; the provider must be the provider of that voice. */
export type VoiceOverrides = ExactlyOne<{
  provider1: {
    /** From 0.7 to 1.2. Default: `1`. */
    speed?: number | undefined;
    /** From 0 to 1. */
    stability?: number | undefined;
    /** From 0 to 1. */
    similarityBoost?: number | undefined;
    /** From 0 to 1. */
    style?: number | undefined;
    useSpeakerBoost?: boolean | undefined;
    /** At most 3 entries. */
    pronunciationDictionaries?: Array<{
      dictionaryId: string;
      versionId?: string | undefined;
    }> | undefined;
    enableSsmlParsing?: boolean | undefined;
  };
  provider2: {
    /**
     * Obsolete, like `emotion` and `emotions`; use `generationConfig`. From -1 to 1. Default: `0`.
     * @deprecated
     */
    speed?: number | undefined;
    /** @deprecated */
    emotion?: string | undefined;
    /** @deprecated */
    emotions?: string[] | undefined;
    generationConfig?: {
      /** From 0.5 to 2. Default: `1`. */
      volume?: number | undefined;
      /** From 0.6 to 1.5. Default: `1`. */
      speed?: number | undefined;
      emotion?: string | undefined;
      pronunciationDictId?: string | undefined;
    } | undefined;
  };
  provider3: {
    /** From 0.25 to 2. Default: `1`. */
    speed?: number | undefined;
    conversational?: boolean | undefined;
  };
  provider4: {
    /** From 0.25 to 2. Default: `1`. */
    speakingRate?: number | undefined;
  };
  provider5: {
    /** From 0.5 to 1.5. Default: `1`. */
    speakingRate?: number | undefined;
    /** At most 2. More than 0. */
    temperature?: number | undefined;
    applyTextNormalization?: boolean | undefined;
  };
  provider6: {
    seed?: number | undefined;
    /** At least 0. */
    temperature?: number | undefined;
    /** At least -1. */
    topK?: number | undefined;
    /** At most 1. More than 0. */
    topP?: number | undefined;
    /** From 0 to 1. */
    minP?: number | undefined;
    /** From 0 to 2. */
    presencePenalty?: number | undefined;
    /** From 0 to 2. */
    frequencyPenalty?: number | undefined;
    /** From 1 to 2. */
    repetitionPenalty?: number | undefined;
  };
  generic: {
    body?: Record<string, unknown> | undefined;
    /** In Hz, for audio without a header. From 8000 to 48000. */
    responseSampleRate?: number | undefined;
    /** Used to estimate word times if the voice returns none. From 1 to 1000. Default: `150`. */
    responseWordsPerMinute?: number | undefined;
    responseMimeType?: "audio/l16" | "audio/wav" | "application/json" | "application/jsonl" | undefined;
    /** Dotted path to the audio in a JSON response. */
    jsonAudioFieldPath?: string | undefined;
    /** Default: `"JSON_BYTE_ENCODING_BASE64"`. */
    jsonByteEncoding?: "JSON_BYTE_ENCODING_BASE64" | "JSON_BYTE_ENCODING_HEX" | undefined;
  };
}>;

export interface VoicePage {
  results: Voice[];
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

/**
 * The body that changes a voice. Absent fields stay unchanged; null clears a field. `definition` is replaced
 * as a whole.
 */
export interface VoicePatch {
  /** At most 40 characters. */
  name?: string | undefined;
  /** At most 240 characters. */
  description?: string | null | undefined;
  /** BCP 47, such as `en` or `de-CH`. At most 10 characters. */
  primaryLanguage?: string | null | undefined;
  definition?: ExternalVoice | undefined;
}

/** A voice to preview before it is stored. */
export interface VoicePreviewRequest {
  /** At most 40 characters. */
  name?: string | undefined;
  /** At most 240 characters. */
  description?: string | undefined;
  /** BCP 47, such as `en` or `de-CH`. At most 10 characters. */
  primaryLanguage?: string | undefined;
  definition: ExternalVoice;
}

/** The body that creates or replaces a voice. A masked header value means the stored value. */
export interface VoiceWrite {
  /** At most 40 characters. */
  name: string;
  /** At most 240 characters. */
  description?: string | null | undefined;
  /** BCP 47, such as `en` or `de-CH`. At most 10 characters. */
  primaryLanguage?: string | null | undefined;
  definition: ExternalVoice;
}
