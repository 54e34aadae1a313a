/** The media of one call from its join to its end: hearing, speaking and recording, driven by one tick. */

import type { CallEffect } from "../call/effects.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import type { CallPlan } from "../call/plan.ts";
import { EchoEstimator } from "../media/echo.ts";
import { STT_SAMPLE_RATE_HZ } from "../ports/stt.ts";
import type { Transport } from "../ports/transport.ts";
import type { CallDeps } from "./call-deps.ts";
import type { Clock } from "./clock.ts";
import { DataChannel } from "./data-channel.ts";
import { HIGHEST_RECORDING_RATE_HZ, Recorder } from "./recorder.ts";
import { SpeechIn } from "./speech-in.ts";
import { SpeechOut } from "./speech-out.ts";

export type MediaEffect = Extract<
  CallEffect,
  {
    type:
      | "openUtterance"
      | "requestTranscript"
      | "abandonUtterance"
      | "synthesize"
      | "speak"
      | "pausePlayout"
      | "resumePlayout"
      | "clearPlayout";
  }
>;

export interface CallMediaOptions {
  readonly plan: CallPlan;
  readonly deps: Pick<CallDeps, "engines" | "recordings" | "openDataConnection" | "clock">;
  /** The first connection; later ones have the same rates. */
  readonly transport: Pick<Transport, "inputSampleRateHz" | "outputSampleRateHz" | "aheadMs">;
  readonly send: (frame: Int16Array) => void;
  readonly post: (event: CallEngineEventBody) => void;
  readonly faulted: (error: unknown) => void;
}

export class CallMedia {
  readonly recorder: Recorder | null;
  /** Null: the plan has none. */
  readonly dataChannel: DataChannel | null;
  readonly #clock: Clock;
  readonly #speechIn: SpeechIn;
  readonly #speechOut: SpeechOut;
  #stopTicking: (() => void) | null = null;

  constructor(options: CallMediaOptions) {
    const { plan, deps, transport, post, faulted } = options;
    const { engines, recordings, clock, openDataConnection: open } = deps;
    const { inputSampleRateHz, outputSampleRateHz, aheadMs } = transport;
    const nowMs = () => clock.nowMs();
    let recorder: Recorder | null = null;
    if (plan.recordingEnabled) {
      const rate = Math.min(inputSampleRateHz, HIGHEST_RECORDING_RATE_HZ);
      recorder = new Recorder(recordings.create(plan.callId, rate), rate, outputSampleRateHz, nowMs());
    }
    this.recorder = recorder;
    const rates = { inputSampleRateHz, outputSampleRateHz };
    this.dataChannel = DataChannel.open({ plan, open, clock, rates, post });
    const tap = this.dataChannel?.tap ?? null;
    const looksForEcho = plan.turnTaking.echoTailMs > 0;
    const echo = looksForEcho ? new EchoEstimator(outputSampleRateHz, STT_SAMPLE_RATE_HZ) : null;
    this.#clock = clock;
    this.#speechOut = new SpeechOut({
      tts: engines.tts,
      outputSampleRateHz,
      aheadMs,
      taps: [recorder, tap, echo].filter((heard) => heard !== null),
      nowMs,
      after: (delayMs, fire) => clock.after(delayMs, fire),
      send: options.send,
      post,
      faulted,
    });
    this.#speechIn = new SpeechIn({
      vad: engines.vad,
      stt: engines.stt,
      inputSampleRateHz,
      mediaIdleTimeoutMs: plan.medium.mediaIdleTimeoutMs,
      language: plan.stage.languageHint,
      recorder,
      tap,
      echo,
      listens: engines.turnDetectors?.some(({ listens }) => listens) ?? false,
      nowMs,
      post,
    });
    this.#stopTicking = clock.onTick((tickMs) => {
      try {
        this.#speechIn.tick(tickMs);
        this.#speechOut.tick();
      } catch (error) {
        faulted(error);
      }
    });
  }

  /** Opens the engines of hearing. */
  start(): void {
    this.#speechIn.start();
  }

  /** The language of the stage that has begun. */
  follow(language: string | null): void {
    this.#speechIn.follow(language);
  }

  /** Audio of the transport, at its rate. */
  audio(samples: Int16Array): void {
    this.#speechIn.audio(samples);
  }

  /** The connection is gone; the clock keeps running. */
  detach(): void {
    this.#speechIn.detach();
  }

  attach(): void {
    this.#speechIn.attach(this.#clock.nowMs());
  }

  apply(effect: MediaEffect): void {
    switch (effect.type) {
      case "openUtterance":
        this.#speechIn.openUtterance(effect.utteranceId, effect.prerollMs);
        break;
      case "requestTranscript":
        this.#speechIn.requestTranscript(effect.utteranceId, effect.revision);
        break;
      case "abandonUtterance":
        this.#speechIn.abandonUtterance(effect.utteranceId);
        break;
      case "synthesize":
        this.#speechOut.synthesize(effect);
        break;
      case "speak":
        this.#speechOut.speak(effect.replyId);
        break;
      case "pausePlayout":
        this.#speechOut.pause(effect.replyId);
        break;
      case "resumePlayout":
        this.#speechOut.resume(effect.replyId);
        break;
      case "clearPlayout":
        this.#speechOut.clear(effect.replyId);
        break;
    }
  }

  /** The end of an utterance for those who judge it by its sound; null when nobody does. */
  utteranceAudio(utteranceId: number): Int16Array | null {
    return this.#speechIn.utteranceAudio(utteranceId);
  }

  /** Aborts what is being rendered for the reply. */
  abortReply(replyId: number): void {
    this.#speechOut.abortReply(replyId);
  }

  /** Stops everything but what is closed apart: the recording and the data channel. Idempotent. */
  close(): void {
    this.#stopTicking?.();
    this.#stopTicking = null;
    this.#speechOut.close();
    this.#speechIn.close();
  }
}
