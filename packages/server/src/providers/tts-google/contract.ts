/**
 * What Google takes and answers, as far as Parley uses it. The adapter reads answers by these shapes, and its fake
 * checks requests by them. The comments name the pages of Google's public documentation.
 */

import { z } from "zod";

/** "Text-to-Speech RPC reference", AudioEncoding: the encodings that streaming supports and Parley uses. */
export const AUDIO_ENCODINGS = ["PCM", "MULAW"] as const;
export type AudioEncoding = (typeof AUDIO_ENCODINGS)[number];

/** Same page, StreamingAudioConfig: 0.25 to 2.0; unset means 1.0. */
const SpeakingRate = z.number().min(0.25).max(2);

/** Same page, VoiceSelectionParams. */
const Voice = z.strictObject({
  language_code: z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,4})?$/), // VoiceSelectionParams: `language_code`, required
  name: z.string().min(1).optional(), // VoiceSelectionParams: `name`
});

/**
 * "Synthesize speech with bidirectional streaming": only voices of Chirp 3: HD stream. Others are refused with
 * INVALID_ARGUMENT, and are synthesized as a whole.
 */
export const STREAMING_VOICE = /-Chirp3-HD-/;

/** Same page, StreamingSynthesizeConfig: `voice` is required. */
export const StreamingConfig = z.strictObject({
  voice: Voice, // StreamingSynthesizeConfig: `voice`
  streaming_audio_config: z.strictObject({
    audio_encoding: z.enum(AUDIO_ENCODINGS), // StreamingAudioConfig: `audio_encoding`
    sample_rate_hertz: z.int().min(8_000).max(48_000), // StreamingAudioConfig: `sample_rate_hertz`
    speaking_rate: SpeakingRate.optional(), // StreamingAudioConfig: `speaking_rate`
  }),
});
export type StreamingConfig = z.output<typeof StreamingConfig>;

/** "Quotas and limits": at most 5,000 bytes of text in a request. */
export const MAX_INPUT_BYTES = 5_000;
const InputText = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= MAX_INPUT_BYTES);

/** "Text-to-Speech RPC reference", StreamingSynthesizeRequest: the first message has the configuration alone. */
export const FirstRequest = z.strictObject({ streaming_config: StreamingConfig });
/** Same page: each further message has input alone. */
export const InputRequest = z.strictObject({
  input: z.strictObject({ text: InputText }), // StreamingSynthesisInput: `text`, at most 5,000 bytes
});

/** Same page, AudioEncoding: `LINEAR16` and `MULAW` of a whole answer begin with the header of a WAV file. */
export const WHOLE_ENCODINGS = ["LINEAR16", "MULAW"] as const;

/** Same page, SynthesizeSpeechRequest. */
export const WholeRequest = z.strictObject({
  input: z.strictObject({ text: InputText }), // SynthesisInput: `text`, at most 5,000 bytes
  voice: Voice, // SynthesizeSpeechRequest: `voice`
  audio_config: z.strictObject({
    audio_encoding: z.enum(WHOLE_ENCODINGS), // AudioConfig: `audio_encoding`
    sample_rate_hertz: z.int().min(8_000).max(48_000), // AudioConfig: `sample_rate_hertz`
    speaking_rate: SpeakingRate.optional(), // AudioConfig: `speaking_rate`
  }),
});
export type WholeRequest = z.output<typeof WholeRequest>;

export type SpeechRequest = z.output<typeof FirstRequest> | z.output<typeof InputRequest> | WholeRequest;

/** Same page, both answers: bytes in the encoding that was asked for. Absent bytes are empty. */
export const SpeechAnswer = z.object({ audio_content: z.instanceof(Uint8Array).optional() });

/** "Using OAuth 2.0 for Server to Server Applications", the only address that may get a signed assertion. */
export const TOKEN_URI = "https://oauth2.googleapis.com/token";
/** "OAuth 2.0 Scopes", Cloud Text-to-Speech API. */
export const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** "Using OAuth 2.0 for Server to Server Applications", "Making the access token request". */
export const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Same page, "Forming the JWT header". `kid` is the id of the key in the document. */
export const JwtHeader = z.strictObject({
  alg: z.literal("RS256"), // "OAuth 2.0 for Server to Server", JWT header: `alg`
  typ: z.literal("JWT"), // "OAuth 2.0 for Server to Server", JWT header: `typ`
  kid: z.string().optional(), // "OAuth 2.0 for Server to Server", JWT header: `kid`
});
/** Same page, "Forming the JWT claim set": `exp` is at most one hour after `iat`. Both in seconds. */
export const JwtClaims = z.strictObject({
  iss: z.string(), // "OAuth 2.0 for Server to Server", JWT claim set: `iss`
  scope: z.literal(SCOPE), // "OAuth 2.0 for Server to Server", JWT claim set: `scope`
  aud: z.literal(TOKEN_URI), // "OAuth 2.0 for Server to Server", JWT claim set: `aud`
  iat: z.int(), // "OAuth 2.0 for Server to Server", JWT claim set: `iat`
  exp: z.int(), // "OAuth 2.0 for Server to Server", JWT claim set: `exp`
});

/** Same page, "Handling the response". */
export const TokenAnswer = z.object({
  // "OAuth 2.0 for Server to Server", response: `access_token`.
  access_token: z
    .string()
    .min(1)
    .max(8_192)
    .regex(/^[\x21-\x7e]+$/),
  expires_in: z.number().positive().default(3_600), // "OAuth 2.0 for Server to Server", response: `expires_in`
  token_type: z.literal("Bearer").default("Bearer"), // "OAuth 2.0 for Server to Server", response: `token_type`
});
/** RFC 6749, section 5.2. */
export const TokenRefusal = z.object({ error: z.string(), error_description: z.string().optional() });

/** "Create and delete service account keys", the JSON document of a key. */
export const ServiceAccount = z.object({
  type: z.literal("service_account"), // "Service account keys": `type`
  client_email: z.string().min(1), // "Service account keys": `client_email`
  private_key: z.string().min(1), // "Service account keys": `private_key`
  private_key_id: z.string().min(1).optional(), // "Service account keys": `private_key_id`
  token_uri: z.string().optional(), // "Service account keys": `token_uri`
});
export type ServiceAccount = z.output<typeof ServiceAccount>;
