/** The mel bands of Slaney's Auditory Toolbox, which Whisper uses: triangles of equal area, evenly spaced in mel. */

export const MEL_BANDS = 80;
const LOWEST_HZ = 0;
const HIGHEST_HZ = 8_000;

/** Linear up to 1 kHz (15 mel), logarithmic above: 27 mel for a factor of 6.4. */
const LINEAR_HZ_PER_MEL = 200 / 3;
const BREAK_HZ = 1_000;
const BREAK_MEL = BREAK_HZ / LINEAR_HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

export interface MelFilter {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

export function melOfHz(hz: number): number {
  return hz < BREAK_HZ ? hz / LINEAR_HZ_PER_MEL : BREAK_MEL + Math.log(hz / BREAK_HZ) / LOG_STEP;
}

export function hzOfMel(mel: number): number {
  return mel < BREAK_MEL ? mel * LINEAR_HZ_PER_MEL : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL));
}

/** Lower end, centre and upper end of band n are the values n, n + 1 and n + 2. */
export function melEdgesHz(): number[] {
  const [lowest, highest] = [melOfHz(LOWEST_HZ), melOfHz(HIGHEST_HZ)];
  return Array.from({ length: MEL_BANDS + 2 }, (_, index) =>
    hzOfMel(lowest + ((highest - lowest) * index) / (MEL_BANDS + 1)),
  );
}

/** Only the bins within a band: the lowest bands have one or two, and the others need no work. */
export function melFilters(bins: number, rateHz: number): MelFilter[] {
  const edges = melEdgesHz();
  const binHz = rateHz / 2 / (bins - 1);
  return Array.from({ length: MEL_BANDS }, (_, band) => {
    const [low, centre, high] = [edges[band]!, edges[band + 1]!, edges[band + 2]!];
    const firstBin = Math.ceil(low / binHz);
    const lastBin = Math.min(bins - 1, Math.floor(high / binHz));
    const weights = Float64Array.from({ length: Math.max(0, lastBin - firstBin + 1) }, (_value, index) => {
      const hz = (firstBin + index) * binHz;
      const height = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      return (Math.max(0, height) * 2) / (high - low);
    });
    return { firstBin, weights };
  });
}
