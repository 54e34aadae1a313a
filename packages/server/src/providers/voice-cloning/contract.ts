/**
 * What the vendors document of making a voice from a recording, and of removing one, as far as Parley uses it, as shapes
 * that refuse anything else. The fakes check requests against them and answer in them.
 *
 * "ElevenLabs" below: ElevenLabs API reference, Create IVC voice, and Delete voice. "Cartesia": Cartesia API reference,
 * version 2025-11-04, Clone Voice, and Delete Voice. "LMNT": LMNT API reference, Create voice, and Delete voice.
 * "Inworld": Inworld API reference, Clone a voice, and Delete a voice.
 */

import { z } from "zod";

/** A file of a form. */
const Recording = z.strictObject({
  file: z.string().regex(/\.(?:wav|mp3)$/), // All: the ending says the format
  type: z.enum(["audio/wav", "audio/mpeg"]), // All: the type of the part
  bytes: z.instanceof(Uint8Array).refine(({ length }) => length > 0), // All: the recording
});

export const ELEVENLABS = {
  makePath: "/v1/voices/add", // ElevenLabs: POST
  voicePath: "/v1/voices/", // ElevenLabs: DELETE
  keyHeader: "xi-api-key", // ElevenLabs: header
  Request: z.strictObject({
    name: z.string().min(1), // ElevenLabs: `name`
    files: Recording, // ElevenLabs: `files`
    description: z.string().optional(), // ElevenLabs: `description`
    labels: z.string().optional(), // ElevenLabs: `labels`, JSON as a text
    remove_background_noise: z.enum(["true", "false"]).optional(), // ElevenLabs: `remove_background_noise`
  }),
  Answer: z.strictObject({
    voice_id: z.string(), // ElevenLabs: `voice_id`
    requires_verification: z.boolean(), // ElevenLabs: `requires_verification`
  }),
} as const;

/** Cartesia: languages of the sonic models. */
const CARTESIA_LANGUAGES = [
  "en", // Cartesia: `language`
  "fr", // Cartesia: `language`
  "de", // Cartesia: `language`
  "es", // Cartesia: `language`
  "pt", // Cartesia: `language`
  "zh", // Cartesia: `language`
  "ja", // Cartesia: `language`
  "hi", // Cartesia: `language`
  "it", // Cartesia: `language`
  "ko", // Cartesia: `language`
  "nl", // Cartesia: `language`
  "pl", // Cartesia: `language`
  "ru", // Cartesia: `language`
  "sv", // Cartesia: `language`
  "tr", // Cartesia: `language`
] as const;

export const CARTESIA = {
  makePath: "/voices/clone", // Cartesia: POST
  voicePath: "/voices/", // Cartesia: DELETE
  keyHeader: "x-api-key", // Cartesia: header
  version: "2025-11-04", // Cartesia: header `Cartesia-Version`
  Request: z.strictObject({
    clip: Recording, // Cartesia: `clip`
    name: z.string().min(1), // Cartesia: `name`
    description: z.string().optional(), // Cartesia: `description`
    language: z.enum(CARTESIA_LANGUAGES), // Cartesia: `language`
  }),
  Answer: z.strictObject({
    id: z.string(), // Cartesia: `id`
    user_id: z.string(), // Cartesia: `user_id`
    is_public: z.boolean(), // Cartesia: `is_public`
    name: z.string(), // Cartesia: `name`
    language: z.string(), // Cartesia: `language`
  }),
} as const;

export const LMNT = {
  makePath: "/v1/ai/voice", // LMNT: POST
  voicePath: "/v1/ai/voice/", // LMNT: DELETE
  keyHeader: "x-api-key", // LMNT: header
  version: "1.1", // LMNT: header `lmnt-version`
  Request: z.strictObject({
    files: Recording, // LMNT: `files`
    name: z.string().min(1), // LMNT: `name`
    enhance: z.enum(["true", "false"]), // LMNT: `enhance`
    description: z.string().optional(), // LMNT: `description`
    metadata: z.string().optional(), // LMNT, older versions: `metadata`, JSON as a text
  }),
  Answer: z.strictObject({
    id: z.string(), // LMNT: `id`
    name: z.string(), // LMNT: `name`
    owner: z.enum(["system", "me", "other"]), // LMNT: `owner`
    state: z.string(), // LMNT: `state`
    type: z.string(), // LMNT: `type`
  }),
} as const;

export const INWORLD = {
  makePath: "/voices/v1/voices:clone", // Inworld: POST
  voicePath: "/voices/v1/voices/", // Inworld: DELETE
  keyHeader: "authorization", // Inworld: header, with the scheme `Basic`
  Request: z.strictObject({
    displayName: z.string().min(1), // Inworld: `displayName`
    langCode: z.string().regex(/^(?:AUTO|[A-Z]{2}_[A-Z]{2})$/), // Inworld: `langCode`
    description: z.string().optional(), // Inworld: `description`
    voiceSamples: z
      .array(z.strictObject({ audioData: z.base64().min(1) })) // Inworld: `voiceSamples[].audioData`
      .length(1), // Inworld: `voiceSamples`; Parley sends one
  }),
  Answer: z.strictObject({
    voice: z.looseObject({ voiceId: z.string() }), // Inworld: `voice.voiceId`
    audioSamplesValidated: z.array(z.looseObject({})), // Inworld: `audioSamplesValidated`
  }),
} as const;
