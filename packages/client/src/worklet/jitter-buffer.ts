/**
 * Holds the agent's voice between its uneven arrival and its even playout. Playing begins when a little is held, or
 * when nothing more has come for as long; it waits anew where the voice stops. Every gap in the middle of speech makes
 * the wait longer, and quiet times make it shorter again.
 */

/** Held before playing begins. */
const LEAST_WAIT_MS = 40;
/** A network with longer gaps than this is better served by a gap than by a slow agent. */
const LONGEST_WAIT_MS = 240;
const WAIT_STEP_MS = 20;
/** Audio that comes so soon after the buffer ran dry was late; what comes later is new speech. */
const LATE_MS = 400;
/** Playing without a gap for so long shortens the wait by a step. */
const CALM_MS = 10_000;
/** Most that is held: a client may have asked for two minutes in advance. What comes beyond it is dropped. */
const LONGEST_HELD_MS = 125_000;
/** Cut speech fades out so quickly that nothing of it is understood, and slowly enough not to click. */
const FADE_MS = 5;

export class JitterBuffer {
  readonly #rateHz: number;
  #held: Float32Array[] = [];
  #heldSamples = 0;
  /** Samples of the first piece that were played. */
  #played = 0;
  #playing = false;
  #waitMs = LEAST_WAIT_MS;
  /** Since playing was last begun, run dry, or shortened the wait. */
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

  /** Fills `out` with what is to be heard now; silence where there is nothing. */
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

  /** Drops what was not played, but for the few milliseconds in which it fades. */
  clear(): void {
    const fade = new Float32Array(Math.round((this.#rateHz * FADE_MS) / 1_000));
    const faded = this.#playing ? this.#take(fade) : 0;
    for (let i = 0; i < faded; i += 1) fade[i] = (fade[i] ?? 0) * (1 - i / faded);
    this.#held = faded > 0 ? [fade.slice(0, faded)] : [];
    this.#heldSamples = faded;
    this.#played = 0;
    // What follows is new speech, however soon it comes.
    this.#cleared = true;
    if (faded === 0) this.#playing = false;
  }

  #sinceMs(): number {
    return (this.#samplesSince / this.#rateHz) * 1_000;
  }

  /** How many samples there were. */
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
