/** Load generator: one kind of request, on one and on several connections, for a fixed time. */

import { Agent as HttpAgent } from "undici";
import type { ChildService } from "../demo/child-service.ts";
import { milliseconds, percentile } from "./report.ts";

export interface Case {
  readonly name: string;
  /** Target for the p99 at one connection. */
  readonly aim: string;
  /** @param turn counts from 0, so that requests are not all for the same record. */
  request(turn: number): {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly body?: string;
  };
}

const CONNECTIONS = 8;
const WARM_REQUESTS = 4;
const ALONE_MS = 1_000;
const TOGETHER_MS = 1_500;

interface Figures {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  readonly failed: number;
}

export const heading = `| request | total | alone: p50, ms | p99, ms | ${String(CONNECTIONS)} connections: per second | p50, ms | p99, ms | failed | aim, p99 alone |
|---|---|---|---|---|---|---|---|---|`;

/** @returns the row of a table. */
export async function measureCase(service: ChildService, each: Case): Promise<string> {
  const dispatcher = new HttpAgent({ connections: CONNECTIONS, pipelining: 1 });
  const headers = { "x-api-key": service.apiKey, "content-type": "application/json" };
  let turn = 0;
  let total: number | undefined;
  const ask = async (): Promise<boolean> => {
    const { method, path, body } = each.request(turn);
    turn += 1;
    const answer = await dispatcher.request({
      origin: service.baseUrl,
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const json = (await answer.body.json()) as { readonly total?: number };
    total = json.total;
    return answer.statusCode < 300;
  };
  const run = async (connections: number, forMs: number): Promise<Figures> => {
    const latenciesMs: number[] = [];
    let failed = 0;
    const startedMs = performance.now();
    const worker = async (): Promise<void> => {
      while (performance.now() < startedMs + forMs) {
        const sentMs = performance.now();
        if (await ask()) latenciesMs.push(performance.now() - sentMs);
        else failed += 1;
      }
    };
    await Promise.all(Array.from({ length: connections }, worker));
    return { perSecond: (latenciesMs.length * 1000) / (performance.now() - startedMs), latenciesMs, failed };
  };
  try {
    for (let count = 0; count < WARM_REQUESTS; count += 1) await ask();
    const alone = await run(1, ALONE_MS);
    const together = await run(CONNECTIONS, TOGETHER_MS);
    const quantiles = ({ latenciesMs }: Figures): string =>
      `${milliseconds(percentile(latenciesMs, 0.5))} | ${milliseconds(percentile(latenciesMs, 0.99))}`;
    const shown = total === undefined ? "" : total.toLocaleString("en");
    return (
      `| ${each.name} | ${shown} | ${quantiles(alone)} | ${together.perSecond.toFixed(0)} | ` +
      `${quantiles(together)} | ${String(alone.failed + together.failed)} | ${each.aim} |`
    );
  } finally {
    await dispatcher.close();
  }
}
