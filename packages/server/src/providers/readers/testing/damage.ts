/** Damaged variants of a file: the same number makes the same variant. */

/** A generator of whole numbers below `limit` (mulberry32). */
function numbersFrom(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, limit);
  };
}

/** Cut off, with changed bits, with a block that is zero, moved or repeated, or with changed numbers of four bytes. */
export function damagedVariant(bytes: Uint8Array, seed: number): Uint8Array {
  const below = numbersFrom(seed);
  const kind = below(5);
  if (kind === 0) return bytes.slice(0, below(bytes.length));
  const changed = Uint8Array.from(bytes);
  if (kind === 1) {
    for (let flips = 1 + below(20); flips > 0; flips -= 1) {
      const at = below(changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << below(8));
    }
    return changed;
  }
  const from = below(changed.length);
  const length = 1 + below(Math.min(2_048, changed.length - from));
  if (kind === 2) return changed.fill(0, from, from + length);
  if (kind === 3) return changed.copyWithin(below(changed.length), from, from + length);
  // Sizes and offsets are mostly numbers of four bytes.
  const view = new DataView(changed.buffer);
  const extremes = [0, 1, 0x7fffffff, 0xffffffff, 0xfffffffe, 0x80000000];
  for (let changes = 1 + below(8); changes > 0 && changed.length >= 4; changes -= 1) {
    view.setUint32(below(changed.length - 3), extremes[below(extremes.length)] ?? 0, true);
  }
  return changed;
}
