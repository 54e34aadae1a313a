/**
 * Voices of Respeecher over its speech websocket. Each text is one generation in a context of its own; an interrupted
 * one is cancelled. Respeecher gives no times of words.
 */

import { throwIfAborted } from "../../pacing/abort.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { VoiceProvider, VoiceUse } from "../../ports/voice-provider.ts";
import type { AudioFormat } from "../sockets/audio-frames.ts";
import { SocketPool, type Exchange } from "../sockets/socket-pool.ts";
import { socketUrl, type SocketTarget } from "../sockets/socket-protocol.ts";
import type { SocketRequest } from "../sockets/socket-request.ts";
import {
  formatWithin,
  SILENCE_LIMIT_MS,
  type SocketVoiceOptions,
  withoutSilentSockets,
} from "../sockets/socket-voice.ts";
import { SpokenParts } from "../sockets/spoken-parts.ts";
import { spokenText } from "../spoken-text.ts";
import {
  RESPEECHER_GENERATIONS,
  RESPEECHER_HIGHEST_RATE_HZ,
  RESPEECHER_LOWEST_RATE_HZ,
  RESPEECHER_MAX_TEXT_CHARS,
  type RespeecherClientMessage,
  type RespeecherGeneration,
  type RespeecherSampling,
} from "./contract.ts";
import { RecentSettings, respeecherFailure, respeecherProtocol, type RespeecherMessage } from "./protocol.ts";

export const RESPEECHER_NAME = "Respeecher";
const RESPEECHER_URL = "https://api.respeecher.com";
/** Where models are, below the base address. */
const MODELS_PATH = "/v1/";
const PUBLIC_MODELS = "public/tts/";
/** Respeecher states no limit but the life of twelve hours. The next reply of a call comes within this time. */
const IDLE_LIMIT_MS = 120_000;
/** A cancellation is not answered. Its generation counts until Respeecher has read it, and the last audio tells that. */
const CANCEL_QUIET_MS = 250;

/**
 * A base address with a path, such as `https://proxy.example/v1/public/tts/en-rt`, is used for all languages and models.
 */
export function openRespeecher(options: SocketVoiceOptions): VoiceProvider<"provider6"> {
  const baseUrl = options.baseUrl ?? RESPEECHER_URL;
  const { silenceLimitMs = SILENCE_LIMIT_MS, ...limits } = options.limits ?? {};
  const pool = new SocketPool<RespeecherMessage>({
    vendor: RESPEECHER_NAME,
    log: options.log,
    requestsPerSocket: RESPEECHER_GENERATIONS,
    // One socket with all generations that an account may have.
    socketsPerTarget: 1,
    idleLimitMs: IDLE_LIMIT_MS,
    ...limits,
  });
  const spokenBefore = new RecentSettings();
  return {
    kind: "provider6",
    name: RESPEECHER_NAME,
    server: serverOf(baseUrl),
    prepare(use) {
      // A model that cannot be in an address is refused by the next sentence, which can tell it.
      if (use.voice.model === undefined || MODEL.test(use.voice.model)) pool.prepare(targetOf(baseUrl, use));
    },
    async *synthesize(speech, signal) {
      throwIfAborted(signal);
      const text = spokenText(speech.text, {
        vendor: RESPEECHER_NAME,
        maxChars: RESPEECHER_MAX_TEXT_CHARS,
      });
      if (text === null) return;
      const target = targetOf(baseUrl, speech);
      const settings = settingsOf(speech);
      const name = JSON.stringify([target.url, settings]);
      const failureOf: Speaking["failureOf"] = (message) =>
        respeecherFailure(message, { key: speech.key, worked: spokenBefore.has(name) });
      const speaking = { text, settings, format: formatOf(speech), silenceLimitMs, failureOf };
      yield* pool.request(target, withoutSilentSockets(exchangeOf(speaking)), signal);
      spokenBefore.add(name);
    },
    close: () => pool.close(),
  };
}

function formatOf({ output }: VoiceUse): AudioFormat {
  return formatWithin(output, RESPEECHER_LOWEST_RATE_HZ, RESPEECHER_HIGHEST_RATE_HZ);
}

/** A name such as `en-rt`, or a path such as `public/tts/en-rt`. */
const MODEL = /^[\w-]{1,64}(?:\/[\w-]{1,64}){0,4}$/;
const UKRAINIAN = /^uk(?:-|$)/i;

function targetOf(
  baseUrl: string,
  { voice, key, language }: VoiceUse<"provider6">,
): SocketTarget<RespeecherMessage> {
  const model = voice.model ?? (UKRAINIAN.test(language ?? "") ? "ua-rt" : "en-rt");
  if (!MODEL.test(model))
    throw new EngineFailure("a model of Respeecher is a name such as en-rt", {
      isPermanent: true,
      type: "no_model",
    });
  const hasPath = new URL(baseUrl).pathname !== "/";
  const path = `${MODELS_PATH}${model.includes("/") ? model : `${PUBLIC_MODELS}${model}`}`;
  return {
    url: socketUrl(baseUrl, `${hasPath ? "" : path}/tts/websocket`),
    headers: { "x-api-key": key },
    secrets: [key],
    protocol: respeecherProtocol(key),
  };
}

type Settings = Pick<RespeecherGeneration, "voice" | "output_format">;

function settingsOf(use: VoiceUse<"provider6">): Settings {
  const { voiceId, seed, temperature, topK, topP, minP } = use.voice;
  const { presencePenalty, repetitionPenalty, frequencyPenalty } = use.voice;
  if (voiceId === undefined)
    throw new EngineFailure("a voice of Respeecher needs its voiceId", {
      isPermanent: true,
      type: "no_voice",
    });
  // Unset ones are left out when it becomes JSON.
  const sampling = {
    seed,
    temperature,
    top_k: topK,
    top_p: topP,
    min_p: minP,
    presence_penalty: presencePenalty,
    repetition_penalty: repetitionPenalty,
    frequency_penalty: frequencyPenalty,
  } satisfies RespeecherSampling;
  const isSet = Object.values(sampling).some((value) => value !== undefined);
  const { encoding, sampleRateHz } = formatOf(use);
  return {
    voice: { id: voiceId, ...(isSet ? { sampling_params: sampling } : {}) },
    output_format: { encoding: encoding === "mulaw" ? "pcm_mulaw" : "pcm_s16le", sample_rate: sampleRateHz },
  };
}

interface Speaking {
  readonly text: string;
  readonly settings: Settings;
  readonly format: AudioFormat;
  readonly silenceLimitMs: number;
  readonly failureOf: (message: Extract<RespeecherMessage, { readonly type: "error" }>) => EngineFailure;
}

function exchangeOf(speaking: Speaking): Exchange<RespeecherMessage, TtsPart> {
  const { text, settings, format, silenceLimitMs, failureOf } = speaking;
  let isRunning = false;
  return {
    async *run(request) {
      const spoken = new SpokenParts(RESPEECHER_NAME, text, format);
      tell(request, { context_id: request.id, transcript: text, continue: false, ...settings });
      isRunning = true;
      while (isRunning) {
        const message = await request.next(silenceLimitMs);
        isRunning = message.type === "chunk";
        if (message.type === "error") throw failureOf(message);
        if (message.type === "chunk") yield* spoken.take({ audio: message.data });
      }
      yield* spoken.end();
    },
    async settle(request) {
      if (!isRunning) return;
      tell(request, { context_id: request.id, cancel: true });
      await untilQuiet(request);
    },
  };
}

/** Resolves when nothing has come for a context for a while, or its end has. */
async function untilQuiet(request: SocketRequest<RespeecherMessage>): Promise<void> {
  for (;;) {
    try {
      const message = await request.next(CANCEL_QUIET_MS);
      if (message.type !== "chunk") return;
    } catch (error) {
      if (error instanceof EngineFailure && error.type === "timeout") return;
      throw error;
    }
  }
}

function tell(request: SocketRequest<RespeecherMessage>, message: RespeecherClientMessage): void {
  request.send(JSON.stringify(message));
}
