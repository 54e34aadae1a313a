/** Waiting that ends. */

import type { Clock } from "./clock.ts";
import { errorOf } from "./error-text.ts";

/** What `work` failed with, or that it took longer than `limitMs`; null when it succeeded. Never rejects. */
export function within(clock: Clock, work: Promise<void>, limitMs: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => {
      resolve(new Error("it took too long"));
    });
    work.then(
      () => {
        cancel();
        resolve(null);
      },
      (error: unknown) => {
        cancel();
        resolve(errorOf(error));
      },
    );
  });
}
