/** Everything that sounds in the page: the agent's voice on an output device, meters on both ways, silence. */

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

  /** @param blocked told when the browser waits for a gesture of the user before it lets anything sound, and after it */
  constructor(blocked: (blocked: boolean) => void) {
    this.#blocked = blocked;
    this.#element.autoplay = true;
  }

  #analyser(): AnalyserNode {
    return new AnalyserNode(this.context, { fftSize: ANALYSER_SAMPLES, smoothingTimeConstant: 0.5 });
  }

  /** A track that is silent for ever: where there is no microphone, the service still hears a line. */
  silentTrack(): MediaStreamTrack {
    this.#silence ??= this.context.createMediaStreamDestination();
    const [track] = this.#silence.stream.getAudioTracks();
    if (track === undefined) throw new CallError("unsupported", "This browser makes no sound tracks.");
    return track;
  }

  /** Measures this track from now on. */
  hear(track: MediaStreamTrack): MediaStreamAudioSourceNode {
    this.#input?.disconnect();
    this.#input = this.context.createMediaStreamSource(new MediaStream([track]));
    this.#input.connect(this.inputAnalyser);
    return this.#input;
  }

  /** Plays and measures this stream from now on. */
  play(stream: MediaStream): void {
    this.#output?.disconnect();
    this.#output = this.context.createMediaStreamSource(stream);
    this.#output.connect(this.outputAnalyser);
    this.#element.srcObject = stream;
    void this.start();
  }

  /** Begins to sound, or tells that it is not allowed to yet. Call it again from a click then. */
  async start(): Promise<boolean> {
    try {
      // A context that may not start leaves its promise open, so it is looked at instead of waited for.
      this.context.resume().catch(() => this.#tell(true));
      if (this.#element.srcObject !== null) await this.#element.play();
      this.#tell(this.context.state === "suspended");
    } catch (error) {
      // A newer stream took this one's place; its own `play` tells.
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

  /** @throws CallError `unsupported` where the browser has no such choice, `output_failed` */
  async useDevice(deviceId: string): Promise<void> {
    const element: Partial<Pick<HTMLAudioElement, "setSinkId">> = this.#element;
    if (element.setSinkId === undefined) {
      throw new CallError("unsupported", "This browser leaves the choice of the loudspeaker to the system.");
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
