/** A response that is sent again until the peer shows that it has it: a 200 until ACK, a reliable 180 until PRACK. */

import type { Clock } from "../../../pacing/clock.ts";
import { T1_MS, T2_MS, TRANSACTION_MS } from "../transactions/timers.ts";

/** Returns the function that stops it. @param gaveUp called when nothing has come for 32 s (RFC 3261, 13.3.1.4) */
export function repeatUntil(clock: Clock, send: () => void, gaveUp: () => void): () => void {
  let intervalMs = T1_MS;
  let stopRepeat: () => void;
  const repeat = () => {
    send();
    intervalMs = Math.min(intervalMs * 2, T2_MS);
    stopRepeat = clock.after(intervalMs, repeat);
  };
  stopRepeat = clock.after(intervalMs, repeat);
  const stopLimit = clock.after(TRANSACTION_MS, () => {
    stopRepeat();
    gaveUp();
  });
  return () => {
    stopRepeat();
    stopLimit();
  };
}
