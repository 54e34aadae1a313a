/**
 * `npm run bench:nodes`: what several nodes cost, in less than five minutes: snapshots at 100 calls, requests that are
 * forwarded, and two workers against one process. BENCH_CALLS (100), BENCH_TURNS (5) and BENCH_ROUNDS (2) change the
 * first part, BENCH_STEPS (150,250) the calls of the last one. BENCH_DATABASE=embedded measures snapshots on the embedded
 * database, and nothing else. `--only snapshots` (or `forwarding`, `workers`; repeatable) measures one part;
 * `--no-page` leaves docs/benchmarks.md alone.
 */

import { parseArgs } from "node:util";
import { speechClip } from "../load.ts";
import { publish } from "../report.ts";
import { forwardingCost } from "./forwarding.ts";
import { snapshotCost } from "./snapshot-cost.ts";
import { workersAgainstOne } from "./workers.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    "no-page": { type: "boolean", default: false },
  },
});
const isEmbedded = process.env["BENCH_DATABASE"] === "embedded";
const steps = (process.env["BENCH_STEPS"] ?? "150,250").split(",").map(Number);
const clip = await speechClip("cards_001");

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  snapshots: () =>
    snapshotCost({
      calls: Number(process.env["BENCH_CALLS"] ?? 100),
      turns: Number(process.env["BENCH_TURNS"] ?? 5),
      rounds: Number(process.env["BENCH_ROUNDS"] ?? 2),
      isEmbedded,
      clip,
    }),
  ...(isEmbedded ? {} : { forwarding: forwardingCost, workers: () => workersAgainstOne(steps, clip) }),
};

const chosen = values.only.length > 0 ? values.only : Object.keys(PARTS);
const unknown = chosen.find((name) => PARTS[name] === undefined);
if (unknown !== undefined) {
  console.error(`--only must be one of ${Object.keys(PARTS).join(", ")}, and not ${unknown}`);
  process.exit(2);
}
const found: string[] = [];
for (const name of chosen) {
  const part = await PARTS[name]?.();
  console.log(`\n${part ?? ""}`);
  found.push(part ?? "");
}
// A part of the figures, or those of the other database, must not replace the whole.
if (values["no-page"] || isEmbedded || values.only.length > 0)
  console.log("\ndocs/benchmarks.md is unchanged");
else await publish("bench:nodes", found.join("\n\n"));
