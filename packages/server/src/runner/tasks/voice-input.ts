/** Attaches the caller's voice to a request, for a language model that hears it. Pure. */

import type { LlmMessage } from "@parley/schema";
import { bytesOfSamples } from "../../media/pcm.ts";
import { wavHeader } from "../../media/wav.ts";
import type { LlmAudio } from "../../ports/llm.ts";
import { STT_MAX_UTTERANCE_MS, STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";

/** Messages of the user that are heard: the newest, and the one that it may refer to. Older ones are text. */
export const HEARD_MESSAGES = 2;
/** Of one request together: what models of speech take, about 400 tokens and 2.6 MB of base64. */
export const MAX_HEARD_SAMPLES = (STT_MAX_UTTERANCE_MS / 1_000) * STT_SAMPLE_RATE_HZ;

export type VoiceOf = (utteranceId: number) => Int16Array | null;

/**
 * @param samplesOf the 16 kHz mono audio of an utterance; null: it is no longer there. A message whose audio is incomplete
 * or too long stays text, and so do all before it.
 */
export function voiceIn(messages: readonly LlmMessage[], samplesOf: VoiceOf): readonly LlmAudio[] {
  const heard: LlmAudio[] = [];
  let room = MAX_HEARD_SAMPLES;
  for (const [messageIndex, message] of [...messages.entries()].toReversed()) {
    if (message.role !== "user") continue;
    if (message.utteranceIds === undefined || heard.length === HEARD_MESSAGES) break;
    const parts = message.utteranceIds.map(samplesOf).filter((part) => part !== null);
    const samples = parts.reduce((sum, part) => sum + part.length, 0);
    if (parts.length < message.utteranceIds.length || samples === 0 || samples > room) break;
    room -= samples;
    heard.unshift({ messageIndex, wav: wavOf(parts, samples) });
  }
  return heard;
}

function wavOf(parts: readonly Int16Array[], samples: number): Uint8Array {
  const header = wavHeader({ sampleRateHz: STT_SAMPLE_RATE_HZ, channels: 1 }, samples * 2);
  const file = new Uint8Array(header.length + samples * 2);
  file.set(header);
  let at = header.length;
  for (const part of parts) {
    file.set(bytesOfSamples(part), at);
    at += part.byteLength;
  }
  return file;
}
