/** Recognisers that listen while the caller speaks: settings of the environment. */

import { z } from "zod";
import { httpUrl, optional, whole } from "./env-fields.ts";

export const RECOGNISER_FIELDS = {
  STT_PROTOCOL: z
    .enum(["transcriptions", "realtime"], { message: "must be transcriptions or realtime" })
    .default("transcriptions"),
  DEEPGRAM_API_KEY: optional,
  DEEPGRAM_BASE_URL: httpUrl.optional(),
  DEEPGRAM_MODEL: z
    .string()
    .refine(isDeepgramModel, "must be the name of a model, such as nova-3 or flux-general-en")
    .default("nova-3"),
  // Deepgram takes 1,000 and more. Its default of 10 ms would cut the text at each pause.
  DEEPGRAM_END_OF_TURN_MS: whole(0, 5_000)
    .refine((ms) => ms === 0 || ms >= 1_000, { message: "must be 0 or at least 1000" })
    .default(1_500),
};

const Fields = z.object(RECOGNISER_FIELDS);

export type RecogniserFields = z.infer<typeof Fields>;

export const DEEPGRAM_BASE_URL = "https://api.deepgram.com";

export interface DeepgramTarget {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** Silence after which it tells the end of the speech; 0: it does not. */
  readonly endOfTurnMs: number;
}

export interface Recognisers {
  /** How the server of `STT_BASE_URL` is spoken to. */
  readonly sttProtocol: RecogniserFields["STT_PROTOCOL"];
  /** Null: not configured. */
  readonly deepgram: DeepgramTarget | null;
}

export function isDeepgramModel(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name);
}

/** Deepgram's own address needs a key; another one may need none. */
export function recognisersOf(values: RecogniserFields): Recognisers {
  const { DEEPGRAM_API_KEY: apiKey, DEEPGRAM_BASE_URL: baseUrl, DEEPGRAM_MODEL: model } = values;
  const { DEEPGRAM_END_OF_TURN_MS: endOfTurnMs } = values;
  const isSet = apiKey !== undefined || (baseUrl !== undefined && baseUrl !== DEEPGRAM_BASE_URL);
  const target = { baseUrl: baseUrl ?? DEEPGRAM_BASE_URL, apiKey: apiKey ?? null, model, endOfTurnMs };
  return {
    sttProtocol: values.STT_PROTOCOL,
    deepgram: isSet ? target : null,
  };
}
