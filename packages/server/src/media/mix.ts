/** Sums of two streams. */

/** The sum of two blocks of equal length, clipped at full scale: two voices at once are rare and rarely that loud. */
export function mix(one: Int16Array, other: Int16Array): Int16Array {
  const sum = new Int16Array(one.length);
  for (let i = 0; i < one.length; i += 1) {
    sum[i] = Math.max(-32_768, Math.min(32_767, one[i]! + (other[i] ?? 0)));
  }
  return sum;
}
