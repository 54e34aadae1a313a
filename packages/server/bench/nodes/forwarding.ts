/** What it costs that a request comes to a node that does not run the call. */

import { randomBytes } from "node:crypto";
import { openCaller } from "../../demo/caller.ts";
import { createDatabase } from "../jobs-store.ts";
import { endCall, makeAgent, pause, SAMPLE_RATE_HZ } from "../load.ts";
import { milliseconds, percentile } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";
import { DELAYS } from "./snapshot-cost.ts";

const CALLS = 20;
/** To each node, by turns. */
const MESSAGES = 1_000;
/** Between two messages: a node is not kept busy by them. */
const MESSAGE_PAUSE_MS = 10;
/** Each process has seen the other one. */
const ANNOUNCED_AFTER_MS = 3_000;

export async function forwardingCost(): Promise<string> {
  await using opened = new AsyncDisposableStack();
  const database = await createDatabase();
  opened.defer(() => database.drop());
  const env = {
    DATABASE_URL: database.url,
    SECRETS_KEY: randomBytes(32).toString("base64"),
    NODE_ADDRESS: "http://127.0.0.1:0",
    API_KEY: "benchNod.abcdefghijklmnopqrstuvwxyzABCDEF",
  };
  const start = async (): Promise<BenchService> => {
    const service = await startBenchService(DELAYS, env);
    opened.defer(() => service.stop());
    return service;
  };
  const [owner, other] = [await start(), await start()];
  await pause(ANNOUNCED_AFTER_MS);
  const agentId = await makeAgent(owner.rest);
  const callIds: string[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    const made = await owner.rest<{ callId: string; joinUrl: string }>(
      "POST",
      `/api/agents/${agentId}/calls`,
      {},
    );
    const caller = await openCaller({ joinUrl: made.joinUrl, sampleRateHz: SAMPLE_RATE_HZ });
    opened.defer(() => endCall(caller));
    callIds.push(made.callId);
  }
  await timesOf(owner, other, callIds, MESSAGES / 10);
  const { here, there } = await timesOf(owner, other, callIds, MESSAGES);
  const row = (name: string, { timesMs, failed }: Times): string => {
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => milliseconds(percentile(timesMs, share)));
    return `| ${name} | ${String(p50)} | ${String(p95)} | ${String(p99)} | ${String(failed)} |`;
  };
  return `\`send_data_message\` to ${String(CALLS)} calls, ${String(MESSAGES)} messages to each of two nodes by turns, one at a time: from the request to the answer.

| at | p50, ms | p95, ms | p99, ms | failed |
|---|---|---|---|---|
${row("the node of the call", here)}
${row("the other node, which forwards it", there)}`;
}

interface Times {
  readonly timesMs: number[];
  /** Such as a node that did not answer the other one within 2 s. */
  failed: number;
}

async function timesOf(
  owner: BenchService,
  other: BenchService,
  callIds: readonly string[],
  messages: number,
): Promise<{ readonly here: Times; readonly there: Times }> {
  const here: Times = { timesMs: [], failed: 0 };
  const there: Times = { timesMs: [], failed: 0 };
  for (let message = 0; message < messages; message += 1) {
    const callId = callIds[message % callIds.length] ?? "";
    await addTime(here, owner, callId);
    await addTime(there, other, callId);
    await pause(MESSAGE_PAUSE_MS);
  }
  return { here, there };
}

async function addTime(times: Times, { rest }: BenchService, callId: string): Promise<void> {
  const fromMs = performance.now();
  const message = { type: "user_text_message", text: "A remark.", urgency: "later" };
  try {
    await rest("POST", `/api/calls/${callId}/send_data_message`, message);
    times.timesMs.push(performance.now() - fromMs);
  } catch (error) {
    console.error(String(error));
    times.failed += 1;
  }
}
