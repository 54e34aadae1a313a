/** Reads the event logs of calls for their accounts: with everything that a replay needs, and without secrets. */

import { eventWithoutSecrets, formatNote, parseLogLine, planWithoutSecrets } from "../call/event-lines.ts";
import type { CallPlan } from "../plan/plan.ts";
import { parsePlan, storedPlan, UnreadablePlan } from "../plan/stored-plan.ts";
import { lastEventLogChunk, readEventLogChunk, readEventLogEnd } from "../store/calls/call-event-logs.ts";
import { getCallForJoin } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";

/** Limit of the chunks of one call; the runner makes some 500 of the longest. It bounds a loop, not what is stored. */
const CHUNKS_LIMIT = 100_000;

/** A marker for the reader: a chunk could not be written. What follows cannot be replayed. */
const GAP_NOTE = "events are missing here: the log ends at this point";
/** The process stopped in the middle of the call, or could not write what the whole log has. */
const OPEN_END_NOTE =
  "it is unknown whether events are missing at the end: the end of the log was not written";

/** Null where there is no log, or none that this version can replay. */
export async function readEventLog(
  db: Db,
  accountId: string,
  callId: string,
): Promise<AsyncIterable<string> | null> {
  const last = await lastEventLogChunk(db, accountId, callId);
  const end = await readEventLogEnd(db, accountId, callId);
  const storedChunks = Math.max(last === null ? 0 : last + 1, end?.chunks ?? 0);
  const call = storedChunks === 0 ? null : await getCallForJoin(db, callId);
  if (call?.accountId !== accountId) return null;
  const plan = readPlan(call.plan);
  if (plan === null) return null;
  // A running call has more to come.
  const note = end === null && call.endedAtMs !== null ? OPEN_END_NOTE : null;
  const whole = { chunks: storedChunks, events: end?.events ?? null, note };
  return linesOf(plan, whole, (index) => readEventLogChunk(db, accountId, callId, index));
}

interface Whole {
  readonly chunks: number;
  /** Null: not known. */
  readonly events: number | null;
  readonly note: string | null;
}

function readPlan(json: unknown): CallPlan | null {
  try {
    return parsePlan(json);
  } catch (error) {
    if (error instanceof UnreadablePlan) return null;
    throw error;
  }
}

/** One chunk in memory at a time: the next is read after the last was consumed. */
async function* linesOf(
  plan: CallPlan,
  whole: Whole,
  read: (index: number) => Promise<string | null>,
): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify({ plan: storedPlan(planWithoutSecrets(plan)) })}\n`;
  let events = 0;
  for (let index = 0; index < whole.chunks; index += 1) {
    const text = index < CHUNKS_LIMIT ? await read(index) : null;
    if (text === null) {
      yield formatNote(GAP_NOTE);
      return;
    }
    const chunk = oneEventPerLine(text);
    events += chunk.events;
    yield chunk.text;
  }
  if (whole.events !== null && events !== whole.events) {
    yield formatNote(`the log has ${String(events)} of ${String(whole.events)} events`);
  }
  if (whole.note !== null) yield formatNote(whole.note);
}

function oneEventPerLine(text: string): { readonly text: string; readonly events: number } {
  const lines = text
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map(parseLogLine);
  const events = lines.reduce((sum, line) => sum + (line.kind === "events" ? line.events.length : 0), 0);
  const written = lines.map((line) => {
    if (line.kind === "note") return formatNote(line.note);
    return line.events.map((event) => `${JSON.stringify(eventWithoutSecrets(event))}\n`).join("");
  });
  return { text: written.join(""), events };
}
