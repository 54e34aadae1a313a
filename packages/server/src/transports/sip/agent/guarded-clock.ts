/** A clock whose timers report what they throw, so that a fault in one call does not end the process. */

import type { Clock } from "../../../pacing/clock.ts";
import { errorOf } from "../../../pacing/error-text.ts";

export function guardedClock(clock: Clock, faulted: (error: Error) => void): Clock {
  return {
    ...clock,
    after: (delayMs, fire) =>
      clock.after(delayMs, () => {
        try {
          fire();
        } catch (error) {
          faulted(errorOf(error));
        }
      }),
  };
}
