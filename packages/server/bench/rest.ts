/** `npm run bench:rest`: agents created per second through the whole stack, on both databases. */

import { Client } from "pg";
import { Agent as HttpAgent } from "undici";
import { restOf, startChildService, type ChildService } from "../demo/child-service.ts";
import { milliseconds, percentile, publish } from "./report.ts";

const CONNECTIONS = 16;
const WARM_MS = 2_000;
const MEASURED_MS = 8_000;
const POSTGRES = process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";
const BODY = JSON.stringify({
  name: "bench",
  callTemplate: {
    systemPrompt: "You answer the telephone of a small hotel. ".repeat(8),
    medium: { serverWebSocket: { inputSampleRate: 16_000 } },
    vadSettings: { turnEndpointDelay: "0.384s" },
  },
});

interface Figures {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  readonly failed: number;
}

async function measure(service: ChildService): Promise<Figures> {
  const dispatcher = new HttpAgent({ connections: CONNECTIONS, pipelining: 1 });
  const headers = { "x-api-key": service.apiKey, "content-type": "application/json" };
  const latenciesMs: number[] = [];
  let failed = 0;
  const untilMs = performance.now() + WARM_MS + MEASURED_MS;
  const measuredFromMs = performance.now() + WARM_MS;
  const worker = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      const answer = await dispatcher.request({
        origin: service.baseUrl,
        path: "/api/agents",
        method: "POST",
        headers,
        body: BODY,
      });
      await answer.body.dump();
      if (answer.statusCode !== 201) failed += 1;
      else if (startedMs >= measuredFromMs) latenciesMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await dispatcher.close();
  const total = await restOf(service)<{ total: number }>("GET", "/api/agents?pageSize=1");
  if (total.total < latenciesMs.length) throw new Error("Fewer agents are stored than were acknowledged.");
  return { perSecond: latenciesMs.length / (MEASURED_MS / 1000), latenciesMs, failed };
}

async function onEmbedded(): Promise<Figures> {
  const service = await startChildService({ env: UNLIMITED });
  try {
    return await measure(service);
  } finally {
    await service.stop();
  }
}

async function onPostgres(): Promise<Figures> {
  const name = `parley_bench_${String(process.pid)}`;
  const admin = new Client({ connectionString: POSTGRES });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(POSTGRES);
  url.pathname = `/${name}`;
  try {
    const secretsKey = Buffer.alloc(32, 1).toString("base64");
    const service = await startChildService({
      env: { ...UNLIMITED, DATABASE_URL: url.toString(), SECRETS_KEY: secretsKey },
    });
    try {
      return await measure(service);
    } finally {
      await service.stop();
    }
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  }
}

const UNLIMITED = { RATE_LIMIT_PER_KEY: "0", RATE_LIMIT_PER_ACCOUNT: "0" };

const row = (name: string, figures: Figures, aim: string): string =>
  `| ${name} | ${figures.perSecond.toFixed(0)} | ${milliseconds(percentile(figures.latenciesMs, 0.5))} | ` +
  `${milliseconds(percentile(figures.latenciesMs, 0.99))} | ${String(figures.failed)} | ${aim} |`;

await publish(
  "bench:rest",
  `| POST /api/agents, ${String(CONNECTIONS)} connections | per second | p50, ms | p99, ms | failed | aim |
|---|---|---|---|---|---|
${row("embedded", await onEmbedded(), "≥ 800/s")}
${row("PostgreSQL", await onPostgres(), "≥ 1,500/s")}`,
);
