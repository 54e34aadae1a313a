/**
 * A process that makes the calls of batches, delivers their webhooks and finishes them, until its input ends or it is
 * killed. Calls are written as the service writes them, limits included. They are not run: on request, each is joined
 * and ended at once.
 */

import { NO_EMBEDDING } from "./no-embedding.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { callEnder } from "../../lifecycle/end/ending.ts";
import { callRenderer } from "../../lifecycle/resource.ts";
import { JOB_DEFINITIONS, jobsToRun } from "../../app/job-kinds.ts";
import { readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import type { CreateCall } from "../../lifecycle/api.ts";
import { markJoined } from "../../store/calls/calls.ts";
import { openStore } from "../../store/opening/open-store.ts";
import { DEFAULT_METERING } from "../../store/accounts/metering.ts";
import { openDialledCalls } from "../batches/dialled-calls.ts";
import { openBatchDispatcher } from "../batches/dispatcher.ts";
import { openJobs } from "../jobs.ts";
import { openDispatcher } from "../webhooks/dispatcher.ts";
import { noCarriers } from "./no-carriers.ts";
import { storedCallCreator } from "./stored-calls.ts";

/** Ends a process that was left running. */
const LIMIT_MS = 170_000;
/** Attempts to write the end of a call, as in the service's own queue of records. */
const END_TRIES = 120;
const END_RETRY_MS = 250;

const [, , dataDir = "", secretsKey = "", databaseUrl = "", lives = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const store = await openStore({ dataDir, databaseUrl, secretsKey: key, log });
const { db } = store;
const jobs = await openJobs({ store, definitions: JOB_DEFINITIONS, log });
const client = openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") });
const renderCall = callRenderer({ apiNames: "neutral" }, () => "https://voice.example");
const shared = { db, client, renderCall, prefixes: ["X-Service-"], log, nowMs: Date.now } as const;

const webhooks = openDispatcher({
  ...shared,
  metrics: { attempted: () => undefined, firstAttempt: () => undefined, pending: () => undefined },
  random: Math.random,
});
const deliver = (): void => webhooks.wake();
const endCall = callEnder({ db, jobs, metering: DEFAULT_METERING, deliver });

async function surely(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries >= END_TRIES) throw error;
      await sleep(END_RETRY_MS);
    }
  }
}

async function live(accountId: string, callId: string): Promise<void> {
  const joinedAtMs = Date.now();
  await surely(() => markJoined(db, accountId, callId, { joinedAtMs, clientVersion: null }));
  const end = { endReason: "hangup", endedAtMs: joinedAtMs + 1_000 } as const;
  await surely(() => endCall(accountId, callId, end));
}

const storeCall = storedCallCreator(db);
const createCall: CreateCall = async (requested) => {
  const outcome = await storeCall(requested);
  if (outcome.kind !== "created") return outcome;
  deliver();
  if (lives === "live") void live(requested.accountId, outcome.callId);
  return outcome;
};

const batches = openBatchDispatcher({
  ...shared,
  createCall,
  outgoing: openDialledCalls({ db, createCall, dialsSip: false }),
  endUnjoined: () => undefined,
  metrics: { ended: () => undefined, expired: () => undefined, underWay: () => undefined },
});
webhooks.start();
batches.start();
const removeFiles = (): Promise<void> => Promise.resolve();
await jobs.start(
  jobsToRun({
    db,
    jobs,
    metering: DEFAULT_METERING,
    deliver,
    removeFiles,
    summaries: null,
    embedding: NO_EMBEDDING,
    corpora: null,
    carriers: noCarriers,
    log,
    nowMs: Date.now,
  }),
);
process.stdout.write("ready\n");
const limit = setTimeout(() => process.exit(1), LIMIT_MS);
process.stdin.resume();
process.stdin.on("end", () => {
  clearTimeout(limit);
  void batches
    .close()
    .then(() => jobs.close())
    .then(() => webhooks.close())
    .then(() => store.close());
});
