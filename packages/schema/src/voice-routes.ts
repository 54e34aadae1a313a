/** The operations on voices and on the keys of voice providers. */

import { z } from "zod";
import { Uuid } from "./fields.ts";
import { pageOf } from "./page.ts";
import { json, noContent, plain, type Route } from "./route.ts";
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
    path: "/api/voices",
    tag: "voices",
    summary: "List voices, own ones and those of everybody",
    query: ListVoicesQuery,
    responses: { 200: json(VoicePage, "A page of voices: own ones, newest first, then those of everybody.") },
  },
  createVoice: {
    ...plain,
    method: "POST",
    path: "/api/voices",
    tag: "voices",
    summary: "Store a voice of a provider, or make one from a recording where a provider can",
    request: VoiceWrite,
    upload: {
      field: "file",
      description:
        "Speech of 5 seconds to 5 minutes, as MP3 or WAV. Needs a provider that makes voices, else 403.",
      maxBytes: MAX_VOICE_SAMPLE_BYTES,
      texts: VoiceCloneForm,
    },
    responses: { 201: json(Voice, "The new voice.") },
  },
  getVoice: {
    ...plain,
    method: "GET",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Read a voice",
    params: VoiceParams,
    responses: { 200: json(Voice, "The voice.") },
    errors: ["not_found"],
  },
  replaceVoice: {
    ...plain,
    method: "PUT",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Replace a voice as a whole",
    params: VoiceParams,
    request: VoiceWrite,
    responses: { 200: json(Voice, "The changed voice.") },
    errors: ["not_found"],
  },
  updateVoice: {
    ...plain,
    method: "PATCH",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Change a voice; what is absent stays",
    params: VoiceParams,
    request: VoicePatch,
    partial: true,
    responses: { 200: json(Voice, "The changed voice.") },
    errors: ["not_found"],
  },
  deleteVoice: {
    ...plain,
    method: "DELETE",
    path: "/api/voices/{voice_id}",
    tag: "voices",
    summary: "Delete a voice; agents that name it can make no calls until they are changed",
    params: VoiceParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  getVoicePreview: {
    ...plain,
    method: "GET",
    path: "/api/voices/{voice_id}/preview",
    tag: "voices",
    summary: "Hear a voice",
    params: VoiceParams,
    responses: sample,
    errors: ["not_found", "not_available"],
  },
  previewVoice: {
    ...plain,
    method: "POST",
    path: "/api/voice_preview",
    tag: "voices",
    summary: "Hear a voice before it is stored",
    request: VoicePreviewRequest,
    responses: sample,
    errors: ["not_available"],
  },
  getTtsApiKeys: {
    ...plain,
    method: "GET",
    path: KEYS_PATH,
    tag: "voices",
    summary: "Read which voice providers the account has keys for",
    responses: { 200: json(AccountTtsKeys, "The beginnings of the keys; null where there is none.") },
  },
  setTtsApiKeys: {
    ...plain,
    method: "PATCH",
    path: KEYS_PATH,
    tag: "voices",
    summary: "Set or remove keys for voice providers",
    request: SetTtsApiKeysRequest,
    partial: true,
    responses: { 200: json(AccountTtsKeys, "The beginnings of the keys; null where there is none.") },
  },
} as const satisfies Record<string, Route>;
