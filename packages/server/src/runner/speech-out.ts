/** From the engine's segments to frames on the transport: synthesis, the transport's rate, playout, recording. */

import type { CallEffect, Tones } from "../call/effects.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import { dtmfSamples } from "../media/dtmf.ts";
import { msToSamples, samplesToMs } from "../media/frame.ts";
import { Playout, type HeardPosition } from "../media/playout.ts";
import { Resampler } from "../media/resample.ts";
import { silence, spokenDurationMs } from "../media/silence.ts";
import type { TtsEngine, TtsPart } from "../ports/tts.ts";
import type { AudioTap } from "./two-sided-audio.ts";

/**
 * Audio taken to the transport's rate in one go: half a millisecond of work. The first of it is converted when it
 * arrives, so that nothing waits for the next tick; a tick converts at most one such slice for each call.
 */
const CONVERT_MS = 100;
/** Converted audio that waits to be sent; more is not converted yet, so that the work is spread over the speech. */
const CONVERTED_AHEAD_MS = 500;
/** Unheard audio beyond which no more is taken from the voice: two minutes, 11 MB at 48 kHz. */
const BUFFER_LIMIT_MS = 120_000;
/** A voice that waits for room is looked at this often. */
const ROOM_POLL_MS = 500;

type Synthesize = Extract<CallEffect, { type: "synthesize" }>;

export interface SpeechOutOptions {
  readonly tts: TtsEngine;
  readonly outputSampleRateHz: number;
  readonly aheadMs: number;
  /** Hear what was heard of the agent. */
  readonly taps: readonly Pick<AudioTap, "agent">[];
  readonly nowMs: () => number;
  readonly after: (delayMs: number, fire: () => void) => () => void;
  readonly send: (frame: Int16Array) => void;
  readonly post: (event: CallEngineEventBody) => void;
  /** A throw where nothing but a mistake of ours can throw. */
  readonly faulted: (error: unknown) => void;
}

/** One attempt to render one segment. */
interface Attempt {
  readonly replyId: number;
  readonly segmentId: number;
  readonly abort: AbortController;
  resampler: Resampler | null;
  /** Parts not yet at the transport's rate. */
  readonly waiting: Int16Array[];
  /** Audio that has come, in ms. */
  receivedMs: number;
  begun: boolean;
  /** Whether more is to come, and if not, whether the text was rendered to its end. */
  stage: "coming" | "whole" | "broken";
}

export class SpeechOut {
  readonly #options: SpeechOutOptions;
  readonly #playout: Playout;
  readonly #attempts = new Map<number, Attempt>();
  /** Posted once the playout's own work is done, because the answer may change the playout. */
  #told: CallEngineEventBody[] = [];
  #telling = false;
  readonly #unspoken = new Set<string>();
  #closed = false;

  constructor(options: SpeechOutOptions) {
    this.#options = options;
    const { outputSampleRateHz: sampleRateHz, aheadMs } = options;
    this.#playout = new Playout(
      { sampleRateHz, aheadMs },
      {
        started: (replyId, segmentId) => {
          this.#told.push({ type: "segmentPlayoutStarted", replyId, segmentId });
        },
        advanced: (replyId, segmentId, heardChars, playedMs) => {
          this.#told.push({ type: "segmentPlayoutAdvanced", replyId, segmentId, heardChars, playedMs });
        },
        finished: (replyId, segmentId, playedMs) => {
          this.#told.push({ type: "segmentPlayoutFinished", replyId, segmentId, playedMs });
        },
        heard: (samples, startMs) => {
          for (const tap of options.taps) tap.agent(samples, startMs);
        },
      },
    );
  }

  /** Renders a segment, or renders it again in its place. */
  synthesize(effect: Synthesize): void {
    if (this.#closed) return;
    const { replyId, segmentId, text, languageHint } = effect;
    this.#drop(segmentId);
    this.#playout.restartSegment(replyId, segmentId, text);
    const attempt: Attempt = {
      replyId,
      segmentId,
      abort: new AbortController(),
      resampler: null,
      waiting: [],
      receivedMs: 0,
      begun: false,
      stage: "coming",
    };
    this.#attempts.set(segmentId, attempt);
    const tones = effect.tones ?? null;
    if (tones !== null) {
      this.#playTones(attempt, tones);
      return;
    }
    if (effect.silent) {
      this.#beSilent(attempt, text);
      return;
    }
    if (languageHint !== null) this.#checkLanguage(languageHint);
    this.#render(attempt, effect).catch(this.#options.faulted);
  }

  /** Aborts what is being rendered for the reply; audio that is here stays playable. */
  abortReply(replyId: number): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.replyId !== replyId || attempt.stage !== "coming") continue;
      attempt.stage = "broken";
      attempt.abort.abort();
      this.#endIfConverted(attempt);
    }
  }

  speak(replyId: number): void {
    this.#playout.open(replyId);
    this.#pump();
  }

  pause(replyId: number): void {
    this.#answer("playoutPaused", replyId, this.#playout.pause(replyId, this.#options.nowMs()));
  }

  resume(replyId: number): void {
    this.#playout.resume(replyId);
    this.#pump();
  }

  clear(replyId: number): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.replyId === replyId) this.#drop(attempt.segmentId);
    }
    this.#answer("playoutCleared", replyId, this.#playout.clear(replyId, this.#options.nowMs()));
  }

  tick(): void {
    if (this.#closed) return;
    for (const attempt of this.#attempts.values()) {
      if (attempt.waiting.length === 0) continue;
      if (this.#playout.unsentMs(attempt.replyId, attempt.segmentId) >= CONVERTED_AHEAD_MS) continue;
      this.#convert(attempt);
      break;
    }
    this.#pump();
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // What was heard up to this moment belongs to the recording.
    this.#playout.advance(this.#options.nowMs());
    this.#told = [];
    for (const segmentId of this.#attempts.keys()) this.#drop(segmentId);
  }

  #answer(type: "playoutPaused" | "playoutCleared", replyId: number, position: HeardPosition): void {
    this.#told.push({ type, replyId, ...position });
    this.#tell();
  }

  #pump(): void {
    if (this.#closed) return;
    this.#playout.take(this.#options.nowMs(), this.#options.send);
    this.#tell();
  }

  #tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    for (let event = this.#told.shift(); event !== undefined; event = this.#told.shift()) {
      this.#options.post(event);
    }
    this.#telling = false;
  }

  #checkLanguage(language: string): void {
    const { tts, post } = this.#options;
    if (this.#unspoken.has(language) || tts.speaks(language)) return;
    this.#unspoken.add(language);
    post({ type: "engineWarned", engine: "tts", detail: `the voice ${tts.name} does not speak ${language}` });
  }

  #beSilent(attempt: Attempt, text: string): void {
    const { outputSampleRateHz } = this.#options;
    let left = msToSamples(spokenDurationMs(text), outputSampleRateHz);
    while (left > 0) {
      const part = silence(Math.min(left, outputSampleRateHz));
      this.#playout.append(attempt.replyId, attempt.segmentId, part);
      left -= part.length;
    }
    attempt.receivedMs = spokenDurationMs(text);
    this.#began(attempt);
    this.#rendered(attempt);
    this.#pump();
  }

  /** At the transport's rate at once: half a millisecond of work for each key. */
  #playTones(attempt: Attempt, tones: Tones): void {
    const { outputSampleRateHz } = this.#options;
    for (const part of dtmfSamples(tones, outputSampleRateHz)) {
      this.#playout.append(attempt.replyId, attempt.segmentId, part);
      attempt.receivedMs += samplesToMs(part.length, outputSampleRateHz);
    }
    this.#began(attempt);
    this.#rendered(attempt);
    this.#pump();
  }

  async #render(attempt: Attempt, effect: Synthesize): Promise<void> {
    const { signal } = attempt.abort;
    try {
      const request = { text: effect.text, voice: effect.voice, language: effect.languageHint };
      for await (const part of this.#options.tts.synthesize(request, signal)) {
        if (signal.aborted) return;
        this.#received(attempt, part);
        if (this.#bufferedMs() > BUFFER_LIMIT_MS) await this.#room(signal);
      }
      if (signal.aborted) return;
      this.#rendered(attempt);
      this.#pump();
    } catch (error) {
      if (!signal.aborted) this.#failed(attempt, error);
    }
  }

  #received(attempt: Attempt, part: TtsPart): void {
    const { replyId, segmentId } = attempt;
    if (part.type === "word") {
      this.#playout.word(replyId, segmentId, part.textOffset, part.atMs);
      return;
    }
    if (part.samples.length === 0) return;
    attempt.resampler ??= new Resampler(part.sampleRateHz, this.#options.outputSampleRateHz);
    if (attempt.resampler.fromHz !== part.sampleRateHz) throw new Error("the voice changed its sample rate");
    attempt.receivedMs += samplesToMs(part.samples.length, part.sampleRateHz);
    attempt.waiting.push(part.samples);
    if (this.#playout.unsentMs(replyId, segmentId) < CONVERT_MS || isPassedOn(attempt.resampler)) {
      this.#convert(attempt);
    }
    this.#pump();
  }

  /** Takes up to `CONVERT_MS` of an attempt to the transport's rate; all of it where the rates are equal. */
  #convert(attempt: Attempt): void {
    const { resampler, waiting, replyId, segmentId } = attempt;
    if (resampler === null) return;
    let left = isPassedOn(resampler) ? Number.POSITIVE_INFINITY : msToSamples(CONVERT_MS, resampler.fromHz);
    while (left > 0) {
      const part = waiting[0];
      if (part === undefined) break;
      const slice = part.length <= left ? part : part.subarray(0, left);
      if (slice === part) waiting.shift();
      else waiting[0] = part.subarray(slice.length);
      left -= slice.length;
      this.#playout.append(replyId, segmentId, resampler.push(slice));
    }
    this.#began(attempt);
    this.#endIfConverted(attempt);
  }

  #began(attempt: Attempt): void {
    const { replyId, segmentId } = attempt;
    if (attempt.begun || attempt.receivedMs === 0 || attempt.abort.signal.aborted) return;
    attempt.begun = true;
    this.#told.push({ type: "segmentAudioReceived", replyId, segmentId });
  }

  /** The voice is done; the rest of its audio is converted as it is needed. */
  #rendered(attempt: Attempt): void {
    const { replyId, segmentId } = attempt;
    attempt.stage = "whole";
    const durationMs = Math.round(attempt.receivedMs);
    this.#playout.expect(replyId, segmentId, durationMs);
    this.#told.push({ type: "segmentSynthesized", replyId, segmentId, durationMs });
    this.#endIfConverted(attempt);
  }

  #endIfConverted(attempt: Attempt): void {
    const { replyId, segmentId, resampler } = attempt;
    if (attempt.stage === "coming" || attempt.waiting.length > 0) return;
    if (resampler !== null) this.#playout.append(replyId, segmentId, resampler.flush());
    this.#attempts.delete(segmentId);
    // Without any audio a segment that failed keeps its place for the next attempt.
    if (attempt.stage === "broken" && attempt.receivedMs === 0 && !attempt.abort.signal.aborted) return;
    this.#playout.endSegment(replyId, segmentId, attempt.stage === "whole");
  }

  #failed(attempt: Attempt, error: unknown): void {
    const { replyId, segmentId } = attempt;
    attempt.stage = "broken";
    const message = error instanceof Error ? error.message : String(error);
    const receivedMs = Math.round(attempt.receivedMs);
    this.#told.push({ type: "segmentFailed", replyId, segmentId, error: message, receivedMs });
    this.#endIfConverted(attempt);
    this.#pump();
  }

  #drop(segmentId: number): void {
    const attempt = this.#attempts.get(segmentId);
    if (attempt === undefined) return;
    this.#attempts.delete(segmentId);
    attempt.abort.abort();
    attempt.waiting.length = 0;
    attempt.resampler?.close();
  }

  #bufferedMs(): number {
    let bufferedMs = this.#playout.bufferedMs;
    for (const { waiting, resampler } of this.#attempts.values()) {
      const samples = waiting.reduce((sum, part) => sum + part.length, 0);
      if (resampler !== null) bufferedMs += samplesToMs(samples, resampler.fromHz);
    }
    return bufferedMs;
  }

  /** Until there is room for more audio, or the attempt is over. */
  async #room(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#bufferedMs() > BUFFER_LIMIT_MS) {
      await new Promise<void>((resolve) => {
        const done = () => {
          cancel();
          signal.removeEventListener("abort", done);
          resolve();
        };
        const cancel = this.#options.after(ROOM_POLL_MS, done);
        signal.addEventListener("abort", done, { once: true });
      });
    }
  }
}

/** Nothing is to be converted: what is pushed comes out as it is. */
function isPassedOn(resampler: Resampler): boolean {
  return resampler.fromHz === resampler.toHz;
}
