/** Routes of voices and of the API keys of voice providers. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import {
  AccountTtsKeys,
  ListVoicesQuery,
  SetTtsApiKeysRequest,
  Voice,
  VoiceCloneForm,
  VoicePatch,
  VoicePreviewRequest,
  VoiceWrite,
} from "./voice-record.ts";

const VoiceParams = z.strictObject({ voice_id: Uuid });

export const VoicePage = pageOf(Voice);

export const MAX_VOICE_SAMPLE_BYTES = 10 * 1024 * 1024;

const KEYS_PATH = "/api/accounts/me/tts_api_keys";

const sample = {
  200: { description: "A short sentence in the voice's language.", schema: null, contentType: "audio/wav" },
} as const;

export const voiceRoutes = {
  listVoices: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/voices",
    tag: "voices",
    summary: "List voices, your own and public ones",
    query: ListVoicesQuery,
    responses: { 200: json(VoicePage, "A page of voices: your own, newest first, then public ones.") },
  },
  createVoice: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/voices",
    tag: "voices",
    summary: "Create a voice of a provider, or clone one from a recording if a provider supports it",
    request: VoiceWrite,
    upload: {
      field: "file",
      description:
        "5 seconds to 5 minutes of speech, as MP3 or WAV. Needs a provider that can clone voices, otherwise 403.",
      maxBytes: MAX_VOICE_SAMPLE_BYTES,
      texts: VoiceCloneForm,
    },
    responses: { 201: json(Voice, "The new voice.") },
  },
  getVoice: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Get a voice",
    params: VoiceParams,
    responses: { 200: json(Voice, "The voice.") },
    errors: ["not_found"],
  },
  replaceVoice: {
    ...plain,
    method: "PUT",
    scope: "admin",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Replace a voice",
    params: VoiceParams,
    request: VoiceWrite,
    responses: { 200: json(Voice, "The changed voice.") },
    errors: ["not_found"],
  },
  updateVoice: {
    ...plain,
    method: "PATCH",
    scope: "admin",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Change a voice; absent fields stay unchanged",
    params: VoiceParams,
    request: VoicePatch,
    partial: true,
    responses: { 200: json(Voice, "The changed voice.") },
    errors: ["not_found"],
  },
  deleteVoice: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Delete a voice; agents that use it cannot make calls until they are changed",
    params: VoiceParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  getVoicePreview: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/voices/{voice_id}/preview",
    tag: "voices",
    summary: "Preview a voice",
    params: VoiceParams,
    responses: sample,
    errors: ["not_found", "not_available"],
  },
  previewVoice: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: "/api/voice_preview",
    tag: "voices",
    summary: "Preview a voice before it is stored",
    request: VoicePreviewRequest,
    responses: sample,
    errors: ["not_available"],
  },
  getTtsApiKeys: {
    ...plain,
    method: "GET",
    scope: "read",
    path: KEYS_PATH,
    tag: "voices",
    summary: "Get the API keys of voice providers, by their first characters",
    responses: { 200: json(AccountTtsKeys, "The first characters of the keys; null without a key.") },
  },
  setTtsApiKeys: {
    ...plain,
    method: "PATCH",
    scope: "admin",
    path: KEYS_PATH,
    tag: "voices",
    summary: "Set or remove API keys of voice providers",
    request: SetTtsApiKeysRequest,
    partial: true,
    responses: { 200: json(AccountTtsKeys, "The first characters of the keys; null without a key.") },
  },
} as const satisfies Record<string, Route>;
