/** The files of deploy/ name metrics, settings and pages that exist. Programs check the rest: deploy/check/check.sh. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createMetrics } from "../src/app/metrics.ts";
import { workerMetrics } from "../src/app/workers/worker-metrics.ts";
import { Environment } from "../src/config/environment.ts";
import { joinAttempts, requestDurations } from "../src/http/api/http-metrics.ts";
import { filesBelow, readSource, REPOSITORY } from "./source-text.ts";

const { registry } = createMetrics(() => 0);
requestDurations(registry);
joinAttempts(registry);
const registries = [registry, workerMetrics(() => 0).registry];

interface Metric {
  readonly type: string;
  readonly labels: readonly string[];
}

/** By the name of each series, as a query writes it. */
const series = new Map(
  registries
    .flatMap((each) => each.getMetricsAsArray())
    .flatMap((metric): [string, Metric][] => {
      const type = String(metric.type);
      const labels = Reflect.get(metric, "labelNames") as readonly string[];
      if (type !== "histogram") return [[metric.name, { type, labels }]];
      return ["bucket", "sum", "count"].map((part) => [
        `${metric.name}_${part}`,
        { type, labels: part === "bucket" ? [...labels, "le"] : labels },
      ]);
    }),
);

/** Labels that Prometheus adds, and the one of workers. */
const ADDED_LABELS = ["instance", "job", "worker"];

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const { groups } = parse(readSource("deploy/prometheus/alerts.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readSource("deploy/grafana/parley.json")) as { panels: Panel[] };
const queries: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

describe("alert rules and the dashboard", () => {
  test("are there, and each query names a metric", () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(panels.length).toBeGreaterThan(20);
    const without = queries.filter(([, expr]) => !/\b(?:parley_\w+|up)\b/.test(expr));
    expect(without).toEqual([]);
  });

  test.each(queries)("%s names metrics and labels that exist", (_, expr) => {
    const found = [...expr.matchAll(/\b(parley_\w+)(?:\{([^}]*)\})?/g)];
    for (const [, name = "", matchers = ""] of found) {
      const metric = series.get(name);
      expect([name, metric !== undefined]).toEqual([name, true]);
      const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label);
      const known = [...(metric?.labels ?? []), ...ADDED_LABELS];
      expect(labels.filter((label) => !known.includes(label ?? ""))).toEqual([]);
    }
    // What is grouped by must be a label of one of them.
    const known = new Set([
      ...found.flatMap(([, name = ""]) => series.get(name)?.labels ?? []),
      ...ADDED_LABELS,
    ]);
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/\s*,\s*/));
    expect(grouped.filter((label) => !known.has(label))).toEqual([]);
    // Counters only grow: a query without a rate shows nothing of now.
    for (const [, name = ""] of found.filter(([, each = ""]) => series.get(each)?.type === "counter")) {
      expect(expr).toMatch(new RegExp(`(?:rate|increase)\\(${name}\\b`));
    }
  });
});

/** Settings of the containers that are not the service's own, or come with another part of it. */
const OTHER_VARIABLES = new Set(["NODE_ENV", "NODE_ADDRESS", "POD_IP", "HOST_IP"]);

describe("settings", () => {
  const known = (name: string): boolean => name in Environment.shape || OTHER_VARIABLES.has(name);

  test("of compose.yaml are those that the service reads", () => {
    const compose = parse(readSource("compose.yaml"), { merge: true }) as {
      services: Record<string, { environment?: Record<string, unknown> }>;
    };
    const names = ["node1", "node2"].map((node) => Object.keys(compose.services[node]?.environment ?? {}));
    expect(names[0]?.length).toBeGreaterThan(6);
    expect(names[0]).toEqual(names[1]);
    expect(names.flat().filter((name) => !known(name))).toEqual([]);
  });

  test("of the Kubernetes manifests are those that the service reads", () => {
    const files = filesBelow("deploy/kubernetes/").filter((path) => path.endsWith(".yaml"));
    expect(files.length).toBeGreaterThan(6);
    const names = files.flatMap((path) =>
      parseAllDocuments(readSource(path)).flatMap((document) => variablesIn(document.toJS() as unknown)),
    );
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !known(name))).toEqual([]);
  });

  test("of the image and the unit are those that the service reads", () => {
    const image = [...readSource("Dockerfile").matchAll(/^ENV (\w+)=/gm)];
    const unit = [...readSource("deploy/systemd/parley.service").matchAll(/^Environment=(\w+)=/gm)];
    expect([image.length > 3, unit.length > 1]).toEqual([true, true]);
    expect([...image, ...unit].map(([, name = ""]) => name).filter((name) => !known(name))).toEqual([]);
  });
});

/** Names of `env` entries, keys of ConfigMaps, and names in patches of both. */
function variablesIn(value: unknown): string[] {
  if (typeof value === "string") {
    // A patch is a document in a text.
    if (!value.includes("path: /")) return [];
    const patched = [...value.matchAll(/path: \/data\/(\w+)/g), ...value.matchAll(/name: ([A-Z][A-Z_]+)/g)];
    return patched.map(([, name = ""]) => name);
  }
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  if (typeof value !== "object" || value === null) return [];
  const { kind, data, env } = value as { kind?: unknown; data?: object; env?: readonly { name: string }[] };
  const own = kind === "ConfigMap" ? Object.keys(data ?? {}) : [];
  return [...own, ...(env ?? []).map(({ name }) => name), ...Object.values(value).flatMap(variablesIn)];
}

describe("times of a stop", () => {
  const drainMs = 120_000;
  const seconds = (text: string, form: RegExp): number => Number(form.exec(text)?.[1]);

  test("are longer than the time in which calls may end", () => {
    const compose = readSource("compose.yaml");
    const settings = readSource("deploy/kubernetes/base/settings.yaml");
    expect(compose).toContain(`DRAIN_TIMEOUT_MS: "${String(drainMs)}"`);
    expect(settings).toContain(`DRAIN_TIMEOUT_MS: "${String(drainMs)}"`);
    const least = drainMs / 1000 + 20;
    expect(seconds(compose, /stop_grace_period: (\d+)s/)).toBeGreaterThan(least);
    const nodes = readSource("deploy/kubernetes/base/nodes.yaml");
    expect(seconds(nodes, /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(least);
    const unit = readSource("deploy/systemd/parley.service");
    expect(seconds(unit, /TimeoutStopSec=(\d+)/)).toBeGreaterThan(least);
  });
});

test("each file of deploy/ says what it was checked by, or is described by one that does", () => {
  const heads = filesBelow("deploy/").filter((path) => /\.(?:yaml|cfg|conf|service)$|Caddyfile$/.test(path));
  const said = new Set(
    heads.filter((path) => /Checked/.test(readSource(path))).map((path) => path.replace(/\/[^/]*$/, "")),
  );
  const unsaid = heads.filter((path) => !said.has(path.replace(/\/[^/]*$/, "")));
  expect(unsaid).toEqual([]);
  expect(readSource("Dockerfile")).toMatch(/^# To check: /m);
});

test("paths that the Dockerfile copies exist", () => {
  const copied = [...readSource("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, paths = ""]) => paths.split(" "),
  );
  expect(copied.length).toBeGreaterThan(10);
  expect(copied.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
});
