/**
 * Speech output pipeline, from the engine's segments to frames on the transport: synthesis, resampling, playout,
 * recording.
 */

import type { EffectOf, Tones } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import { dtmfSamples } from "../../media/dtmf.ts";
import { msToSamples, samplesToMs } from "../../media/frame.ts";
import { Playout, type HeardPosition } from "../../media/playout.ts";
import { newAttempt, type Attempt } from "./attempt.ts";
import type { MediumMeans } from "./medium-means.ts";
import { playoutListener } from "./playout-events.ts";
import { Resampler } from "../../media/resample.ts";
import { silence, spokenDurationMs } from "../../media/silence.ts";
import { failureKind } from "../../ports/engine-failure.ts";
import type { ServedBy } from "../../ports/engine-origin.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { Speaker, SpokenText } from "../../ports/voices.ts";
import type { VoicePlan } from "../../plan/voice-plan.ts";
import { engineUser, type Served } from "../engine-user.ts";
import type { PreparedGreeting } from "./prepared-greeting.ts";
import type { SpareSpeech } from "./spare-speech.ts";
import type { AudioTap } from "./two-sided-audio.ts";
import { messageOf } from "../../pacing/error-text.ts";

/**
 * Audio resampled at once to the transport's rate: half a millisecond of work. The first slice is converted when it
 * arrives, so that it does not wait for the next tick; a tick converts at most one slice for each call.
 */
const CONVERT_MS = 100;
/** Limit of converted audio that waits to be sent, so that the work is spread over the speech. */
const CONVERTED_AHEAD_MS = 500;
/** Limit of unheard audio, beyond which no more is read from the voice: two minutes, 11 MB at 48 kHz. */
const BUFFER_LIMIT_MS = 120_000;
/** Poll interval of a voice that waits for free buffer space. */
const ROOM_POLL_MS = 500;

type Synthesize = EffectOf<"synthesize">;

export interface SpeechOutOptions {
  readonly speakerOf: (voice: VoicePlan) => Speaker;
  readonly meterOf?: (replyId: number) => SpokenText["meter"];
  /** Unset: every sentence needs the voice. */
  readonly spareSpeech?: SpareSpeech;
  /** Null: nothing of it was prepared. */
  readonly greeting?: PreparedGreeting | null;
  readonly outputSampleRateHz: number;
  readonly aheadMs: number;
  /** Receive the agent's audio that was heard. */
  readonly taps: readonly Pick<AudioTap, "agent">[];
  readonly nowMs: () => number;
  readonly after: (delayMs: number, fire: () => void) => () => void;
  readonly send: (frame: Int16Array) => void;
  /** Means of the medium; see `Transport`. Unset: it has them not. */
  readonly medium?: MediumMeans;
  readonly post: (event: CallEngineEventBody) => void;
  readonly served?: Served | undefined;
  /** Reports a throw that only a bug of ours can cause. */
  readonly faulted: (error: unknown) => void;
}

export class SpeechOut {
  readonly #options: SpeechOutOptions;
  readonly #playout: Playout;
  readonly #attempts = new Map<number, Attempt>();
  /** Events to post once the playout's own work is done, because the answer may change the playout. */
  #pendingEvents: CallEngineEventBody[] = [];
  #telling = false;
  /** A stage has one object for its voice. */
  readonly #speakers = new WeakMap<VoicePlan, Speaker>();
  readonly #unspoken = new Set<string>();
  /** Keys that the medium plays when the silence in their place begins, by segment. */
  readonly #digits = new Map<number, string>();
  readonly #user: EngineUser;
  #closed = false;

  constructor(options: SpeechOutOptions) {
    this.#options = options;
    this.#user = engineUser("tts", (event) => {
      if (!this.#closed) options.post(event);
    });
    const { outputSampleRateHz: sampleRateHz, aheadMs } = options;
    const reports = playoutListener({
      add: (event) => void this.#pendingEvents.push(event),
      taps: options.taps,
      began: (segmentId) => this.#sendDigits(segmentId),
      takenBack: (tail) => options.medium?.clearAudio?.(tail),
    });
    this.#playout = new Playout({ sampleRateHz, aheadMs }, reports);
  }

  /** Opens what the first sentence of this voice would wait for. */
  prepare(voice: VoicePlan, language: string | null): void {
    if (!this.#closed) this.#speakerOf(voice).prepare(language);
  }

  /** Renders a segment, or renders it again in its place. */
  synthesize(effect: Synthesize): void {
    if (this.#closed) return;
    const { replyId, segmentId, text, languageHint } = effect;
    this.#drop(segmentId);
    this.#playout.restartSegment(replyId, segmentId, text);
    const spare = effect.silent ? null : (this.#options.spareSpeech?.find(text, effect.voice) ?? null);
    const attempt = newAttempt(replyId, segmentId, spare !== null);
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
    if (spare !== null) {
      for (const part of spare) this.#received(attempt, part);
      this.#rendered(attempt);
      this.#pump();
      return;
    }
    if (languageHint !== null) this.#checkLanguage(languageHint, this.#speakerOf(effect.voice));
    this.#render(attempt, effect).catch(this.#options.faulted);
  }

  /** Aborts rendering for the reply; audio already received stays playable. */
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

  /** Drops what follows the segment and is not sent yet. */
  limit(replyId: number, segmentId: number): void {
    for (const dropped of this.#playout.limit(replyId, segmentId)) this.#drop(dropped);
  }

  clear(replyId: number): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.replyId === replyId) this.#drop(attempt.segmentId);
    }
    this.#answer("playoutCleared", replyId, this.#playout.clear(replyId, this.#options.nowMs()));
  }

  /** The other side has played what was sent before the mark of this position. */
  played(position: number): void {
    if (this.#closed) return;
    this.heardFrom();
    this.#playout.played(position, this.#options.nowMs());
    this.#tell();
  }

  /** Something came from the other side. Only media with marks send all the time. */
  heardFrom(): void {
    if (this.#options.medium?.mark !== undefined) this.#playout.heardFrom(this.#options.nowMs());
  }

  /** @param tickMs when the tick was due, so that frames leave as evenly as ticks are due */
  tick(tickMs = this.#options.nowMs()): void {
    if (this.#closed) return;
    for (const attempt of this.#attempts.values()) {
      if (attempt.waiting.length === 0) continue;
      if (this.#playout.unsentMs(attempt.replyId, attempt.segmentId) >= CONVERTED_AHEAD_MS) continue;
      this.#convert(attempt);
      break;
    }
    this.#pump(tickMs);
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // Audio heard up to this moment belongs to the recording.
    this.#playout.advance(this.#options.nowMs());
    this.#pendingEvents = [];
    for (const segmentId of this.#attempts.keys()) this.#drop(segmentId);
  }

  #answer(type: "playoutPaused" | "playoutCleared", replyId: number, position: HeardPosition): void {
    this.#pendingEvents.push({ type, replyId, ...position });
    this.#tell();
  }

  #pump(nowMs = this.#options.nowMs()): void {
    if (this.#closed) return;
    const { send, medium } = this.#options;
    this.#playout.take(nowMs, send, medium?.mark);
    this.#tell();
  }

  #tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    for (let event = this.#pendingEvents.shift(); event !== undefined; event = this.#pendingEvents.shift()) {
      this.#options.post(event);
    }
    this.#telling = false;
  }

  #speakerOf(voice: VoicePlan): Speaker {
    const known = this.#speakers.get(voice) ?? this.#options.speakerOf(voice);
    this.#speakers.set(voice, known);
    return known;
  }

  #checkLanguage(language: string, speaker: Speaker): void {
    if (this.#unspoken.has(language) || speaker.speaks(language)) return;
    this.#unspoken.add(language);
    const detail = `the voice ${speaker.name} does not speak ${language}`;
    this.#options.post({ type: "engineWarned", engine: "tts", detail });
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
    const { outputSampleRateHz, medium } = this.#options;
    const isOurs = medium?.sendDigits === undefined;
    if (!isOurs) this.#digits.set(attempt.segmentId, tones.digits);
    for (const part of dtmfSamples(tones, outputSampleRateHz)) {
      this.#playout.append(attempt.replyId, attempt.segmentId, isOurs ? part : silence(part.length));
      attempt.receivedMs += samplesToMs(part.length, outputSampleRateHz);
    }
    this.#began(attempt);
    this.#rendered(attempt);
    this.#pump();
  }

  #sendDigits(segmentId: number): void {
    const digits = this.#digits.get(segmentId);
    this.#digits.delete(segmentId);
    if (digits !== undefined) this.#options.medium?.sendDigits?.(digits);
  }

  async #render(attempt: Attempt, effect: Synthesize): Promise<void> {
    const { signal } = attempt.abort;
    try {
      const { text, languageHint: language, replyId, segmentId } = effect;
      const servedBy: ServedBy = (engine) => this.#options.served?.({ kind: "tts", segmentId }, engine);
      const meter = this.#options.meterOf?.(replyId);
      const spoken = { text, language, user: this.#user, servedBy, meter };
      const prepared = this.#options.greeting?.take(text, effect.voice);
      for await (const part of prepared ?? this.#speakerOf(effect.voice).synthesize(spoken, signal)) {
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

  /** Resamples up to `CONVERT_MS` of an attempt to the transport's rate; all of it where the rates are equal. */
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
    const prepared = attempt.prepared ? { prepared: true as const } : {};
    this.#pendingEvents.push({ type: "segmentAudioReceived", replyId, segmentId, ...prepared });
  }

  /** The voice is done; the rest of its audio is converted as it is needed. */
  #rendered(attempt: Attempt): void {
    const { replyId, segmentId } = attempt;
    attempt.stage = "whole";
    const durationMs = Math.round(attempt.receivedMs);
    this.#playout.expect(replyId, segmentId, durationMs);
    const prepared = attempt.prepared ? { prepared: true as const } : {};
    this.#pendingEvents.push({ type: "segmentSynthesized", replyId, segmentId, durationMs, ...prepared });
    this.#endIfConverted(attempt);
  }

  #endIfConverted(attempt: Attempt): void {
    const { replyId, segmentId, resampler } = attempt;
    if (attempt.stage === "coming" || attempt.waiting.length > 0) return;
    if (resampler !== null) this.#playout.append(replyId, segmentId, resampler.flush());
    this.#attempts.delete(segmentId);
    // A segment that failed without any audio keeps its place for the next attempt.
    if (attempt.stage === "broken" && attempt.receivedMs === 0 && !attempt.abort.signal.aborted) return;
    this.#playout.endSegment(replyId, segmentId, attempt.stage === "whole");
  }

  #failed(attempt: Attempt, error: unknown): void {
    const { replyId, segmentId } = attempt;
    attempt.stage = "broken";
    const message = messageOf(error);
    const receivedMs = Math.round(attempt.receivedMs);
    const failure = { error: message, receivedMs, ...failureKind(error) };
    this.#pendingEvents.push({ type: "segmentFailed", replyId, segmentId, ...failure });
    this.#endIfConverted(attempt);
    this.#pump();
  }

  #drop(segmentId: number): void {
    this.#digits.delete(segmentId);
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

  /** Waits until the buffer has space for more audio, or the attempt is over. */
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

/** Whether the rates are equal: it passes audio through unchanged. */
const isPassedOn = ({ fromHz, toHz }: Resampler): boolean => fromHz === toHz;
