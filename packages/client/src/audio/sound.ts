/** The audio of the page: the agent's voice on an output device, level meters for both sides, a silent track. */

import { CallError } from "../call/call-error.ts";

export interface Levels {
  /** Root mean square of the last 20 to 50 ms, 0 to 1: what the agent hears. Speech is around 0.05 to 0.3. */
  readonly input: number;
  /** What the user hears. */
  readonly output: number;
}

/** About 43 ms at 48 kHz: short enough to follow syllables. */
const ANALYSER_SAMPLES = 2_048;

export class Sound {
  readonly context = new AudioContext({ latencyHint: "interactive" });
  readonly inputAnalyser = this.#analyser();
  readonly outputAnalyser = this.#analyser();
  readonly #element = new Audio();
  readonly #samples = new Float32Array(ANALYSER_SAMPLES);
  readonly #blocked: (blocked: boolean) => void;
  #input: MediaStreamAudioSourceNode | null = null;
  #output: MediaStreamAudioSourceNode | null = null;
  #silence: MediaStreamAudioDestinationNode | null = null;
  #isBlocked = false;

  /** @param blocked called with true when the browser blocks audio until a user gesture, and with false after it */
  constructor(blocked: (blocked: boolean) => void) {
    this.#blocked = blocked;
    this.#element.autoplay = true;
  }

  #analyser(): AnalyserNode {
    return new AnalyserNode(this.context, { fftSize: ANALYSER_SAMPLES, smoothingTimeConstant: 0.5 });
  }

  /** A silent track, used without a microphone so that the service still receives audio. */
  silentTrack(): MediaStreamTrack {
    this.#silence ??= this.context.createMediaStreamDestination();
    const [track] = this.#silence.stream.getAudioTracks();
    if (track === undefined) throw new CallError("unsupported", "This browser cannot create audio tracks.");
    return track;
  }

  /** Measures this track. */
  hear(track: MediaStreamTrack): MediaStreamAudioSourceNode {
    this.#input?.disconnect();
    this.#input = this.context.createMediaStreamSource(new MediaStream([track]));
    this.#input.connect(this.inputAnalyser);
    return this.#input;
  }

  /** Plays and measures this stream. */
  play(stream: MediaStream): void {
    this.#output?.disconnect();
    this.#output = this.context.createMediaStreamSource(stream);
    this.#output.connect(this.outputAnalyser);
    this.#element.srcObject = stream;
    void this.start();
  }

  /** Starts playback, or reports that it is blocked. Call it again from a click then. */
  async start(): Promise<boolean> {
    try {
      // The promise of a blocked context never settles, so its state is checked instead.
      this.context.resume().catch(() => this.#tell(true));
      if (this.#element.srcObject !== null) await this.#element.play();
      this.#tell(this.context.state === "suspended");
    } catch (error) {
      // A newer stream has replaced this one; its own `play` reports the result.
      if (error instanceof DOMException && error.name === "AbortError") return !this.#isBlocked;
      this.#tell(true);
    }
    return !this.#isBlocked;
  }

  get muted(): boolean {
    return this.#element.muted;
  }

  set muted(muted: boolean) {
    this.#element.muted = muted;
  }

  get volume(): number {
    return this.#element.volume;
  }

  set volume(volume: number) {
    this.#element.volume = Math.min(1, Math.max(0, volume));
  }

  /** @throws CallError `unsupported` if the browser cannot choose the output device, `output_failed` */
  async useDevice(deviceId: string): Promise<void> {
    const element: Partial<Pick<HTMLAudioElement, "setSinkId">> = this.#element;
    if (element.setSinkId === undefined) {
      throw new CallError("unsupported", "This browser cannot choose the output device.");
    }
    try {
      await this.#element.setSinkId(deviceId);
    } catch (cause) {
      throw new CallError("output_failed", "The device for the agent's voice cannot be used.", { cause });
    }
  }

  levels(): Levels {
    return { input: this.#level(this.inputAnalyser), output: this.#level(this.outputAnalyser) };
  }

  #level(analyser: AnalyserNode): number {
    analyser.getFloatTimeDomainData(this.#samples);
    let sum = 0;
    for (const sample of this.#samples) sum += sample * sample;
    return Math.min(1, Math.sqrt(sum / this.#samples.length));
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  #tell(blocked: boolean): void {
    if (this.#isBlocked === blocked) return;
    this.#isBlocked = blocked;
    this.#blocked(blocked);
  }

  close(): void {
    this.#element.pause();
    this.#element.srcObject = null;
    this.#input?.disconnect();
    this.#output?.disconnect();
    void this.context.close();
  }
}
