/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  AccountTtsKeys,
  SetTtsApiKeysRequest,
  Voice,
  VoicePage,
  VoicePatch,
  VoicePreviewRequest,
  VoiceWrite,
} from "../records/voices.ts";

/** List voices, your own and public ones: `GET /api/voices`. Needs the scope `read`. */
export interface ListVoicesInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    billingStyle?: "VOICE_BILLING_STYLE_INCLUDED" | "VOICE_BILLING_STYLE_EXTERNAL" | undefined;
    ownership?: "public" | "private" | undefined;
    /** A BCP 47 tag; case is ignored. `en` also finds `en-GB`. At most 100 characters. */
    primaryLanguage?: string | undefined;
    /**
     * `provider1` to `provider6` or `generic`. Repeat the parameter to match any of several. At most 14
     * entries.
     */
    provider?: string[] | undefined;
    /** Part of the name or the description; case is ignored. At most 1000 characters. */
    search?: string | undefined;
  } | undefined;
}

/**
 * Create a voice of a provider, or clone one from a recording if a provider supports it: `POST /api/voices`.
 * Needs the scope `admin`.
 */
export interface CreateVoiceInput extends RequestOptions {
  readonly body?: VoiceWrite | undefined;
  /** Instead of a body: a form with `file` and `name` and `description` and `language`. */
  readonly form?: FormData | undefined;
}

/** Get a voice: `GET /api/voices/{voice_id}`. Needs the scope `read`. */
export interface GetVoiceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    voice_id: string;
  };
}

/** Replace a voice: `PUT /api/voices/{voice_id}`. Needs the scope `admin`. */
export interface ReplaceVoiceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    voice_id: string;
  };
  readonly body: VoiceWrite;
}

/** Change a voice; absent fields stay unchanged: `PATCH /api/voices/{voice_id}`. Needs the scope `admin`. */
export interface UpdateVoiceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    voice_id: string;
  };
  readonly body?: VoicePatch | undefined;
}

/**
 * Delete a voice; agents that use it cannot make calls until they are changed: `DELETE
 * /api/voices/{voice_id}`. Needs the scope `admin`.
 */
export interface DeleteVoiceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    voice_id: string;
  };
}

/** Preview a voice: `GET /api/voices/{voice_id}/preview`. Needs the scope `read`. */
export interface GetVoicePreviewInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    voice_id: string;
  };
}

/** Preview a voice before it is stored: `POST /api/voice_preview`. Needs the scope `calls`. */
export interface PreviewVoiceInput extends RequestOptions {
  readonly body: VoicePreviewRequest;
}

/**
 * Get the API keys of voice providers, by their first characters: `GET /api/accounts/me/tts_api_keys`. Needs
 * the scope `read`.
 */
export type GetTtsApiKeysInput = RequestOptions;

/**
 * Set or remove API keys of voice providers: `PATCH /api/accounts/me/tts_api_keys`. Needs the scope `admin`.
 */
export interface SetTtsApiKeysInput extends RequestOptions {
  readonly body?: SetTtsApiKeysRequest | undefined;
}

export interface VoicesOperations {
  /** List voices, your own and public ones. */
  "GET /api/voices": { input: ListVoicesInput; output: VoicePage; row: Voice };
  /** Create a voice of a provider, or clone one from a recording if a provider supports it. */
  "POST /api/voices": { input: CreateVoiceInput; output: Voice };
  /** Get a voice. */
  "GET /api/voices/{voice_id}": { input: GetVoiceInput; output: Voice };
  /** Replace a voice. */
  "PUT /api/voices/{voice_id}": { input: ReplaceVoiceInput; output: Voice };
  /** Change a voice; absent fields stay unchanged. */
  "PATCH /api/voices/{voice_id}": { input: UpdateVoiceInput; output: Voice };
  /** Delete a voice; agents that use it cannot make calls until they are changed. */
  "DELETE /api/voices/{voice_id}": { input: DeleteVoiceInput; output: undefined };
  /** Preview a voice. */
  "GET /api/voices/{voice_id}/preview": { input: GetVoicePreviewInput; output: Response };
  /** Preview a voice before it is stored. */
  "POST /api/voice_preview": { input: PreviewVoiceInput; output: Response };
  /** Get the API keys of voice providers, by their first characters. */
  "GET /api/accounts/me/tts_api_keys": { input: GetTtsApiKeysInput; output: AccountTtsKeys };
  /** Set or remove API keys of voice providers. */
  "PATCH /api/accounts/me/tts_api_keys": { input: SetTtsApiKeysInput; output: AccountTtsKeys };
}
