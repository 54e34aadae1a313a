/** Calls of the service that `npm run replay -- <log> --fixture <name>` has kept: the engine answers them as it did. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatLog, parseLog, replay } from "./event-log.ts";

const FOLDER = new URL("../../../../fixtures/event-logs/calls/", import.meta.url);

const names = existsSync(FOLDER) ? readdirSync(FOLDER).filter((file) => file.endsWith(".jsonl")) : [];

test("there is a call that was kept", () => {
  expect(names.length).toBeGreaterThan(0);
});

test.each(names)("%s replays with every invariant kept, to the same effects", (name) => {
  const text = readFileSync(new URL(name, FOLDER), "utf8");
  const { head, steps } = parseLog(text);
  const again = replay(
    head,
    steps.map(({ event }) => event),
  );
  expect(formatLog(again).split("\n")).toEqual(text.split("\n"));
});
