/**
 * Calls of the service that `npm run replay -- <log> --fixture <name>` has kept. Their events were recorded with the
 * engine of that time, so the current one may act differently; but no invariant may break, and the end must be the
 * same.
 */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseLog, replay } from "./event-log.ts";

const FOLDER = new URL("../../../../fixtures/event-logs/calls/", import.meta.url);

const names = readdirSync(FOLDER).filter((file) => file.endsWith(".jsonl"));

test("there is a call that was kept", () => {
  expect(names.length).toBeGreaterThan(0);
});

test.each(names)("%s replays with every invariant kept, to the same end", (name) => {
  const { head, steps, summary } = parseLog(readFileSync(new URL(name, FOLDER), "utf8"));
  const again = replay(
    head,
    steps.map(({ event }) => event),
  );
  expect(again.summary.endReason).toBe(summary.endReason);
  expect(again.summary.utterances.length).toBeGreaterThan(0);
});
