/**
 * Speech input pipeline, from the transport's audio to voice scores and transcripts: pacing, 16 kHz, windows,
 * utterances, recording.
 */

import type { CallEngineEventBody } from "../../call/events.ts";
import type { EchoEstimator } from "../../media/echo.ts";
import { ToneFilter } from "../../media/dtmf-filter.ts";
import { msToSamples } from "../../media/frame.ts";
import { Framer } from "../../media/framer.ts";
import { Intake } from "../../media/intake.ts";
import { Resampler } from "../../media/resample.ts";
import type { UseListener } from "../../ports/engine-use.ts";
import { STT_SAMPLE_RATE_HZ, type SttEngine } from "../../ports/stt.ts";
import { VAD_WINDOW_MS, VAD_WINDOW_SAMPLES, type VadEngine, type VadStream } from "../../ports/vad.ts";
import type { CallAnswerer } from "./call-answerer.ts";
import { HIGHEST_RECORDING_RATE_HZ, type Recorder } from "./recorder.ts";
import type { AudioTap } from "./two-sided-audio.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { Served } from "../engine-user.ts";
import { DoubtedWindows } from "./doubted-windows.ts";
import { Recognition, type CallRecognition, type RecognitionOptions } from "./recognition.ts";
import { SpokenVoice } from "./spoken-voice.ts";

/** Received audio that an utterance may begin with; speech is noticed at most a few windows after it began. */
const PREROLL_LIMIT_MS = 2_000;
/** Audio that a turn detector is given: what the common audio models were trained on. */
const JUDGED_LIMIT_MS = 8_000;
/** Scores have four decimals: more carry no information, and would be most of a stored event log. */
const SCORE_STEPS = 10_000;

/** Windows whose scores may be pending: 16 s, more than a detector's queue holds. */
const MAX_ECHOES = 512;

export interface SpeechInOptions {
  readonly vad: VadEngine;
  readonly stt: SttEngine;
  readonly inputSampleRateHz: number;
  /** The media clock at the beginning. Unset: 0. */
  readonly startMediaMs?: number;
  /** The medium signals keys, so their tones are kept from the recogniser. */
  readonly signalsDigits?: boolean;
  readonly mediaIdleTimeoutMs: number | null;
  /** BCP 47 or null. */
  readonly language: string | null;
  /** Unset: the default recogniser, without hints. */
  readonly recognition?: CallRecognition;
  readonly judged?: RecognitionOptions["judged"];
  /** Unset: nobody counts the requests. */
  readonly meterOf?: (utteranceId: number) => UseListener;
  readonly recorder: Recorder | null;
  /** Also receives the incoming audio, at the transport's rate. */
  readonly tap: AudioTap | null;
  /** Also receives the incoming audio; null: nobody wants to know who has answered. */
  readonly answerer: Pick<CallAnswerer, "audio"> | null;
  /** Whether a turn detector needs the audio of utterances. */
  readonly listens: boolean;
  /** Whether a language model may be given the voice of utterances. */
  readonly keepsVoice: boolean;
  /** Estimates how likely a window is the echo of the agent's own voice; null: there is no estimator. */
  readonly echo: EchoEstimator | null;
  readonly nowMs: () => number;
  readonly post: (event: CallEngineEventBody) => void;
  /** Told which recogniser of a list answers a request. Unset: nobody wants to know. */
  readonly served?: Served | undefined;
}

export class SpeechIn {
  readonly #options: SpeechInOptions;
  readonly #intake: Intake;
  readonly #resampler: Resampler;
  readonly #tones: ToneFilter | null;
  readonly #framer = new Framer(VAD_WINDOW_SAMPLES);
  readonly #preroll: Preroll;
  readonly #recognition: Recognition;
  /** The utterance that is open, and the position in the received audio at which it begins. */
  #utterance: { readonly id: number; readonly fromSample: number } | null = null;
  readonly #recordsInput: boolean;
  readonly #voice: SpokenVoice | null;
  #vad: VadStream | null = null;
  /** Likelihood of echo of the latest windows, by their numbers. */
  readonly #echoes = new Float64Array(MAX_ECHOES);
  readonly #doubted = new DoubtedWindows();
  #windows = 0;
  #closed = false;

  constructor(options: SpeechInOptions) {
    this.#options = options;
    const { recognition: call, judged, meterOf, served } = options;
    this.#recognition = new Recognition(options.stt, options.post, {
      ...(call === undefined ? {} : { call }),
      ...(judged === undefined ? {} : { judged }),
      ...(meterOf === undefined ? {} : { meterOf }),
      ...(served === undefined ? {} : { served }),
    });
    const { inputSampleRateHz: sampleRateHz, mediaIdleTimeoutMs: idleTimeoutMs, post } = options;
    const retainedMs = options.listens ? JUDGED_LIMIT_MS : PREROLL_LIMIT_MS;
    this.#preroll = new Preroll(msToSamples(retainedMs, STT_SAMPLE_RATE_HZ));
    this.#resampler = new Resampler(sampleRateHz, STT_SAMPLE_RATE_HZ);
    this.#tones = options.signalsDigits === true ? new ToneFilter(sampleRateHz) : null;
    this.#voice = options.keepsVoice ? new SpokenVoice() : null;
    this.#recordsInput = sampleRateHz <= HIGHEST_RECORDING_RATE_HZ;
    this.#intake = new Intake(
      { sampleRateHz, idleTimeoutMs, startMs: options.nowMs() },
      {
        released: (samples) => {
          this.#released(samples);
        },
        underflowed: (missingMs) => {
          post({ type: "mediaUnderflowed", missingMs: Math.round(missingMs) });
        },
        overflowed: (droppedMs) => {
          post({ type: "mediaOverflowed", droppedMs: Math.round(droppedMs) });
        },
        idled: () => {
          post({ type: "mediaIdled" });
        },
      },
    );
  }

  /** Opens the engines. A failure is posted as it would be later. */
  start(): void {
    const { vad, language, post, startMediaMs = 0 } = this.#options;
    try {
      this.#vad = vad.open({
        scored: (index, score) => {
          if (this.#closed) return;
          const echo = this.#echoes[index % MAX_ECHOES] ?? 0;
          const endMs = (window: number) => startMediaMs + (window + 1) * VAD_WINDOW_MS;
          const mediaMs = endMs(index);
          const rounded = Math.round(score * SCORE_STEPS) / SCORE_STEPS;
          const own = this.#doubted.scored(index, rounded);
          if (own !== null) {
            const windows = own.map((window) => ({ mediaMs: endMs(window.index), score: window.score }));
            post({ type: "echoLearned", own: windows });
          }
          const scored = { type: "voiceScored", score: rounded, mediaMs } as const;
          post(echo === 0 ? scored : { ...scored, echo });
        },
        failed: (error) => {
          if (!this.#closed) post({ type: "voiceDetectionFailed", error: error.message });
        },
      });
    } catch (error) {
      post({ type: "voiceDetectionFailed", error: messageOf(error) });
    }
    this.#recognition.start(language);
  }

  /** Takes effect from the next utterance on. */
  follow(language: string | null): void {
    this.#recognition.follow(language);
  }

  /** Takes audio of the transport, at its rate. */
  audio(samples: Int16Array): void {
    if (!this.#closed) this.#intake.push(samples, this.#options.nowMs());
  }

  tick(nowMs: number): void {
    if (!this.#closed) this.#intake.tick(nowMs);
  }

  detach(): void {
    this.#intake.detach();
  }

  attach(nowMs: number): void {
    this.#intake.attach(nowMs);
  }

  openUtterance(utteranceId: number, prerollMs: number): void {
    const parts = this.#preroll.last(msToSamples(Math.min(prerollMs, PREROLL_LIMIT_MS), STT_SAMPLE_RATE_HZ));
    const begun = parts.reduce((sum, part) => sum + part.length, 0);
    this.#utterance = { id: utteranceId, fromSample: this.#preroll.total - begun };
    this.#recognition.open(utteranceId, parts);
    this.#voice?.open(utteranceId, parts);
  }

  /** What was said in one of the latest utterances, up to now; null: it is no longer there, or was never kept. */
  voiceOf(utteranceId: number): Int16Array | null {
    return this.#voice?.samplesOf(utteranceId) ?? null;
  }

  /** Up to the utterance's last 8 s; null when no detector listens or the utterance is over. */
  utteranceAudio(utteranceId: number): Int16Array | null {
    if (!this.#options.listens || this.#utterance?.id !== utteranceId) return null;
    return this.#preroll.copy(this.#preroll.total - this.#utterance.fromSample);
  }

  requestTranscript(utteranceId: number, revision: number): void {
    this.#recognition.request(utteranceId, revision);
  }

  abandonUtterance(utteranceId: number): void {
    if (this.#utterance?.id === utteranceId) this.#utterance = null;
    this.#recognition.abandon(utteranceId);
    this.#voice?.end(utteranceId);
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#vad?.close();
    this.#recognition.close();
    this.#voice?.close();
    this.#resampler.close();
  }

  #released(samples: Int16Array): void {
    const { recorder, tap, nowMs, answerer, inputSampleRateHz } = this.#options;
    tap?.caller(samples, nowMs());
    answerer?.audio(samples, inputSampleRateHz);
    if (this.#recordsInput) recorder?.caller(samples, nowMs());
    const speech = this.#resampler.push(this.#tones?.push(samples) ?? samples);
    if (speech.length === 0) return;
    if (!this.#recordsInput) recorder?.caller(speech, nowMs());
    this.#preroll.push(speech);
    this.#recognition.push(speech);
    this.#voice?.push(speech);
    // This comes last, because a score may open or end an utterance.
    this.#framer.push(speech, this.#window);
  }

  readonly #window = (window: Int16Array): void => {
    if (this.#closed || this.#vad === null) return;
    const { echo, nowMs } = this.#options;
    if (echo !== null) {
      const likelihood = rounded(echo.window(window, nowMs()));
      this.#echoes[this.#windows % MAX_ECHOES] = likelihood;
      this.#doubted.heard(this.#windows, likelihood, echo.takeJudgedAgain());
    }
    this.#windows += 1;
    this.#vad.push(window);
  };
}

/** Two decimals are enough for every decision, and keep event logs short. */
function rounded(likelihood: number): number {
  return Math.round(likelihood * 100) / 100;
}

/** Ring buffer of the latest audio, for utterances that begin before they are noticed. */
class Preroll {
  readonly #ring: Int16Array;
  #end = 0;
  #length = 0;
  /** Samples received so far. */
  total = 0;

  constructor(capacity: number) {
    this.#ring = new Int16Array(capacity);
  }

  push(samples: Int16Array): void {
    const capacity = this.#ring.length;
    this.total += samples.length;
    const kept = samples.length > capacity ? samples.subarray(samples.length - capacity) : samples;
    const first = Math.min(kept.length, capacity - this.#end);
    this.#ring.set(kept.subarray(0, first), this.#end);
    this.#ring.set(kept.subarray(first), 0);
    this.#end = (this.#end + kept.length) % capacity;
    this.#length = Math.min(capacity, this.#length + kept.length);
  }

  /** The last `count` samples or as many as there are, in pieces of at most a second each. */
  last(count: number): Int16Array[] {
    return this.#ends(count)
      .flatMap((part) => [part.subarray(0, STT_SAMPLE_RATE_HZ), part.subarray(STT_SAMPLE_RATE_HZ)])
      .filter((part) => part.length > 0);
  }

  /** The same in one new piece. */
  copy(count: number): Int16Array {
    const [first, second] = this.#ends(count);
    const whole = new Int16Array(first.length + second.length);
    whole.set(first);
    whole.set(second, first.length);
    return whole;
  }

  #ends(count: number): readonly [Int16Array, Int16Array] {
    const capacity = this.#ring.length;
    const taken = Math.min(count, this.#length);
    const start = (this.#end - taken + capacity) % capacity;
    const first = this.#ring.subarray(start, Math.min(capacity, start + taken));
    return [first, this.#ring.subarray(0, taken - first.length)];
  }
}
