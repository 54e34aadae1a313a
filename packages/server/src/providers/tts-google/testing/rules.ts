/** What Google refuses of a request. */

import { status } from "@grpc/grpc-js";
import { FirstRequest, InputRequest, type StreamingConfig, WholeRequest } from "../contract.ts";
import type { AskedAudio } from "./spoken-audio.ts";

export const VOICES = ["en-US-Chirp3-HD-Charon", "de-DE-Chirp3-HD-Kore"] as const;
/** These do not stream. */
export const WHOLE_VOICES = ["en-US-Neural2-F", "de-DE-Wavenet-B"] as const;
const RATES_HZ: Readonly<Record<string, readonly number[]>> = {
  LINEAR16: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
  PCM: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
  MULAW: [8_000],
};
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function checkedConfig(message: unknown): StreamingConfig {
  const first = FirstRequest.safeParse(message);
  if (!first.success) throw new Refusal(status.INVALID_ARGUMENT, first.error.message);
  const { voice, streaming_audio_config: audio } = first.data.streaming_config;
  checkVoice(voice);
  if (voice.name === undefined || !VOICES.some((known) => known === voice.name))
    throw new Refusal(
      status.INVALID_ARGUMENT,
      "Currently, only Chirp 3: HD voices are supported for streaming synthesis.",
    );
  checkRate(audio);
  return first.data.streaming_config;
}

export function checkedWhole(message: unknown): WholeRequest {
  const request = WholeRequest.safeParse(message);
  if (!request.success) throw new Refusal(status.INVALID_ARGUMENT, request.error.message);
  checkVoice(request.data.voice);
  checkRate(request.data.audio_config);
  return request.data;
}

function checkVoice({ name, language_code: language }: WholeRequest["voice"]): void {
  if (name === undefined) return;
  if (![...VOICES, ...WHOLE_VOICES].some((known) => known === name))
    throw new Refusal(status.INVALID_ARGUMENT, `Voice '${name}' does not exist. Is it misspelled?`);
  if (!name.startsWith(`${language}-`))
    throw new Refusal(status.INVALID_ARGUMENT, "Requested language code does not match the voice.");
}

function checkRate({ audio_encoding: encoding, sample_rate_hertz: rateHz }: AskedAudio): void {
  if (RATES_HZ[encoding]?.includes(rateHz) !== true)
    throw new Refusal(status.INVALID_ARGUMENT, "The sample rate is not supported for the encoding.");
}

export function checkedInput(message: unknown): string {
  const input = InputRequest.safeParse(message);
  if (!input.success) throw new Refusal(status.INVALID_ARGUMENT, input.error.message);
  return input.data.input.text;
}
