/** Long work of the main thread, cut so that what is urgent (20 ms frames of audio) gets its turn in between. */

import { setImmediate } from "node:timers/promises";

/** Work at a time. A frame that waits this long is still played in time: clients hold 60 ms by default. */
const SLICE_MS = 5;

/** Calls `work` with every item in order, until it answers false. */
export async function inSlices<Item>(
  items: Iterable<Item>,
  work: (item: Item, index: number) => boolean | void,
): Promise<void> {
  let sliceEndsAt = performance.now() + SLICE_MS;
  let index = 0;
  for (const item of items) {
    if (work(item, index) === false) return;
    index += 1;
    if (performance.now() < sliceEndsAt) continue;
    await setImmediate();
    sliceEndsAt = performance.now() + SLICE_MS;
  }
}
