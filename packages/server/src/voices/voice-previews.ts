/**
 * A cache of voice samples with a semaphore. The engine speaks for calls at the same time, so previews limit their use
 * of it: few at once, each bounded in time and length, and none twice while its sample is cached.
 */

import type { Logger } from "pino";
import { bytesOfSamples } from "../media/pcm.ts";
import { wavHeader } from "../media/wav.ts";
import type { TtsEngine, TtsRequest } from "../ports/tts.ts";
import { previewSentence } from "./preview-sentences.ts";
import type { PreviewFiles } from "../providers/preview-files/preview-files.ts";
import { messageOf } from "../pacing/error-text.ts";
import { withoutSecrets } from "./secret-texts.ts";

export type VoicePreview =
  /** A whole WAV file. */
  | { readonly kind: "heard"; readonly wav: Uint8Array }
  /** `reason` ends a sentence and contains no key. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Too many previews wait for the engine. */
  | { readonly kind: "busy" };

export interface PreviewParts {
  readonly files: PreviewFiles;
  readonly logger: Pick<Logger, "warn">;
  readonly limits?: Partial<PreviewTimes>;
}

export interface PreviewedVoice {
  readonly engine: Pick<TtsEngine, "name" | "synthesize">;
  /** What else its sound depends on, such as model and server; part of the key of a cached sample. */
  readonly settings: readonly string[];
  /** Texts that no answer may contain. */
  readonly secrets?: readonly (string | null | undefined)[];
}

interface PreviewTimes {
  /** Limit from the request to the whole sample. A sentence takes a second; a cold local model several to load. */
  readonly synthesisMs: number;
  /** Concurrent samples: a call's sentence never waits for more than these. */
  readonly atOnce: number;
  /** Limit of waiting previews; a page that shows every voice of an engine requests some dozens. */
  readonly waiting: number;
  /** Limit of one of them: an engine that hangs must not make people wait for each other. */
  readonly waitMs: number;
  /** Limit of one sample: half a minute at 48 kHz, ten times what the sentences take. */
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

/** Speaks the sentence of a language. */
export type PreviewAloud = (
  voice: PreviewedVoice,
  wanted: { readonly name: string | null; readonly primaryLanguage: string | null },
) => Promise<VoicePreview>;

/** One set of limits for all voices that are previewed by it. */
export function createPreviews(parts: PreviewParts): PreviewAloud {
  const limits = { ...LIMITS, ...parts.limits };
  const turns = takeTurns(limits);
  const underWay = new Map<string, Promise<VoicePreview>>();
  return (previewed, { name, primaryLanguage }) => {
    const { text, language } = previewSentence(primaryLanguage);
    const request: TtsRequest = { text, voice: name, language };
    const about = JSON.stringify([previewed.engine.name, ...previewed.settings, request]);
    const known = underWay.get(about);
    if (known !== undefined) return known;
    const preview = heard(about, request, { ...parts, ...previewed }, limits, turns).finally(() =>
      underWay.delete(about),
    );
    underWay.set(about, preview);
    return preview;
  };
}

/** @param voice the voice of the moment: the operator may change it */
export function previewsOfEngine(preview: PreviewAloud, voice: () => PreviewedVoice): PreviewVoiceAloud {
  return ({ name, primaryLanguage = null }) => preview(voice(), { name, primaryLanguage });
}

async function heard(
  about: string,
  request: TtsRequest,
  { engine, files, logger, secrets = [] }: PreviewedVoice & Pick<PreviewParts, "files" | "logger">,
  limits: PreviewTimes,
  turns: Turns,
): Promise<VoicePreview> {
  const stored = await files.read(about);
  if (stored !== null) return { kind: "heard", wav: stored };
  if (!(await turns.begin())) return { kind: "busy" };
  try {
    const wav = await spoken(engine, request, limits);
    await files.keep(about, wav).catch((error: unknown) => {
      logger.warn({ error: String(error) }, "a voice preview could not be stored");
    });
    return { kind: "heard", wav };
  } catch (error) {
    const reason = messageOf(error);
    return { kind: "failed", reason: withoutSecrets(reason, secrets).replace(/\.$/, "") };
  } finally {
    turns.end();
  }
}

async function spoken(
  engine: PreviewedVoice["engine"],
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
      if (samples > limits.samples) throw new Error("the speech was too long");
      pieces.push(part.samples);
      sampleRateHz = part.sampleRateHz;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(`it did not finish within ${limits.synthesisMs / 1000} s`, { cause: error });
  }
  if (samples === 0) throw new Error("the voice produced no audio");
  const header = wavHeader({ sampleRateHz, channels: 1 }, samples * 2);
  return Buffer.concat([header, ...pieces.map((piece) => bytesOfSamples(piece))]);
}

interface Turns {
  /** False: too many wait already, or no turn was free in time. */
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
        // If it was called at this moment, it has the turn.
        if (place >= 0) queue.splice(place, 1)[0]?.(false);
      }, waitMs);
      const comes = await promise;
      clearTimeout(late);
      return comes;
    },
    end() {
      // The turn goes to the next one, or is released.
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next(true);
    },
  };
}
