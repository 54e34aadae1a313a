/**
 * The jobs of the service, kept by pg-boss in the service's own database. A job is left in the transaction that writes the
 * rows it is about, so there is neither without the other.
 */

import { randomUUID } from "node:crypto";
import { PgBoss, type Queue } from "pg-boss";
import type { Db, Store } from "../store/db.ts";
import { rawSqlOf, type RunSql } from "../store/raw-sql.ts";
import type { JobDefinition, RunnableJob } from "./job.ts";

export interface Jobs {
  /** Leaves a job within the transaction of `tx`. Call `wake` after it. */
  send<Data extends object>(
    tx: Db,
    definition: JobDefinition<Data>,
    data: Data,
    options?: SendOptions,
  ): Promise<void>;
  /** There are new jobs of this kind: they are looked for at once instead of at the next poll. */
  wake(definition: Pick<JobDefinition<object>, "name">): void;
  /** Runs these kinds in this process. */
  start(runnable: readonly RunnableJob[]): Promise<void>;
  /** Takes no new jobs, lets those under way end, aborts those that do not within the limit. Idempotent. */
  close(): Promise<void>;
}

export interface SendOptions {
  /** Not before this; wall clock, ms since 1970. */
  readonly startAfterMs?: number;
}

export interface JobsDeps {
  readonly store: Pick<Store, "kind" | "runSql">;
  /** Every kind that is sent or run, so that its queue is there. */
  readonly definitions: readonly JobDefinition<object>[];
  readonly log: {
    readonly warn: (fields: object, message: string) => void;
    readonly error: (fields: object, message: string) => void;
  };
}

/** For jobs that another process left or lost; what this one leaves is told to it. */
const POLL_SECONDS = 3;
/** A running job shows that it is alive within this time, or counts as cut off: the least that pg-boss takes. */
const HEARTBEAT_SECONDS = 10;
/** Between looks for jobs that were cut off. With a heartbeat, a retry's delay and a poll still within 30 s. */
const SUPERVISE_SECONDS = 5;
/** Jobs that are done stay to be looked at. */
const DONE_KEPT_SECONDS = 3_600;
const CLEANED_EVERY_SECONDS = 600;
/** A job that nobody ran, such as one of a later version, is forgotten. */
const WAITING_KEPT_SECONDS = 14 * 86_400;
/** At the end: for jobs under way. */
const CLOSE_LIMIT_MS = 5_000;

export async function openJobs({ store, definitions, log }: JobsDeps): Promise<Jobs> {
  const boss = new PgBoss({
    db: databaseOf(store.runSql),
    backend: store.kind === "embedded" ? "pglite" : "postgres",
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: CLEANED_EVERY_SECONDS,
    // Both are for tables of many millions of jobs.
    reindex: false,
    monitorVacuum: false,
  });
  boss.on("error", (error: Error) => log.error({ error: error.message }, "a job or its queue failed"));
  boss.on("warning", ({ message }: { message: string }) => log.warn({ warning: message }, "jobs"));
  await boss.start();
  const known = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const definition of definitions) {
    const queue = queueOf(definition);
    if (!known.has(queue.name)) await boss.createQueue(queue.name, queue);
    await boss.updateQueue(queue.name, queue);
    // Reads the queue into the memory of pg-boss. Without that `send` would do it, on a connection of its own, and on the
    // embedded database such a one waits for the very transaction that sends.
    await boss.findJobs(queue.name, { id: randomUUID() });
  }
  return new BossJobs(boss, log);
}

function databaseOf(run: RunSql): { executeSql: (text: string, values?: unknown[]) => ReturnType<RunSql> } {
  return { executeSql: (text, values) => run(text, values) };
}

function queueOf({ name, limitSeconds, retries, givenUp }: JobDefinition<object>): Queue {
  const { limit, delaySeconds, maxDelaySeconds } = retries;
  return {
    name,
    expireInSeconds: limitSeconds,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retentionSeconds: WAITING_KEPT_SECONDS,
    deleteAfterSeconds: DONE_KEPT_SECONDS,
    retryLimit: limit,
    retryDelay: delaySeconds,
    ...(givenUp === undefined ? {} : { deadLetter: givenUp.name }),
    ...(maxDelaySeconds === null
      ? { retryBackoff: false }
      : { retryBackoff: true, retryDelayMax: maxDelaySeconds }),
  };
}

class BossJobs implements Jobs {
  readonly #boss: PgBoss;
  readonly #log: JobsDeps["log"];
  readonly #workers = new Map<string, string[]>();
  readonly #stopping = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(boss: PgBoss, log: JobsDeps["log"]) {
    this.#boss = boss;
    this.#log = log;
  }

  async send<Data extends object>(
    tx: Db,
    { name }: JobDefinition<Data>,
    data: Data,
    { startAfterMs }: SendOptions = {},
  ): Promise<void> {
    const later = startAfterMs === undefined ? {} : { startAfter: new Date(startAfterMs) };
    const jobId = await this.#boss.send(name, data, { db: databaseOf(rawSqlOf(tx)), ...later });
    if (jobId === null) throw new Error(`No job ${name} was left.`);
  }

  wake({ name }: Pick<JobDefinition<object>, "name">): void {
    for (const worker of this.#workers.get(name) ?? []) this.#boss.notifyWorker(worker);
  }

  async start(runnable: readonly RunnableJob[]): Promise<void> {
    for (const job of runnable) {
      const { name, atOnce } = job.definition;
      const workers: string[] = [];
      this.#workers.set(name, workers);
      for (let place = 0; place < atOnce; place += 1) workers.push(await this.#work(job));
    }
  }

  async #work({ definition, run }: RunnableJob): Promise<string> {
    let worker: string | null = null;
    const options = { batchSize: 1, pollingIntervalSeconds: POLL_SECONDS } as const;
    worker = await this.#boss.work<unknown>(definition.name, options, async ([job]) => {
      if (job === undefined) return;
      try {
        const signal = AbortSignal.any([job.signal, this.#stopping.signal]);
        await run({ jobId: job.id, data: job.data, signal });
      } catch (error) {
        if (!this.#stopping.signal.aborted) {
          const fields = { job: definition.name, jobId: job.id, error: String(error) };
          this.#log.warn(fields, "an attempt at a job failed");
        }
        throw error;
      } finally {
        // It looks for the next one at once, and waits only when there is none.
        if (worker !== null) this.#boss.notifyWorker(worker);
      }
    });
    return worker;
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const limit = setTimeout(() => this.#stopping.abort(new Error("the service stops")), CLOSE_LIMIT_MS);
    try {
      await Promise.all([...this.#workers.keys()].map((name) => this.#boss.offWork(name)));
    } finally {
      clearTimeout(limit);
    }
    await this.#boss.stop({ graceful: false });
  }
}
