/**
 * What callbacks that came to another process say of the calls of this one: its busy lines and its lost streams whose
 * call is over at the carrier end, and its models learn that a machine has answered.
 */

import type { Logger } from "pino";
import { messageOf } from "../pacing/error-text.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import { readDialledCalls } from "../store/telephony/carrier-dials.ts";
import { answererOf } from "./callbacks.ts";

/** Longest time until a call that nobody answered ends here. */
const POLL_MS = 1_000;
/** Calls of one query. */
const PORTION = 1_000;

export interface EndedDialDeps {
  readonly db: Db;
  readonly liveCalls: Pick<
    LiveCalls,
    "awaitingAnswerer" | "callIds" | "endCall" | "endUnjoined" | "joinState" | "noteAnswerer"
  >;
  readonly logger: Pick<Logger, "warn">;
}

/** Asks nothing while no call waits for a connection, and none was connected a short time ago. */
export function watchEndedDials(deps: EndedDialDeps): Loop {
  // The last word about each call, which is given to it once.
  const said = new Map<string, string>();
  return repeat(
    () => noteDials(deps, said),
    () => POLL_MS,
    POLL_MS,
    (error) => deps.logger.warn({ error: messageOf(error) }, "the ends of dialled calls could not be read"),
  );
}

export async function noteDials({ db, liveCalls }: EndedDialDeps, said: Map<string, string>): Promise<void> {
  const waiting = new Set(liveCalls.callIds().filter((id) => liveCalls.joinState(id) === "joinable"));
  const pending = new Set([...waiting, ...liveCalls.awaitingAnswerer()]);
  const asked = [...pending];
  for (const callId of said.keys()) if (!pending.has(callId)) said.delete(callId);
  for (let at = 0; at < asked.length; at += PORTION) {
    const dialled = await readDialledCalls(db, asked.slice(at, at + PORTION));
    for (const { callId, result, answeredBy } of dialled) {
      if (answeredBy !== null && said.get(callId) !== answeredBy) {
        said.set(callId, answeredBy);
        liveCalls.noteAnswerer(callId, answererOf(answeredBy));
      }
      // A refused call is ended by the process that has created it. The end of a connected one comes with its stream.
      if (result === null || result === "refused" || !waiting.has(callId)) continue;
      if (!liveCalls.endUnjoined(callId)) liveCalls.endCall(callId);
    }
  }
}
