/** Reads the messages of ElevenLabs. Their spelling differs between the vendor's own sources: both are read. */

import { z } from "zod";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { bounded } from "../sockets/failure-text.ts";
import type { Routed } from "../sockets/socket-protocol.ts";
import type { SpeechMessage } from "../sockets/speech.ts";
import { jsonObject } from "../sockets/vendor-json.ts";
import { VENDOR } from "./requests.ts";

/** Characters in one message; the longest text has some thousand. */
const MAX_CHARACTERS = 20_000;

const Alignment = z.object({
  chars: z.array(z.string()).max(MAX_CHARACTERS),
  charStartTimesMs: z.array(z.number()).max(MAX_CHARACTERS).optional(),
  char_start_times_ms: z.array(z.number()).max(MAX_CHARACTERS).optional(),
});

const Message = z.object({
  audio: z.string().nullish(),
  // Times of another shape are left out: the audio is worth more than they are.
  alignment: Alignment.nullish().catch(null),
  normalizedAlignment: Alignment.nullish().catch(null),
  normalized_alignment: Alignment.nullish().catch(null),
  isFinal: z.boolean().nullish(),
  is_final: z.boolean().nullish(),
  is_final_audio_for_turn: z.boolean().nullish(),
  contextId: z.string().nullish(),
  context_id: z.string().nullish(),
  error: z.string().nullish(),
  message: z.string().nullish(),
  code: z.union([z.number(), z.string()]).nullish(),
});

/** Words of errors that the next request gets as well: the key, the account, the voice, the model or a setting. */
const PERMANENT: ReadonlySet<string> = new Set([
  "invalid_api_key",
  "missing_permissions",
  "unauthorized",
  "quota_exceeded",
  "payment_required",
  "subscription_required",
  "only_for_creator+",
  "voice_not_found",
  "voice_id_does_not_exist",
  "voice_not_fine_tuned",
  "invalid_voice_settings",
  "model_not_found",
  "model_access_denied",
  "unsupported_model",
  "unsupported_language",
  "invalid_output_format",
  "output_format_not_allowed",
  "pronunciation_dictionary_not_found",
]);

/** Of these the next request may be answered, whatever code the close has. */
const PASSING: ReadonlySet<string> = new Set([
  "input_timeout_exceeded",
  "max_active_conversations",
  "system_busy",
  "too_many_concurrent_requests",
  "rate_limit_exceeded",
  "internal_server_error",
]);

/** Policy violation (RFC 6455): a wrong key, voice, model or setting, and also a socket that was idle for too long. */
const POLICY_CLOSE = 1_008;

/** Throws for what is no message of ElevenLabs. */
export function readAnswer(data: string | Uint8Array, secrets: readonly string[]): Routed<SpeechMessage> {
  const parsed = Message.safeParse(jsonObject(data));
  if (!parsed.success) throw new Error("a message of another shape than documented");
  const message = parsed.data;
  const to = message.contextId ?? message.context_id ?? null;
  if (message.error !== undefined && message.error !== null) {
    const failure = failureOf(message.error, message.message ?? null, message.code ?? null, secrets);
    return to === null ? { lost: failure } : { to, message: { failure } };
  }
  // Messages without a context say nothing about a request.
  if (to === null) return null;
  const isLast = message.isFinal === true || message.is_final === true;
  const alignment = message.alignment ?? message.normalizedAlignment ?? message.normalized_alignment ?? null;
  const startsMs = alignment?.charStartTimesMs ?? alignment?.char_start_times_ms ?? [];
  return {
    to,
    message: {
      isLast,
      ...(message.is_final_audio_for_turn === true ? { isSpoken: true } : {}),
      ...(message.audio === undefined || message.audio === null ? {} : { audio: message.audio }),
      ...(alignment === null
        ? {}
        : {
            // Times begin anew with each piece of audio.
            words: (times, audioMs) => {
              times.characters(
                alignment.chars,
                startsMs.map((startMs) => audioMs + startMs),
              );
            },
          }),
    },
  };
}

function failureOf(
  word: string,
  sentence: string | null,
  code: number | string | null,
  secrets: readonly string[],
): EngineFailure {
  const isPermanent = PERMANENT.has(word) || (!PASSING.has(word) && code === POLICY_CLOSE);
  return new EngineFailure(`${VENDOR} answered ${bounded(sentence ?? word, secrets)}`, {
    isPermanent,
    // A sentence in place of a word is no kind of error.
    type: /^[a-z0-9_+-]{1,60}$/.test(word) ? word : "error",
  });
}

/** A close without an error message before it. */
export function readClose(code: number, reason: string): EngineFailure | null {
  if (code !== POLICY_CLOSE) return null;
  const isPermanent = !/time|inactiv|idle|exceeded/i.test(reason);
  const words = reason === "" ? "" : `: ${reason}`;
  return new EngineFailure(`${VENDOR} refuses the key, the voice or its settings${words}`, {
    isPermanent,
    type: isPermanent ? "refused" : "closed",
  });
}
