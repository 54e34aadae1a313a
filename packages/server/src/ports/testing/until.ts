/** Polling in tests for effects from outside the process's own promises. */

import { vi } from "vitest";

/** A machine under load may take this long for a message on its own network. */
const LIMIT_MS = 60_000;

export async function until(holds: () => boolean): Promise<void> {
  await vi.waitFor(
    () => {
      if (!holds()) throw new Error(`not within ${String(LIMIT_MS)} ms: ${String(holds)}`);
    },
    { timeout: LIMIT_MS, interval: 5 },
  );
}
