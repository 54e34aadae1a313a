/** Writes a replayed call to a file that the tests replay from then on (`test/golden/kept-calls.test.ts`). */

import { formatLog } from "../test/golden/event-log.ts";
import { summarise } from "../test/golden/summary.ts";
import type { ReadLog } from "./read-log.ts";
import type { ReplayedStep } from "./run.ts";

export function isFixtureName(name: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
}

export function fixtureUrl(name: string): URL {
  return new URL(`../../../fixtures/event-logs/calls/${name}.jsonl`, import.meta.url);
}

export function fixtureOf(name: string, { plan }: ReadLog, replayed: readonly ReplayedStep[]): string {
  const steps = replayed.map(({ event, effects }) => ({ event, effects }));
  const about = `a call of the service, ${plan.callId}`;
  return formatLog({ head: { name, about, sounds: [], plan }, steps, summary: summarise(steps) });
}
