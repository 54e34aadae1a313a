/** Parser for event log files: downloaded from the service, or fixtures. */

import { parseLogLine } from "../src/call/event-lines.ts";
import type { CallEngineEvent } from "../src/call/events.ts";
import type { CallPlan } from "../src/plan/plan.ts";
import { parsePlan } from "../src/plan/stored-plan.ts";
import { parseLog } from "../test/golden/event-log.ts";

export interface ReadLog {
  readonly plan: CallPlan;
  readonly events: readonly CallEngineEvent[];
  readonly notes: readonly string[];
}

/** @throws Error that names the line that cannot be read */
export function readLog(text: string): ReadLog {
  const [first = "", ...lines] = text.trimEnd().split("\n");
  const head = read(first, 1, (line) => JSON.parse(line) as unknown);
  if (typeof head !== "object" || head === null || !("plan" in head)) {
    throw new Error("line 1 is not the plan of a call");
  }
  // Fixtures also have a head, and the effects of each event.
  if ("about" in head) {
    const { head: fixture, steps } = parseLog(text);
    return { plan: fixture.plan, events: steps.map(({ event }) => event), notes: [] };
  }
  const plan = read(first, 1, () => parsePlan(head.plan));
  const events: CallEngineEvent[] = [];
  const notes: string[] = [];
  for (const [i, line] of lines.entries()) {
    const parsed = read(line, i + 2, parseLogLine);
    if (parsed.kind === "note") notes.push(parsed.note);
    else events.push(...parsed.events);
  }
  return { plan, events, notes };
}

function read<T>(line: string, number: number, parse: (line: string) => T): T {
  try {
    return parse(line);
  } catch (error) {
    throw new Error(`line ${String(number)}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
