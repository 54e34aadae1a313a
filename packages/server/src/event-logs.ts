/** Event logs of calls as their accounts may read them: with everything that a replay needs, and without secrets. */

import { eventWithoutSecrets, formatNote, parseLogLine, planWithoutSecrets } from "./call/event-lines.ts";
import type { CallPlan } from "./call/plan.ts";
import { parsePlan, storedPlan, UnreadablePlan } from "./call/stored-plan.ts";
import { readEventLogChunk } from "./store/call-event-logs.ts";
import { getCallForJoin } from "./store/calls.ts";
import type { Db } from "./store/db.ts";

/** Chunks of one call; the runner makes some 500 of the longest. A bound on a loop, not on what is kept. */
const CHUNKS_LIMIT = 100_000;

/** Null where there is none, or none that this version can replay. */
export async function readEventLog(
  db: Db,
  accountId: string,
  callId: string,
): Promise<AsyncIterable<string> | null> {
  const first = await readEventLogChunk(db, accountId, callId, 0);
  const call = first === null ? null : await getCallForJoin(db, callId);
  const plan = call === null || call.accountId !== accountId ? null : readPlan(call.plan);
  if (first === null || plan === null) return null;
  return linesOf(plan, first, (index) => readEventLogChunk(db, accountId, callId, index));
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
  first: string,
  read: (index: number) => Promise<string | null>,
): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify({ plan: storedPlan(planWithoutSecrets(plan)) })}\n`;
  let text: string | null = first;
  for (let index = 1; text !== null && index <= CHUNKS_LIMIT; index += 1) {
    yield oneEventPerLine(text);
    text = await read(index);
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
