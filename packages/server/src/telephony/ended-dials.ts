/**
 * Ends the calls of this process whose callbacks came to another one: its busy lines, and its lost streams whose call is
 * over at the carrier.
 */

import type { Logger } from "pino";
import { messageOf } from "../pacing/error-text.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import { readDialledCalls } from "../store/telephony/carrier-dials.ts";

/** Longest time until a call that nobody answered ends here. */
const POLL_MS = 1_000;
/** Calls of one query. */
const PORTION = 1_000;

export interface EndedDialDeps {
  readonly db: Db;
  readonly liveCalls: Pick<LiveCalls, "callIds" | "joinState" | "endCall" | "endUnjoined">;
  readonly logger: Pick<Logger, "warn">;
}

/** Asks nothing while no call waits for a connection. */
export function watchEndedDials(deps: EndedDialDeps): Loop {
  return repeat(
    () => endDials(deps),
    () => POLL_MS,
    POLL_MS,
    (error) => deps.logger.warn({ error: messageOf(error) }, "the ends of dialled calls could not be read"),
  );
}

export async function endDials({ db, liveCalls }: EndedDialDeps): Promise<void> {
  const waiting = liveCalls.callIds().filter((callId) => liveCalls.joinState(callId) === "joinable");
  for (let at = 0; at < waiting.length; at += PORTION) {
    const dialled = await readDialledCalls(db, waiting.slice(at, at + PORTION));
    for (const { callId, result } of dialled) {
      // A refused call is ended by the process that has created it.
      if (result === null || result === "refused") continue;
      if (!liveCalls.endUnjoined(callId)) liveCalls.endCall(callId);
    }
  }
}
