/**
 * Whether incoming audio is nothing but the agent's own voice coming back. It compares loudness only: for each window
 * the loudness of what came in with that of what was played a lag earlier. The lag is searched between 0 and 600 ms and
 * kept where the two rise and fall together; the attenuation is learned from the windows that follow the playout. A
 * window that is no louder than the echo would be is echo; one that is clearly louder has somebody in it.
 */

import { msToSamples } from "./frame.ts";

/** Loudness is measured in steps of this length, short enough to show syllables. */
const STEP_MS = 16;
/** Buffers of client and network together hold back no echo longer than this. */
const LAG_MAX_MS = 600;
const LAGS = Math.floor(LAG_MAX_MS / STEP_MS) + 1;
/** Steps compared for each lag: 0.8 s of speech has three or four syllables. */
const COMPARED = 50;
/** Steps that are remembered of each side. */
const KEPT = COMPARED + LAGS + 8;
/** Steps of audible playout within the comparison without which nothing can be learned: 0.32 s. */
const AUDIBLE_MIN = 20;
/** Together by at least this correlation of loudness in decibels; two speakers reach 0.5 by chance. */
const ALIKE = 0.78;
/** The middle half of the differences in loudness lies this close together for an echo, and not for two speakers. */
const SPREAD_MAX_DB = 6;
/** Windows in a row of playout of which far too little comes back: what was learned was chance. */
const MISSING_WINDOWS = 6;
const MISSING_DB = 12;
/** Quieter than this is the noise of the line, about -66 dB of full scale. */
const FLOOR_DB = -66;
/** An echo is at least this much quieter than what was played. */
const LOSS_MIN_DB = 3;
/** How much louder than expected an echo may be, and from where on it is certainly somebody else. */
const WITHIN_DB = 5;
const BEYOND_DB = 10;
/** Weight of a new measurement of the attenuation. */
const LEARNING_RATE = 0.2;
/** The loudness of an echo is smeared by the room; the loudest of these steps around the lag is expected. */
const SMEAR_STEPS = 3;

interface Learned {
  readonly lag: number;
  readonly lossDb: number;
}

export class EchoEstimator {
  readonly #playedStep: number;
  readonly #heardStep: number;
  /** Loudness in decibels by number of the step since `#startMs`, as rings. */
  readonly #played = new Float32Array(KEPT).fill(FLOOR_DB);
  readonly #heard = new Float32Array(KEPT).fill(FLOOR_DB);
  #startMs: number | null = null;
  #playedTo = 0;
  #heardTo = 0;
  #sum = 0;
  #summed = 0;
  #learned: Learned | null = null;
  #missing = 0;

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

  /** Likelihood, 0 to 1, that the window that ended at `endMs` is only echo. 0 before anything was played. */
  window(samples: Int16Array, endMs: number): number {
    if (this.#startMs === null) return 0;
    const steps = Math.floor(samples.length / this.#heardStep);
    // The stream is continuous, so its own count is steadier than the clock; it is set anew when they part.
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
    return this.#likelihood(loudest, steps);
  }

  #likelihood(levelDbNow: number, steps: number): number {
    if (this.#learned === null) return 0;
    const { lag, lossDb } = this.#learned;
    let source = FLOOR_DB;
    for (let step = this.#heardTo - steps - SMEAR_STEPS; step <= this.#heardTo; step += 1) {
      source = Math.max(source, this.#playedAt(step - lag));
    }
    if (source <= FLOOR_DB) return 0;
    const excess = levelDbNow - Math.max(FLOOR_DB, source - lossDb);
    this.#missing = excess < -MISSING_DB ? this.#missing + 1 : 0;
    if (this.#missing >= MISSING_WINDOWS) this.#learned = null;
    return Math.min(1, Math.max(0, (BEYOND_DB - excess) / (BEYOND_DB - WITHIN_DB)));
  }

  #learn(): void {
    let best = { alike: 0, lag: 0 };
    for (let lag = 0; lag < LAGS; lag += 1) {
      const alike = this.#alikeAt(lag);
      if (alike > best.alike) best = { alike, lag };
    }
    if (best.alike < ALIKE) return;
    const found = this.#lossAt(best.lag);
    if (found === null || found < LOSS_MIN_DB) return;
    this.#missing = 0;
    const known = this.#learned;
    const near = known !== null && Math.abs(known.lag - best.lag) <= 2;
    const lossDb = near ? known.lossDb + LEARNING_RATE * (found - known.lossDb) : found;
    this.#learned = { lag: best.lag, lossDb };
  }

  /** Correlation of the two at this lag; 0 while too little of both is audible. */
  #alikeAt(lag: number): number {
    let n = 0;
    let [sumX, sumY, sumXX, sumYY, sumXY] = [0, 0, 0, 0, 0];
    let audible = 0;
    for (let step = this.#heardTo - COMPARED; step < this.#heardTo; step += 1) {
      const x = this.#playedAt(step - lag);
      if (step < 0) continue;
      const y = this.#heard[step % KEPT] ?? FLOOR_DB;
      if (x > FLOOR_DB && y > FLOOR_DB) audible += 1;
      n += 1;
      sumX += x;
      sumY += y;
      sumXX += x * x;
      sumYY += y * y;
      sumXY += x * y;
    }
    if (audible < AUDIBLE_MIN) return 0;
    const varX = sumXX - (sumX * sumX) / n;
    const varY = sumYY - (sumY * sumY) / n;
    if (varX <= 0 || varY <= 0) return 0;
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
      const y = this.#heard[step % KEPT] ?? FLOOR_DB;
      if (x > FLOOR_DB && y > FLOOR_DB) losses.push(x - y);
    }
    losses.sort((a, b) => a - b);
    const share = (part: number): number => losses[Math.floor(losses.length * part)] ?? 0;
    return share(0.75) - share(0.25) <= SPREAD_MAX_DB ? share(0.5) : null;
  }

  #playedAt(step: number): number {
    if (step < 0 || step >= this.#playedTo || step < this.#playedTo - KEPT) return FLOOR_DB;
    return this.#played[step % KEPT] ?? FLOOR_DB;
  }

  #stepAt(ms: number): number {
    return Math.max(0, Math.round((ms - (this.#startMs ?? ms)) / STEP_MS));
  }

  #skipHeard(to: number): void {
    const from = Math.max(0, to - KEPT, Math.min(this.#heardTo, to));
    for (let step = from; step < to; step += 1) this.#put(this.#heard, step, FLOOR_DB);
    this.#heardTo = Math.max(0, to);
  }

  #pause(to: number): void {
    if (this.#summed > 0) this.#closePlayed();
    const from = Math.max(this.#playedTo, to - KEPT);
    for (let step = from; step < to; step += 1) this.#put(this.#played, step, FLOOR_DB);
    this.#playedTo = Math.max(this.#playedTo, to);
  }

  #closePlayed(): void {
    this.#put(this.#played, this.#playedTo, decibels(this.#sum / Math.max(1, this.#summed)));
    this.#playedTo += 1;
    this.#sum = 0;
    this.#summed = 0;
  }

  #put(ring: Float32Array, step: number, level: number): void {
    ring[step % KEPT] = level;
  }
}

function levelDb(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return decibels(sum / Math.max(1, samples.length));
}

function decibels(meanSquare: number): number {
  return Math.max(FLOOR_DB, 10 * Math.log10(Math.max(meanSquare, 1e-3) / 32_768 ** 2));
}
