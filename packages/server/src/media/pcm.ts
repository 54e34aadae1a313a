/** Signed 16-bit little-endian samples as bytes and back. All supported hosts are little-endian. */

const SAMPLE_BYTES = 2;

/** The bytes of `samples` without a copy. */
export function bytesOfSamples(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/**
 * The whole samples in `bytes`; an odd last byte is left out. A view where the bytes are aligned, otherwise copied
 * into `scratch` when that is long enough (and then valid only until its next use), or into a new array.
 */
export function samplesOfBytes(bytes: Uint8Array, scratch?: Int16Array): Int16Array {
  const count = Math.floor(bytes.byteLength / SAMPLE_BYTES);
  if (bytes.byteOffset % SAMPLE_BYTES === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, count);
  const target =
    scratch !== undefined && scratch.length >= count ? scratch.subarray(0, count) : new Int16Array(count);
  bytesOfSamples(target).set(bytes.subarray(0, count * SAMPLE_BYTES));
  return target;
}

/** `left` and `right` of equal length as one array of pairs. */
export function interleave(left: Int16Array, right: Int16Array): Int16Array {
  const pairs = new Int16Array(left.length * 2);
  for (let i = 0; i < left.length; i += 1) {
    pairs[2 * i] = left[i]!;
    pairs[2 * i + 1] = right[i]!;
  }
  return pairs;
}
