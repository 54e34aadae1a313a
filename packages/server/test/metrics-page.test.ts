/** `docs/metrics.md` lists exactly the metrics of `/metrics`, with their types, labels and units. */

import { expect, test } from "vitest";
import { createMetrics } from "../src/app/metrics.ts";
import { workerMetrics } from "../src/app/workers/worker-metrics.ts";
import { joinAttempts, requestDurations } from "../src/http/api/http-metrics.ts";
import { tableRows } from "./markdown.ts";
import { filesBelow, readSource } from "./source-text.ts";

const { registry } = createMetrics(() => 0);
requestDurations(registry);
joinAttempts(registry);
const registries = [registry, workerMetrics(() => 0).registry];

const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const rows = tableRows(readSource("docs/metrics.md"), /^`parley_/).map(
  ([name = "", type = "", labels = "", unit = "", meaning = ""]) => ({
    name: codes(name)[0] ?? "",
    type,
    labels: codes(labels),
    unit,
    meaning,
  }),
);

/** What the end of a name says, as Prometheus advises. */
function unitOf(name: string): string {
  const unit = /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1];
  return unit ?? "";
}

const listed = registries
  .flatMap((each) => each.getMetricsAsArray())
  .map((metric) => ({
    name: metric.name,
    type: String(metric.type),
    labels: Reflect.get(metric, "labelNames") as readonly string[],
    unit: unitOf(metric.name),
  }));

test("the page has a row for each metric, with its type, labels and unit", () => {
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
  const stated = rows.map(({ name, type, labels, unit }) => ({ name, type, labels, unit }));
  expect(stated.toSorted(byName)).toEqual(listed.toSorted(byName));
});

test("each row says what the metric means", () => {
  expect(rows.filter(({ meaning }) => meaning.length < 10).map(({ name }) => name)).toEqual([]);
});

// The registries above have what these files define. A metric of another file must be registered here as well.
test("no metric is defined anywhere else", () => {
  const defined = filesBelow("packages/server/src/")
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .flatMap((path) =>
      [...readSource(path).matchAll(/\bname: "(parley_\w+)"/g)].map(([, name = ""]) => name),
    );
  expect(defined.length).toBeGreaterThan(10);
  const known = new Set(listed.map(({ name }) => name));
  expect(defined.filter((name) => !known.has(name))).toEqual([]);
});
