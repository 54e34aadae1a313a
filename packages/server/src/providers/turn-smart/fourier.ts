/** The discrete Fourier transform of any length without large prime factors, in place. */

interface Tables {
  readonly length: number;
  /** The radices, whose product is the length. */
  readonly radices: readonly number[];
  readonly cos: Float64Array;
  readonly sin: Float64Array;
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** One entry for each used length; this program uses one. */
const tables = new Map<number, Tables>();

/** 4 before 2, because one step of radix 4 reads and writes everything once instead of twice. */
const RADICES = [4, 2, 3, 5];

function tablesOf(length: number): Tables {
  const known = tables.get(length);
  if (known !== undefined) return known;
  const radices: number[] = [];
  let rest = length;
  for (const radix of RADICES) {
    for (; rest % radix === 0; rest /= radix) radices.push(radix);
  }
  if (rest > 1) radices.push(rest);
  const angle = (index: number): number => (-2 * Math.PI * index) / length;
  const made: Tables = {
    length,
    radices,
    cos: Float64Array.from({ length }, (_, index) => Math.cos(angle(index))),
    sin: Float64Array.from({ length }, (_, index) => Math.sin(angle(index))),
    re: new Float64Array(length),
    im: new Float64Array(length),
  };
  tables.set(length, made);
  return made;
}

/** Stockham's algorithm: each step writes to the other pair of arrays, so no reordering step is needed. */
export function fourierTransform(re: Float64Array, im: Float64Array): void {
  const table = tablesOf(re.length);
  let [fromRe, fromIm, toRe, toIm] = [re, im, table.re, table.im];
  let stride = 1;
  for (const radix of table.radices) {
    step(table, radix, stride, fromRe, fromIm, toRe, toIm);
    [fromRe, fromIm, toRe, toIm] = [toRe, toIm, fromRe, fromIm];
    stride *= radix;
  }
  if (fromRe === re) return;
  re.set(fromRe);
  im.set(fromIm);
}

function step(
  { length, cos, sin }: Tables,
  radix: number,
  stride: number,
  fromRe: Float64Array,
  fromIm: Float64Array,
  toRe: Float64Array,
  toIm: Float64Array,
): void {
  const groups = length / (stride * radix);
  const apart = stride * groups;
  for (let group = 0; group < groups; group++) {
    for (let k = 0; k < radix; k++) {
      const twiddle = (group * k * stride) % length;
      const to = stride * (radix * group + k);
      for (let offset = 0; offset < stride; offset++) {
        let sumRe = 0;
        let sumIm = 0;
        let from = offset + stride * group;
        let turn = twiddle;
        for (let j = 0; j < radix; j++) {
          sumRe += fromRe[from]! * cos[turn]! - fromIm[from]! * sin[turn]!;
          sumIm += fromRe[from]! * sin[turn]! + fromIm[from]! * cos[turn]!;
          from += apart;
          turn = (turn + (k * length) / radix) % length;
        }
        toRe[to + offset] = sumRe;
        toIm[to + offset] = sumIm;
      }
    }
  }
}
