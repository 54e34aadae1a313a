/** Event logs of calls as their accounts may read them: with everything that a replay needs, and without secrets. */

import { eventWithoutSecrets, formatNote, parseLogLine, planWithoutSecrets } from "./call/event-lines.ts";
import type { CallPlan } from "./call/plan.ts";
import { parsePlan, storedPlan, UnreadablePlan } from "./call/stored-plan.ts";
import { lastEventLogChunk, readEventLogChunk } from "./store/call-event-logs.ts";
import { getCallForJoin } from "./store/calls.ts";
import type { Db } from "./store/db.ts";

/** Chunks of one call; the runner makes some 500 of the longest. A bound on a loop, not on what is kept. */
const CHUNKS_LIMIT = 100_000;

/** For the reader: a chunk could not be written. What comes after it cannot be replayed. */
const GAP_NOTE = "events are missing here: the log goes no further";

/** Null where there is none, or none that this version can replay. */
export async function readEventLog(
  db: Db,
  accountId: string,
  callId: string,
): Promise<AsyncIterable<string> | null> {
  const last = await lastEventLogChunk(db, accountId, callId);
  const call = last === null ? null : await getCallForJoin(db, callId);
  const plan = call === null || call.accountId !== accountId ? null : readPlan(call.plan);
  if (last === null || plan === null) return null;
  return linesOf(plan, last, (index) => readEventLogChunk(db, accountId, callId, index));
}

function readPlan(json: unknown): CallPlan | null {
  try {
    return parsePlan(json);
  } catch (error) {
    if (error instanceof UnreadablePlan) return null;
    throw error;
  }
}

/** One chunk in memory at a time: the next is read when the last was taken. */
async function* linesOf(
  plan: CallPlan,
  last: number,
  read: (index: number) => Promise<string | null>,
): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify({ plan: storedPlan(planWithoutSecrets(plan)) })}\n`;
  for (let index = 0; index <= last; index += 1) {
    const text = index < CHUNKS_LIMIT ? await read(index) : null;
    if (text === null) {
      yield formatNote(GAP_NOTE);
      return;
    }
    yield oneEventPerLine(text);
  }
}

function oneEventPerLine(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const parsed = parseLogLine(line);
      if (parsed.kind === "note") return formatNote(parsed.note);
      return parsed.events.map((event) => `${JSON.stringify(eventWithoutSecrets(event))}\n`).join("");
    })
    .join("");
}
