/** Ends requests whose bodies arrive too slowly, with limits for each kind of body. */

import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { ApiError } from "@parley/schema";

export interface BodyPace {
  /** Interval of the checks. */
  readonly everyMs: number;
  /** Minimum that must arrive between two checks. */
  readonly leastBytes: number;
  /** Limit for the whole body, from the end of the headers. */
  readonly totalMs: number;
}

/** Limits of a body of the usual size. */
export const USUAL_PACE: BodyPace = { everyMs: 30_000, leastBytes: 0, totalMs: 30_000 };
/** Limits of a large body: the slowest mobile networks send some ten times as fast. */
export const LARGE_PACE: BodyPace = { everyMs: 10_000, leastBytes: 65_536, totalMs: 300_000 };

/**
 * Calls `refuse` once if the body does not arrive in time. Uses the connection's own count, so it reads nothing. Stops
 * at the answer, whether the body was read or not: the connection may serve another request by then.
 */
export function watchPace(
  request: IncomingMessage,
  answer: EventEmitter,
  { everyMs, leastBytes, totalMs }: BodyPace,
  refuse: (error: ApiError) => void,
): void {
  const { socket } = request;
  const endsAt = performance.now() + totalMs;
  let before = socket.bytesRead;
  const watching = setInterval(() => {
    const came = socket.bytesRead - before;
    before = socket.bytesRead;
    if (!request.complete && !request.destroyed && came >= leastBytes && performance.now() < endsAt) return;
    clearInterval(watching);
    if (request.complete || request.destroyed) return;
    refuse(new ApiError("validation_failed", slowness({ everyMs, leastBytes, totalMs })));
  }, everyMs);
  // The connection itself keeps the process alive while it may.
  watching.unref();
  const stop = (): void => clearInterval(watching);
  request.once("close", stop);
  answer.once("finish", stop).once("close", stop);
}

function slowness({ everyMs, leastBytes, totalMs }: BodyPace): string {
  const whole = `it must arrive within ${totalMs / 1000} s`;
  if (leastBytes === 0) return `The body came too slowly: ${whole}.`;
  return `The body came too slowly: ${whole}, and at least ${leastBytes} bytes of it in any ${everyMs / 1000} s.`;
}
