/**
 * Lets people hear the voices of the deployment's engine. The engine speaks for calls at the same time, so previews ask
 * it for little: few at once, each bounded in time and length, and none twice while its sample is kept.
 */

import type { Logger } from "pino";
import type { VoicePreview } from "./http/deps.ts";
import { bytesOfSamples } from "./media/pcm.ts";
import { wavHeader } from "./media/wav.ts";
import type { TtsEngine, TtsRequest } from "./ports/tts.ts";
import { previewSentence } from "./preview-sentences.ts";
import type { PreviewFiles } from "./providers/preview-files/preview-files.ts";

export interface VoicePreviewParts {
  readonly engine: Pick<TtsEngine, "name" | "synthesize">;
  /** What else its sound depends on, such as model and server; part of what a kept sample is known by. */
  readonly engineSettings: readonly string[];
  readonly files: PreviewFiles;
  readonly logger: Pick<Logger, "warn">;
  /** Texts that no answer may show. */
  readonly secrets?: readonly (string | null | undefined)[];
  readonly limits?: Partial<PreviewTimes>;
}

interface PreviewTimes {
  /** From the request to the whole sample. A sentence takes a second; a cold local model takes several to load. */
  readonly synthesisMs: number;
  /** Samples made at once: a call's sentence never waits for more than these. */
  readonly atOnce: number;
  /** Further ones that wait; a page that shows every voice of an engine asks for some dozens. */
  readonly waiting: number;
  /** For one of them: an engine that hangs must not keep people waiting for each other. */
  readonly waitMs: number;
  /** Of one sample: half a minute at 48 kHz, ten times what the sentences take. */
  readonly samples: number;
}

const LIMITS: PreviewTimes = {
  synthesisMs: 15_000,
  atOnce: 2,
  waiting: 64,
  waitMs: 20_000,
  samples: 30 * 48_000,
};

/** A voice of the engine. */
export interface PreviewVoice {
  readonly name: string;
  /** BCP 47 or null. */
  readonly primaryLanguage?: string | null;
}

export type PreviewVoiceAloud = (voice: PreviewVoice) => Promise<VoicePreview>;

export function createVoicePreviews(parts: VoicePreviewParts): PreviewVoiceAloud {
  const limits = { ...LIMITS, ...parts.limits };
  const turns = takeTurns(limits);
  const underWay = new Map<string, Promise<VoicePreview>>();
  return (voice) => {
    const { text, language } = previewSentence(voice.primaryLanguage ?? null);
    const request: TtsRequest = { text, voice: voice.name, language };
    const about = JSON.stringify([parts.engine.name, ...parts.engineSettings, request]);
    const known = underWay.get(about);
    if (known !== undefined) return known;
    const preview = heard(about, request, parts, limits, turns).finally(() => underWay.delete(about));
    underWay.set(about, preview);
    return preview;
  };
}

async function heard(
  about: string,
  request: TtsRequest,
  { engine, files, logger, secrets = [] }: VoicePreviewParts,
  limits: PreviewTimes,
  turns: Turns,
): Promise<VoicePreview> {
  const kept = await files.read(about);
  if (kept !== null) return { kind: "heard", wav: kept };
  if (!(await turns.begin())) return { kind: "busy" };
  try {
    const wav = await spoken(engine, request, limits);
    await files.keep(about, wav).catch((error: unknown) => {
      logger.warn({ error: String(error) }, "a voice preview was not kept");
    });
    return { kind: "heard", wav };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason: withoutSecrets(reason, secrets).replace(/\.$/, "") };
  } finally {
    turns.end();
  }
}

async function spoken(
  engine: VoicePreviewParts["engine"],
  request: TtsRequest,
  limits: PreviewTimes,
): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(limits.synthesisMs);
  const pieces: Int16Array[] = [];
  let samples = 0;
  let sampleRateHz = 0;
  try {
    for await (const part of engine.synthesize(request, signal)) {
      if (part.type !== "audio") continue;
      samples += part.samples.length;
      if (samples > limits.samples) throw new Error("it speaks without an end");
      pieces.push(part.samples);
      sampleRateHz = part.sampleRateHz;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`it did not finish within ${limits.synthesisMs / 1000} s`, { cause: error });
  }
  if (samples === 0) throw new Error("it gave no audio");
  const header = wavHeader({ sampleRateHz, channels: 1 }, samples * 2);
  return Buffer.concat([header, ...pieces.map((piece) => bytesOfSamples(piece))]);
}

/** Secrets of fewer characters would take ordinary words out of sentences. */
const LEAST_SECRET = 8;

function withoutSecrets(text: string, secrets: readonly (string | null | undefined)[]): string {
  return secrets.reduce<string>(
    (shown, secret) =>
      secret === null || secret === undefined || secret.length < LEAST_SECRET
        ? shown
        : shown.replaceAll(secret, "[key]"),
    text,
  );
}

interface Turns {
  /** False: too many wait already, or its turn did not come in time. */
  begin(): Promise<boolean>;
  end(): void;
}

function takeTurns({ atOnce, waiting, waitMs }: PreviewTimes): Turns {
  const queue: ((comes: boolean) => void)[] = [];
  let running = 0;
  return {
    async begin() {
      if (running < atOnce) {
        running += 1;
        return true;
      }
      if (queue.length >= waiting) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      queue.push(resolve);
      const late = setTimeout(() => {
        const place = queue.indexOf(resolve);
        // It may have been called this moment, and then it has the turn.
        if (place >= 0) queue.splice(place, 1)[0]?.(false);
      }, waitMs);
      const comes = await promise;
      clearTimeout(late);
      return comes;
    },
    end() {
      // The turn is handed on, or given back.
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next(true);
    },
  };
}
