/** Whether two recordings have the same sound: their loudness over time, which a codec and a concealment keep. */

export interface Recorded {
  readonly samples: Int16Array;
  readonly rateHz: number;
}

/** Loudness of each 20 ms. */
function envelope({ samples, rateHz }: Recorded): number[] {
  const size = rateHz / 50;
  return Array.from({ length: Math.floor(samples.length / size) }, (_, n) => {
    const frame = samples.subarray(n * size, (n + 1) * size);
    return Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / size);
  });
}

/**
 * 1: as loud at every moment of `sent`, at the best of the delays; 0: nothing of it. What was heard before and after
 * does not count.
 *
 * @param mostDelay in frames of 20 ms. Default 15
 */
export function likeness(sent: Recorded, heard: Recorded, mostDelay = 15): number {
  const [one, two] = [envelope(sent), envelope(heard)];
  const at = (delay: number): number => {
    let [product, first, second] = [0, 0, 0];
    for (const [n, value] of one.entries()) {
      const other = two[n + delay] ?? 0;
      product += value * other;
      first += value * value;
      second += other * other;
    }
    return second === 0 ? 0 : product / Math.sqrt(first * second);
  };
  return Math.max(...Array.from({ length: mostDelay + 1 }, (_, delay) => at(delay)));
}

/** What a frame that is left out or repeated costs, in loudness: a tenth of them is no other speech. */
const STEP_COST = 0.15;

/**
 * 1: somewhere in `heard` is all of `sent`, in its order; frames may be missing or doubled there, as on a busy machine
 * whose timers are late (dynamic time warping of the loudness). Measured with recordings of the repository: with every
 * twentieth frame doubled 0.92, with 400 ms left out 0.87; of other words at most 0.77.
 */
export function aligned(sent: Recorded, heard: Recorded): number {
  const [one, two] = [relative(envelope(sent)), relative(envelope(heard))];
  let row = two.map(() => 0);
  for (const [n, level] of one.entries()) {
    const former = row;
    row = two.map((other, at) => {
      const ways = [
        former[at - 1] ?? Infinity,
        (former[at] ?? 0) + STEP_COST,
        (former[at - 2] ?? Infinity) + STEP_COST,
      ];
      return Math.abs(level - other) + (n === 0 ? 0 : Math.min(...ways));
    });
  }
  const loudness = one.reduce((sum, level) => sum + level, 0);
  return loudness === 0 || row.length === 0 ? 0 : 1 - Math.min(...row) / loudness;
}

/** 1 for the loudest frame; the root makes quiet parts count as people hear them. */
function relative(levels: readonly number[]): number[] {
  const most = Math.max(1, ...levels);
  return levels.map((level) => Math.sqrt(level / most));
}
