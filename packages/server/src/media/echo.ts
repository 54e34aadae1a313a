/**
 * Echo detector: tells whether incoming audio is only the agent's own voice coming back. It compares loudness: each
 * window that came in with what was played a lag earlier. The lag is searched between 0 and 600 ms and kept where the
 * two rise and fall together; the attenuation is learned from the windows that follow the playout. A window that is no
 * louder than the echo would be is echo; one that is clearly louder has another speaker in it.
 */

import { msToSamples } from "./frame.ts";

/** Loudness is measured in steps of this length, short enough to show syllables. */
const STEP_MS = 16;
/** Buffers of client and network together delay no echo longer than this. */
const LAG_MAX_MS = 600;
const LAGS = Math.floor(LAG_MAX_MS / STEP_MS) + 1;
/** Steps compared for each lag: 0.8 s of speech has three or four syllables. */
const COMPARED = 50;
/** Steps of the line from which its noise is estimated: 1.5 s. */
const NOISE_STEPS = COMPARED + LAGS + 8;
/** Steps that are remembered of each side: the longest time in which nothing is known, and the longest lag before it. */
const RETAINED_STEPS = 256;
/** Windows that wait until the echo is known, at most: 3 s. */
const DOUBTED_MAX = 96;
/** Steps of audible playout within the comparison without which nothing can be learned: 0.32 s. */
const AUDIBLE_MIN = 20;
/** Least correlation of loudness in decibels that counts as moving together; two speakers reach 0.5 by chance. */
const ALIKE = 0.78;
/** The middle half of the differences in loudness lies this close together for an echo, and not for two speakers. */
const SPREAD_MAX_DB = 6;
/** Windows in a row of playout of which far too little comes back: the learned echo was chance. */
const MISSING_WINDOWS = 6;
const MISSING_DB = 12;
/** Quieter than this is the noise of the line, about -66 dB of full scale. */
const FLOOR_DB = -66;
/** An echo is at least this much quieter than what was played. */
const LOSS_MIN_DB = 3;
/** How much louder than expected an echo may be, and from where on it is certainly another speaker. */
const WITHIN_DB = 4;
const BEYOND_DB = 8;
/** Weight of a new measurement of the attenuation. */
const LEARNING_RATE = 0.2;
/** Reverberation smears the loudness of an echo; the loudest of these steps around the lag is expected. */
const SMEAR_STEPS = 3;
/** Reverberation after an echo, in which the voice detector still hears speech: 0.29 s. */
const TAIL_STEPS = 18;
/** Share of the incoming steps that holds only the noise of the line. */
const NOISE_SHARE = 0.05;
/** The noise itself is this much louder at times, as the loudest step of a window. Speech is 20 dB louder. */
const NOISE_RISE_DB = 4;

/** The likelihood of a window while nothing is known: it may be echo. */
export const ECHO_UNKNOWN = 0.3;
/** Playout of this loudness comes back audibly, if it comes back. */
const LOUD_DB = -45;
/** Loud playout after which an echo would be known, with the longest lag; then there is none: 1.5 s. */
const UNKNOWN_STEPS = 94;
/**
 * The same for a voice that is never loud, as audible playout: 2.5 s. Recorded speech of common loudness has 1.5 s of
 * loud steps in 2.2 s.
 */
const QUIET_UNKNOWN_STEPS = 156;
/** After so much of it, 0.72 s, a line whose loudness has not moved by more than this holds no echo. */
const FLAT_STEPS = 45;
const FLAT_DB = 9;

interface Learned {
  readonly lag: number;
  readonly lossDb: number;
}

export class EchoEstimator {
  readonly #playedStep: number;
  readonly #heardStep: number;
  /** Loudness in decibels by number of the step since `#startMs`, as rings. */
  readonly #played = new Float32Array(RETAINED_STEPS).fill(FLOOR_DB);
  readonly #heard = new Float32Array(RETAINED_STEPS).fill(FLOOR_DB);
  readonly #comparedPlayed = new Float32Array(COMPARED + LAGS - 1);
  readonly #comparedHeard = new Float32Array(COMPARED);
  #startMs: number | null = null;
  #playedTo = 0;
  #heardTo = 0;
  #sum = 0;
  #summed = 0;
  #learned: Learned | null = null;
  /** Loud steps that were played while nothing was known. */
  #untold = 0;
  /** Audible ones, loud or not. */
  #audible = 0;
  #missing = 0;
  /** Windows of which nothing was known: the step after their last one, their loudest step, their number of steps. */
  #doubted: { readonly to: number; readonly levelDb: number; readonly steps: number }[] = [];
  #judgedAgain: readonly number[] | null = null;

  /** @param playedRateHz rate of what is played @param heardRateHz rate of the windows that come in */
  constructor(playedRateHz: number, heardRateHz: number) {
    this.#playedStep = msToSamples(STEP_MS, playedRateHz);
    this.#heardStep = msToSamples(STEP_MS, heardRateHz);
  }

  /** What was heard of the agent, from `startMs` on. */
  agent(samples: Int16Array, startMs: number): void {
    this.#startMs ??= startMs;
    const at = this.#stepAt(startMs);
    // Nothing was played in between; a step more or less is rounding.
    if (at > this.#playedTo + 1) this.#pause(at);
    for (const sample of samples) {
      this.#sum += sample * sample;
      this.#summed += 1;
      if (this.#summed >= this.#playedStep) this.#closePlayed();
    }
  }

  /**
   * Likelihood, 0 to 1, that the window that ended at `endMs` is only echo. 0 before anything was played,
   * `ECHO_UNKNOWN` while it is being learned whether there is an echo.
   */
  window(samples: Int16Array, endMs: number): number {
    if (this.#startMs === null) return 0;
    const steps = Math.floor(samples.length / this.#heardStep);
    // The stream is continuous, so its own count is steadier than the clock; it is reset when they diverge.
    const to = this.#stepAt(endMs);
    if (Math.abs(to - steps - this.#heardTo) > 2) this.#skipHeard(to - steps);
    let loudest = FLOOR_DB;
    for (let step = 0; step < steps; step += 1) {
      const level = levelDb(samples.subarray(step * this.#heardStep, (step + 1) * this.#heardStep));
      this.#put(this.#heard, this.#heardTo, level);
      this.#heardTo += 1;
      loudest = Math.max(loudest, level);
    }
    if (this.#heardTo - this.#playedTo < COMPARED) this.#learn();
    if (this.#untold >= FLAT_STEPS && this.#untold < UNKNOWN_STEPS && this.#isFlat())
      this.#untold = UNKNOWN_STEPS;
    if (this.#learned === null) {
      if (!this.#isOpen() || !this.#mayCome()) return 0;
      this.#doubted.push({ to: this.#heardTo, levelDb: loudest, steps });
      if (this.#doubted.length > DOUBTED_MAX) this.#doubted.shift();
      return ECHO_UNKNOWN;
    }
    this.#judgeAgain();
    return this.#likelihood(loudest, steps);
  }

  /**
   * Likelihoods of the latest windows that were answered with `ECHO_UNKNOWN`, in their order, once, when the echo has
   * become known; null before and afterwards.
   */
  takeJudgedAgain(): readonly number[] | null {
    const judged = this.#judgedAgain;
    this.#judgedAgain = null;
    return judged;
  }

  #judgeAgain(): void {
    if (this.#doubted.length === 0) return;
    const { lag = 0 } = this.#learned ?? {};
    const oldest = this.#playedTo - RETAINED_STEPS + lag + TAIL_STEPS;
    this.#judgedAgain = this.#doubted.map(({ to, levelDb, steps }) => {
      // What was played then is no longer remembered, so nothing can be said for the user.
      if (to - steps < oldest) return ECHO_UNKNOWN;
      return likelihoodOf(this.#excessDb(levelDb, steps, to) ?? Infinity);
    });
    this.#doubted = [];
  }

  #likelihood(levelDbNow: number, steps: number): number {
    const excess = this.#excessDb(levelDbNow, steps, this.#heardTo);
    if (excess === null || this.#learned === null) return 0;
    const isPlaying = this.#loudestPlayed(steps + SMEAR_STEPS, this.#learned.lag, this.#heardTo) > FLOOR_DB;
    this.#missing = isPlaying && excess < -MISSING_DB ? this.#missing + 1 : 0;
    if (this.#missing >= MISSING_WINDOWS) this.#learned = null;
    return likelihoodOf(excess);
  }

  /** How much louder a window is than its echo would be; null when no echo can be in it. */
  #excessDb(levelDbNow: number, steps: number, to: number): number | null {
    if (this.#learned === null) return null;
    const { lag, lossDb } = this.#learned;
    if (this.#loudestPlayed(steps + TAIL_STEPS, lag, to) <= FLOOR_DB) return null;
    const sourceDb = this.#loudestPlayed(steps + SMEAR_STEPS, lag, to);
    // What is no louder than the line's own noise is not speech, whatever the detector says.
    return levelDbNow - Math.max(this.#noiseDb() + NOISE_RISE_DB, sourceDb - lossDb);
  }

  /** Too little was played to know that there is no echo. */
  #isOpen(): boolean {
    return this.#untold < UNKNOWN_STEPS && this.#audible < QUIET_UNKNOWN_STEPS;
  }

  /** Only noise came in while the agent was audible. */
  #isFlat(): boolean {
    let [lowest, highest] = [0, FLOOR_DB];
    for (let step = Math.max(0, this.#heardTo - FLAT_STEPS); step < this.#heardTo; step += 1) {
      const level = this.#heard[step % RETAINED_STEPS] ?? FLOOR_DB;
      lowest = Math.min(lowest, level);
      highest = Math.max(highest, level);
    }
    return highest - lowest < FLAT_DB;
  }

  /** Something was audible so recently that its echo may be in the present window. */
  #mayCome(): boolean {
    for (let step = this.#heardTo - LAGS - TAIL_STEPS; step <= this.#heardTo; step += 1) {
      if (this.#playedAt(step) > FLOOR_DB) return true;
    }
    return false;
  }

  #loudestPlayed(steps: number, lag: number, to: number): number {
    let loudest = FLOOR_DB;
    for (let step = to - steps; step <= to; step += 1) {
      loudest = Math.max(loudest, this.#playedAt(step - lag));
    }
    return loudest;
  }

  #noiseDb(): number {
    const from = Math.max(0, this.#heardTo - NOISE_STEPS);
    const levels: number[] = [];
    for (let step = from; step < this.#heardTo; step += 1)
      levels.push(this.#heard[step % RETAINED_STEPS] ?? FLOOR_DB);
    levels.sort((a, b) => a - b);
    return levels[Math.floor(levels.length * NOISE_SHARE)] ?? FLOOR_DB;
  }

  #learn(): void {
    const from = Math.max(0, this.#heardTo - COMPARED);
    if (!this.#gather(from)) return;
    const best = this.#mostAlike(this.#heardTo - from);
    if (best.alike < ALIKE) return;
    const found = this.#lossAt(best.lag);
    if (found === null || found < LOSS_MIN_DB) return;
    this.#missing = 0;
    this.#untold = UNKNOWN_STEPS;
    const known = this.#learned;
    const near = known !== null && Math.abs(known.lag - best.lag) <= 2;
    const lossDb = near ? known.lossDb + LEARNING_RATE * (found - known.lossDb) : found;
    this.#learned = { lag: best.lag, lossDb };
  }

  /**
   * Lays the steps to compare side by side, because 38 lags read each of them; false when too little of either side is
   * audible for any lag. A line that is silent while the agent speaks, as most are, costs nothing more.
   */
  #gather(from: number): boolean {
    let [heard, played] = [0, 0];
    for (let step = from; step < this.#heardTo; step += 1) {
      const level = this.#heard[step % RETAINED_STEPS] ?? FLOOR_DB;
      if (level > FLOOR_DB) heard += 1;
      this.#comparedHeard[step - from] = level;
    }
    if (heard < AUDIBLE_MIN) return false;
    const first = from - LAGS + 1;
    for (let step = first; step < this.#heardTo; step += 1) {
      const level = this.#playedAt(step);
      if (level > FLOOR_DB) played += 1;
      this.#comparedPlayed[step - first] = level;
    }
    return played >= AUDIBLE_MIN;
  }

  #mostAlike(n: number): { readonly alike: number; readonly lag: number } {
    let [sumY, sumYY] = [0, 0];
    for (let step = 0; step < n; step += 1) {
      const y = this.#comparedHeard[step] ?? FLOOR_DB;
      sumY += y;
      sumYY += y * y;
    }
    const varY = sumYY - (sumY * sumY) / n;
    let best = { alike: 0, lag: 0 };
    if (varY <= 0) return best;
    for (let lag = 0; lag < LAGS; lag += 1) {
      const alike = this.#alikeAt(lag, n, sumY, varY);
      if (alike > best.alike) best = { alike, lag };
    }
    return best;
  }

  /** Correlation of the two at this lag; 0 while too little of both is audible. */
  #alikeAt(lag: number, n: number, sumY: number, varY: number): number {
    const offset = LAGS - 1 - lag;
    let audible = 0;
    let [sumX, sumXX, sumXY] = [0, 0, 0];
    for (let step = 0; step < n; step += 1) {
      const x = this.#comparedPlayed[step + offset] ?? FLOOR_DB;
      const y = this.#comparedHeard[step] ?? FLOOR_DB;
      if (x > FLOOR_DB && y > FLOOR_DB) audible += 1;
      sumX += x;
      sumXX += x * x;
      sumXY += x * y;
    }
    if (audible < AUDIBLE_MIN) return 0;
    const varX = sumXX - (sumX * sumX) / n;
    if (varX <= 0) return 0;
    return (sumXY - (sumX * sumY) / n) / Math.sqrt(varX * varY);
  }

  /**
   * Median difference of the steps in which both are audible: what a short noise of the user does not move. Null when
   * the differences are too wide for an echo.
   */
  #lossAt(lag: number): number | null {
    const losses: number[] = [];
    for (let step = Math.max(0, this.#heardTo - COMPARED); step < this.#heardTo; step += 1) {
      const x = this.#playedAt(step - lag);
      const y = this.#heard[step % RETAINED_STEPS] ?? FLOOR_DB;
      if (x > FLOOR_DB && y > FLOOR_DB) losses.push(x - y);
    }
    losses.sort((a, b) => a - b);
    const share = (part: number): number => losses[Math.floor(losses.length * part)] ?? 0;
    return share(0.75) - share(0.25) <= SPREAD_MAX_DB ? share(0.5) : null;
  }

  #playedAt(step: number): number {
    if (step < 0 || step >= this.#playedTo || step < this.#playedTo - RETAINED_STEPS) return FLOOR_DB;
    return this.#played[step % RETAINED_STEPS] ?? FLOOR_DB;
  }

  #stepAt(ms: number): number {
    return Math.max(0, Math.round((ms - (this.#startMs ?? ms)) / STEP_MS));
  }

  #skipHeard(to: number): void {
    const from = Math.max(0, to - RETAINED_STEPS, Math.min(this.#heardTo, to));
    for (let step = from; step < to; step += 1) this.#put(this.#heard, step, FLOOR_DB);
    this.#heardTo = Math.max(0, to);
  }

  #pause(to: number): void {
    if (this.#summed > 0) this.#closePlayed();
    const from = Math.max(this.#playedTo, to - RETAINED_STEPS);
    for (let step = from; step < to; step += 1) this.#put(this.#played, step, FLOOR_DB);
    this.#playedTo = Math.max(this.#playedTo, to);
  }

  #closePlayed(): void {
    const level = decibels(this.#sum / Math.max(1, this.#summed));
    if (level > LOUD_DB) this.#untold += 1;
    if (level > FLOOR_DB) this.#audible += 1;
    this.#put(this.#played, this.#playedTo, level);
    this.#playedTo += 1;
    this.#sum = 0;
    this.#summed = 0;
  }

  #put(ring: Float32Array, step: number, level: number): void {
    ring[step % RETAINED_STEPS] = level;
  }
}

function likelihoodOf(excessDb: number): number {
  return Math.min(1, Math.max(0, (BEYOND_DB - excessDb) / (BEYOND_DB - WITHIN_DB)));
}

function levelDb(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return decibels(sum / Math.max(1, samples.length));
}

function decibels(meanSquare: number): number {
  return Math.max(FLOOR_DB, 10 * Math.log10(Math.max(meanSquare, 1e-3) / 32_768 ** 2));
}
