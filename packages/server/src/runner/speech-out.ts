/** From the engine's segments to frames on the transport: synthesis, the transport's rate, playout, recording. */

import type { CallEffect } from "../call/effects.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import { msToSamples, samplesToMs } from "../media/frame.ts";
import { Playout, type HeardPosition } from "../media/playout.ts";
import { Resampler } from "../media/resample.ts";
import { silence, spokenDurationMs } from "../media/silence.ts";
import type { TtsEngine, TtsPart } from "../ports/tts.ts";
import type { Recorder } from "./recorder.ts";

/**
 * Audio converted to the transport's rate per look, per call: twenty times real time, half a millisecond of work. The
 * first of it is converted when it arrives, so that nothing waits for the next look.
 */
const CONVERT_MS = 200;
/** Unheard audio beyond which no more is taken from the voice: two minutes, 11 MB at 48 kHz. */
const BUFFER_LIMIT_MS = 120_000;
/** A voice that waits for room is looked at this often. */
const ROOM_POLL_MS = 500;

type Synthesize = Extract<CallEffect, { type: "synthesize" }>;

export interface SpeechOutOptions {
  readonly tts: TtsEngine;
  readonly outputSampleRateHz: number;
  readonly aheadMs: number;
  readonly recorder: Recorder | null;
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
  /** No more parts come. */
  complete: boolean;
  /** Aborted before all parts had come: what is here stays, and nothing more is posted. */
  cut: boolean;
  begun: boolean;
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
        heard: (samples, startMs) => options.recorder?.agent(samples, startMs),
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
      complete: false,
      cut: false,
      begun: false,
    };
    this.#attempts.set(segmentId, attempt);
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
      if (attempt.replyId !== replyId || attempt.complete) continue;
      attempt.complete = true;
      attempt.cut = true;
      attempt.abort.abort();
      this.#completeIfDone(attempt);
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
    let slices = 1;
    for (const attempt of this.#attempts.values()) {
      if (slices === 0) break;
      if (attempt.waiting.length === 0) continue;
      this.#convert(attempt);
      slices -= 1;
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
    attempt.complete = true;
    this.#began(attempt);
    this.#completeIfDone(attempt);
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
      attempt.complete = true;
      this.#completeIfDone(attempt);
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
    const first = attempt.waiting.length === 0;
    attempt.waiting.push(part.samples);
    if (first) this.#convert(attempt);
    this.#pump();
  }

  /** Takes up to `CONVERT_MS` of an attempt to the transport's rate; all of it where the rates are equal. */
  #convert(attempt: Attempt): void {
    const { resampler, waiting, replyId, segmentId } = attempt;
    if (resampler === null) return;
    const equal = resampler.fromHz === resampler.toHz;
    let left = equal ? Number.POSITIVE_INFINITY : msToSamples(CONVERT_MS, resampler.fromHz);
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
    this.#completeIfDone(attempt);
  }

  #began(attempt: Attempt): void {
    const { replyId, segmentId } = attempt;
    if (attempt.begun || attempt.cut || this.#playout.receivedMs(replyId, segmentId) === 0) return;
    attempt.begun = true;
    this.#told.push({ type: "segmentAudioReceived", replyId, segmentId });
  }

  #completeIfDone(attempt: Attempt): void {
    const { replyId, segmentId, resampler } = attempt;
    if (!attempt.complete || attempt.waiting.length > 0) return;
    if (resampler !== null) this.#playout.append(replyId, segmentId, resampler.flush());
    this.#began(attempt);
    this.#attempts.delete(segmentId);
    this.#playout.endSegment(replyId, segmentId, !attempt.cut);
    if (attempt.cut) return;
    const durationMs = Math.round(this.#playout.receivedMs(replyId, segmentId));
    this.#told.push({ type: "segmentSynthesized", replyId, segmentId, durationMs });
  }

  #failed(attempt: Attempt, error: unknown): void {
    const { replyId, segmentId } = attempt;
    // What came before the failure stays playable, all of it.
    while (attempt.waiting.length > 0) this.#convert(attempt);
    if (attempt.resampler !== null) {
      this.#playout.append(replyId, segmentId, attempt.resampler.flush());
    }
    this.#drop(segmentId);
    const receivedMs = Math.round(this.#playout.receivedMs(replyId, segmentId));
    // Without any audio the segment keeps its place for the next attempt.
    if (receivedMs > 0) this.#playout.endSegment(replyId, segmentId, false);
    const message = error instanceof Error ? error.message : String(error);
    this.#told.push({ type: "segmentFailed", replyId, segmentId, error: message, receivedMs });
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
