/** The media of one call from its join to its end: speech input, speech output and recording, driven by one tick. */

import type { CallEngineEventBody } from "../../call/events.ts";
import type { AwaitedResult } from "../../call/tools/awaited.ts";
import type { CallPlan, StagePlan } from "../../plan/plan.ts";
import { EchoEstimator } from "../../media/echo.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import type { Transport } from "../../ports/transport.ts";
import type { CallDeps } from "../call-deps.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { Served } from "../engine-user.ts";
import type { CallUse } from "../use/call-use.ts";
import { DataChannel } from "../data-connection/data-channel.ts";
import { HIGHEST_RECORDING_RATE_HZ, Recorder } from "./recorder.ts";
import { SpeechIn } from "./speech-in.ts";
import type { CallAnswerer } from "./call-answerer.ts";
import type { PreparedGreeting } from "./prepared-greeting.ts";
import { SpareSpeech } from "./spare-speech.ts";
import type { MediumMeans } from "./medium-means.ts";
import { SpeechOut } from "./speech-out.ts";

export interface CallMediaOptions {
  readonly plan: CallPlan;
  readonly deps: Pick<CallDeps, "engines" | "voices" | "recordings" | "openDataConnection" | "clock">;
  /** The media clock at the beginning: more than 0 where another process had the call before. Unset: 0. */
  readonly startMediaMs?: number;
  /** Null: nothing was prepared. */
  readonly greeting?: PreparedGreeting | null;
  readonly use: Pick<CallUse, "ofReply" | "ofUtterance" | "aside">;
  /** The first connection; later ones have the same rates. */
  readonly transport: Pick<
    Transport,
    "inputSampleRateHz" | "outputSampleRateHz" | "outputEncoding" | "aheadMs" | "signalsDigits"
  >;
  readonly send: (frame: Int16Array) => void;
  readonly medium: MediumMeans;
  readonly answerer: CallAnswerer;
  readonly post: (event: CallEngineEventBody) => void;
  /** What the recogniser thinks of the end of the turn. */
  readonly judged: (utteranceId: number, finished: number | null) => void;
  /** The results of tools that the call waits for from its data connection. */
  readonly awaited: () => readonly AwaitedResult[];
  /** Told which engine of a list answers a request. Unset: nobody wants to know. */
  readonly served?: Served;
  readonly faulted: (error: unknown) => void;
}

type Rates = Pick<Transport, "inputSampleRateHz" | "outputSampleRateHz">;

/** Null: the call is not recorded. */
function recorderOf(
  { callId, recordingEnabled }: CallPlan,
  recordings: CallDeps["recordings"],
  { inputSampleRateHz, outputSampleRateHz }: Rates,
  { atMs, startMediaMs }: { readonly atMs: number; readonly startMediaMs: number },
): Recorder | null {
  if (!recordingEnabled) return null;
  const rate = Math.min(inputSampleRateHz, HIGHEST_RECORDING_RATE_HZ);
  const writer =
    startMediaMs > 0 ? recordings.resume(callId, rate, startMediaMs) : recordings.create(callId, rate);
  return new Recorder(writer, rate, outputSampleRateHz, atMs);
}

export class CallMedia {
  readonly recorder: Recorder | null;
  /** Null: the plan has none. */
  readonly dataChannel: DataChannel | null;
  readonly speechIn: SpeechIn;
  readonly speechOut: SpeechOut;
  readonly spareSpeech: SpareSpeech;
  readonly #clock: Clock;
  readonly #rates: Rates;
  #stopTicking: (() => void) | null = null;

  constructor(options: CallMediaOptions) {
    const { plan, deps, use, transport, post, faulted, startMediaMs = 0 } = options;
    const { engines, voices, recordings, clock, openDataConnection: open } = deps;
    const { inputSampleRateHz, outputSampleRateHz, outputEncoding: encoding = "pcm", aheadMs } = transport;
    const nowMs = () => clock.nowMs();
    const recorder = recorderOf(plan, recordings, transport, { atMs: nowMs(), startMediaMs });
    this.recorder = recorder;
    this.dataChannel = DataChannel.open({
      plan,
      open,
      clock,
      rates: transport,
      post,
      awaited: options.awaited,
    });
    const tap = this.dataChannel?.tap ?? null;
    const { echoTailMs } = plan.turnTaking;
    const echo = echoTailMs > 0 ? new EchoEstimator(outputSampleRateHz, STT_SAMPLE_RATE_HZ) : null;
    this.#clock = clock;
    this.#rates = { inputSampleRateHz, outputSampleRateHz };
    this.spareSpeech = new SpareSpeech({ tts: engines.tts, clock, meter: use.aside, post });
    this.speechOut = new SpeechOut({
      speakerOf: (voice) =>
        voices.speakerFor({
          accountId: plan.accountId,
          voice,
          output: { sampleRateHz: outputSampleRateHz, encoding },
          deployment: engines.tts,
        }),
      meterOf: (replyId) => use.ofReply(replyId),
      spareSpeech: this.spareSpeech,
      greeting: options.greeting ?? null,
      outputSampleRateHz,
      aheadMs,
      taps: [recorder, tap, echo].filter((heard) => heard !== null),
      nowMs,
      after: (delayMs, fire) => clock.after(delayMs, fire),
      send: options.send,
      medium: options.medium,
      post,
      served: options.served,
      faulted,
    });
    this.speechIn = new SpeechIn({
      vad: engines.vad,
      stt: engines.stt,
      inputSampleRateHz,
      startMediaMs,
      signalsDigits: transport.signalsDigits ?? false,
      mediaIdleTimeoutMs: plan.medium.mediaIdleTimeoutMs,
      language: plan.stage.languageHint,
      recognition: {
        ...(plan.recogniser === undefined ? {} : { recogniser: plan.recogniser }),
        ...(plan.transcriptHints === undefined ? {} : { hints: plan.transcriptHints }),
      },
      judged: options.judged,
      meterOf: (utteranceId) => use.ofUtterance(utteranceId),
      recorder,
      tap,
      echo,
      answerer: options.answerer,
      listens: engines.turnDetectors?.some(({ listens }) => listens) ?? false,
      keepsVoice: ["default", ...engines.llm.models].some((name) => engines.llm.takesAudio?.(name)),
      nowMs,
      post,
      served: options.served,
    });
    this.#prepare(plan);
    this.#stopTicking = clock.onTick((tickMs) => this.#tick(tickMs, faulted));
  }

  #tick(tickMs: number, faulted: (error: unknown) => void): void {
    try {
      this.speechIn.tick(tickMs);
      this.speechOut.tick(tickMs);
    } catch (error) {
      faulted(error);
    }
  }

  #prepare({ initialOutputMedium, stage: { voice, languageHint } }: CallPlan): void {
    if (initialOutputMedium === "voice") this.speechOut.prepare(voice, languageHint);
    this.spareSpeech.prepare(voice, languageHint);
  }

  /** Prepares the voice of a stage and its language. */
  follow({ voice, languageHint }: Pick<StagePlan, "voice" | "languageHint">): void {
    this.speechOut.prepare(voice, languageHint);
    this.speechIn.follow(languageHint);
    this.spareSpeech.prepare(voice, languageHint);
  }

  /** Opens the engines of speech input. */
  start(): void {
    this.speechIn.start();
  }

  /** Whether a later connection has the rates of the first. */
  fits({ inputSampleRateHz, outputSampleRateHz }: Rates): boolean {
    return (
      inputSampleRateHz === this.#rates.inputSampleRateHz &&
      outputSampleRateHz === this.#rates.outputSampleRateHz
    );
  }

  /** Takes audio of the transport, at its rate. */
  audio(samples: Int16Array): void {
    this.speechOut.heardFrom();
    this.speechIn.audio(samples);
  }

  /** The other side has played what was sent before the mark of this position. */
  played(position: number): void {
    this.speechOut.played(position);
  }

  /** Detaches the lost connection; the clock keeps running. */
  detach(): void {
    this.speechIn.detach();
  }

  attach(): void {
    this.speechOut.heardFrom();
    this.speechIn.attach(this.#clock.nowMs());
  }

  /** Stops everything except the recording and the data channel, which are closed separately. Idempotent. */
  close(): void {
    this.#stopTicking?.();
    this.#stopTicking = null;
    this.spareSpeech.close();
    this.speechOut.close();
    this.speechIn.close();
  }
}
