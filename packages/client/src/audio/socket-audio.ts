/** The audio of a websocket call: microphone frames out, agent frames in. */

import {
  CAPTURE,
  type CaptureOptions,
  PLAYOUT,
  type PlayoutMessage,
  type PlayoutOptions,
} from "../worklet/protocol.ts";
import type { Sound } from "./sound.ts";
import { loadWorklets } from "./worklets.ts";

export interface SocketRates {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
}

export class SocketAudio {
  /** The agent's voice. */
  readonly output: MediaStream;
  readonly #sound: Sound;
  readonly #capture: AudioWorkletNode;
  readonly #playout: AudioWorkletNode;
  #source: MediaStreamAudioSourceNode | null = null;

  /** @param frame gets 20 ms of the microphone at a time, in real time, while the page may play audio */
  static async open(
    sound: Sound,
    rates: SocketRates,
    workletUrl: string | null,
    frame: (samples: ArrayBuffer) => void,
  ): Promise<SocketAudio> {
    await loadWorklets(sound.context, workletUrl);
    return new SocketAudio(sound, rates, frame);
  }

  private constructor(sound: Sound, rates: SocketRates, frame: (samples: ArrayBuffer) => void) {
    const { context } = sound;
    const capture: CaptureOptions = { rateHz: rates.inputSampleRateHz };
    const playout: PlayoutOptions = { rateHz: rates.outputSampleRateHz };
    this.#sound = sound;
    this.#capture = new AudioWorkletNode(context, CAPTURE, { processorOptions: capture });
    this.#playout = new AudioWorkletNode(context, PLAYOUT, {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: playout,
    });
    this.#capture.port.addEventListener("message", ({ data }: MessageEvent<ArrayBuffer>) => frame(data));
    this.#capture.port.start();
    // It outputs only silence, but it does not run unless it is connected to the destination.
    this.#capture.connect(context.destination);
    const stream = context.createMediaStreamDestination();
    this.#playout.connect(stream);
    this.output = stream.stream;
  }

  setTrack(track: MediaStreamTrack): void {
    this.#source?.disconnect();
    this.#source = this.#sound.context.createMediaStreamSource(new MediaStream([track]));
    this.#source.connect(this.#capture);
  }

  play(samples: ArrayBuffer): void {
    this.#post(samples);
  }

  /** Drops audio that has not been played. */
  clear(): void {
    this.#post("clear");
  }

  close(): void {
    this.#source?.disconnect();
    this.#capture.port.postMessage("close", []);
    this.#capture.port.close();
    this.#capture.disconnect();
    this.#post("close");
    this.#playout.disconnect();
  }

  #post(message: PlayoutMessage): void {
    this.#playout.port.postMessage(message, message instanceof ArrayBuffer ? [message] : []);
  }
}
