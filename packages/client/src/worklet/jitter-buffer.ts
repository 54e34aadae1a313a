/**
 * A jitter buffer for the agent's voice. Playout begins when the buffer holds enough audio, or when nothing has arrived
 * for the same time; it waits again after the voice stops. Every gap within speech makes the wait longer, and playing
 * without gaps makes it shorter again.
 */

/** Audio buffered before playout begins. */
const LEAST_WAIT_MS = 40;
/** On a network with longer gaps than this, a gap is better than a slow agent. */
const LONGEST_WAIT_MS = 240;
const WAIT_STEP_MS = 20;
/** Audio that arrives this soon after the buffer ran empty was late; later audio is new speech. */
const LATE_MS = 400;
/** Playing without a gap for this long shortens the wait by a step. */
const CALM_MS = 10_000;
/** Limit of the buffer: a client may have requested two minutes in advance. Audio beyond it is dropped. */
const LONGEST_HELD_MS = 125_000;
/** Dropped speech fades out too fast to be understood, and slowly enough not to click. */
const FADE_MS = 5;

export class JitterBuffer {
  readonly #rateHz: number;
  #held: Float32Array[] = [];
  #heldSamples = 0;
  /** Played samples of the first chunk. */
  #played = 0;
  #playing = false;
  #waitMs = LEAST_WAIT_MS;
  /** Counted from the last start of playout, underrun, or shortening of the wait. */
  #samplesSince = 0;
  #ranDry = false;
  #cleared = false;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  get heldMs(): number {
    return (this.#heldSamples / this.#rateHz) * 1_000;
  }

  get waitMs(): number {
    return this.#waitMs;
  }

  push(samples: Float32Array): void {
    if (samples.length === 0 || this.heldMs > LONGEST_HELD_MS) return;
    if (!this.#playing && this.#heldSamples === 0) {
      const late = this.#ranDry && !this.#cleared && this.#sinceMs() < LATE_MS;
      if (late) this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs + WAIT_STEP_MS);
      this.#ranDry = false;
      this.#cleared = false;
      this.#samplesSince = 0;
    }
    this.#held.push(samples);
    this.#heldSamples += samples.length;
  }

  /** Fills `out` with the next samples, or with silence when there are none. */
  read(out: Float32Array): void {
    out.fill(0);
    this.#samplesSince += out.length;
    if (!this.#playing) {
      const enough = this.heldMs >= this.#waitMs || this.#sinceMs() >= this.#waitMs;
      if (this.#heldSamples === 0 || !enough) return;
      this.#playing = true;
      this.#samplesSince = 0;
    }
    if (this.#take(out) < out.length) {
      this.#playing = false;
      this.#ranDry = true;
      this.#samplesSince = 0;
    } else if (this.#sinceMs() >= CALM_MS) {
      this.#waitMs = Math.max(LEAST_WAIT_MS, this.#waitMs - WAIT_STEP_MS);
      this.#samplesSince = 0;
    }
  }

  /** Drops audio that has not been played, except for the few milliseconds of the fade-out. */
  clear(): void {
    const fade = new Float32Array(Math.round((this.#rateHz * FADE_MS) / 1_000));
    const faded = this.#playing ? this.#take(fade) : 0;
    for (let i = 0; i < faded; i += 1) fade[i] = (fade[i] ?? 0) * (1 - i / faded);
    this.#held = faded > 0 ? [fade.slice(0, faded)] : [];
    this.#heldSamples = faded;
    this.#played = 0;
    // The next audio is new speech, however soon it arrives.
    this.#cleared = true;
    if (faded === 0) this.#playing = false;
  }

  #sinceMs(): number {
    return (this.#samplesSince / this.#rateHz) * 1_000;
  }

  /** Moves buffered samples into `out`. Returns their number. */
  #take(out: Float32Array): number {
    let filled = 0;
    for (let [first] = this.#held; first !== undefined && filled < out.length; [first] = this.#held) {
      const part = first.subarray(this.#played, this.#played + out.length - filled);
      out.set(part, filled);
      filled += part.length;
      this.#played += part.length;
      if (this.#played < first.length) break;
      this.#held.shift();
      this.#played = 0;
    }
    this.#heldSamples -= filled;
    return filled;
  }
}
