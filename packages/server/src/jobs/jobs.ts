/**
 * The job queue: pg-boss in the service's own database. A job is queued in the transaction that writes the
 * rows it is about, so neither exists without the other.
 */

import { randomUUID } from "node:crypto";
import { PgBoss, type Queue } from "pg-boss";
import type { Db } from "../store/database/db.ts";
import type { Store } from "../store/opening/open-store.ts";
import { PREPARED_MARK } from "../store/database/prepared-mark.ts";
import { rawSqlOf, type RunSql } from "../store/database/raw-sql.ts";
import type { JobDefinition, RunnableJob, SendOptions } from "./definitions/job.ts";

export interface Jobs {
  /** Queues a job within the transaction of `tx`. Call `wake` after it. */
  send<Data extends object>(
    tx: Db,
    definition: JobDefinition<Data>,
    data: Data,
    options?: SendOptions,
  ): Promise<void>;
  /** There are so many new jobs of this kind, one if not given: polls for them at once instead of at the next interval. */
  wake(definition: Pick<JobDefinition<object>, "name">, newJobs?: number): void;
  /** Runs these kinds in this process. */
  start(runnable: readonly RunnableJob[]): Promise<void>;
  /** Takes no new jobs, waits for running ones, aborts those that exceed the limit. Idempotent. */
  close(): Promise<void>;
}

export interface JobsDeps {
  readonly store: Pick<Store, "kind" | "runSql">;
  /** Every kind that is sent or run, so that its queue exists. */
  readonly definitions: readonly JobDefinition<object>[];
  readonly log: {
    readonly warn: (fields: object, message: string) => void;
    readonly error: (fields: object, message: string) => void;
  };
}

/** Polls for jobs that another process queued or lost; jobs of this process wake it. */
const POLL_SECONDS = 3;
/** Heartbeat: a running job without one for this long counts as cut off. The minimum of pg-boss. */
const HEARTBEAT_SECONDS = 10;
/** Interval of the sweep for jobs that were cut off. With a heartbeat, a retry's delay and a poll still within 30 s. */
const SUPERVISE_SECONDS = 5;
/** Retention of completed jobs, for inspection. */
const DONE_KEPT_SECONDS = 3_600;
const CLEANED_EVERY_SECONDS = 600;
/** Retention of a job that never ran, such as one of a later version. */
const WAITING_KEPT_SECONDS = 14 * 86_400;
/** Limit of running jobs at shutdown. */
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
    // Reads the queue into the memory of pg-boss. Otherwise `send` would do it on its own connection, and on the
    // embedded database that connection waits for the very transaction that sends.
    await boss.findJobs(queue.name, { id: randomUUID() });
  }
  return new BossJobs(boss, log);
}

/** The poll for a job, the only text of every job that has no values. */
const POLL = /^\s*WITH\s+next AS\b/;

/** Texts of every job do not vary, and find their rows by indexes of the queue. Others may be several statements. */
function databaseOf(run: RunSql): { executeSql: (text: string, values?: unknown[]) => ReturnType<RunSql> } {
  return {
    executeSql: (text, values = []) => {
      const isOfEveryJob = values.length > 0 || POLL.test(text);
      return run(isOfEveryJob ? `${PREPARED_MARK} ${text}` : text, values);
    },
  };
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

/** One of the places in which jobs of a kind run. */
interface Place {
  /** Of pg-boss. */
  worker: string;
  isBusy: boolean;
}

class BossJobs implements Jobs {
  readonly #boss: PgBoss;
  readonly #log: JobsDeps["log"];
  /** By kind. The place that was woken longest ago is the first one. */
  readonly #places = new Map<string, Place[]>();
  readonly #stopping = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(boss: PgBoss, log: JobsDeps["log"]) {
    this.#boss = boss;
    this.#log = log;
  }

  async send<Data extends object>(
    tx: Db,
    { name, ofAccount }: JobDefinition<Data>,
    data: Data,
    { startAfterMs }: SendOptions = {},
  ): Promise<void> {
    const later = startAfterMs === undefined ? {} : { startAfter: new Date(startAfterMs) };
    const group = ofAccount === undefined ? {} : { group: { id: ofAccount.idOf(data) } };
    const jobId = await this.#boss.send(name, data, { db: databaseOf(rawSqlOf(tx)), ...later, ...group });
    if (jobId === null) throw new Error(`No job ${name} was left.`);
  }

  /** One place for each job: if all polled, seven of eight would find nothing. Busy ones poll when they are done. */
  wake({ name }: Pick<JobDefinition<object>, "name">, newJobs = 1): void {
    const places = this.#places.get(name) ?? [];
    const woken = places.filter(({ isBusy }) => !isBusy).slice(0, newJobs);
    for (const place of woken) {
      places.splice(places.indexOf(place), 1);
      places.push(place);
      this.#boss.notifyWorker(place.worker);
    }
  }

  async start(runnable: readonly RunnableJob[]): Promise<void> {
    for (const job of runnable) {
      const { name, atOnce } = job.definition;
      const places: Place[] = [];
      this.#places.set(name, places);
      for (let count = 0; count < atOnce; count += 1) places.push(await this.#work(job));
    }
  }

  async #work({ definition, run }: RunnableJob): Promise<Place> {
    const place: Place = { worker: "", isBusy: false };
    const { ofAccount } = definition;
    const share = ofAccount === undefined ? {} : { localGroupConcurrency: ofAccount.atOnce };
    const options = { batchSize: 1, pollingIntervalSeconds: POLL_SECONDS, ...share } as const;
    place.worker = await this.#boss.work<unknown>(definition.name, options, async ([job]) => {
      if (job === undefined) return;
      place.isBusy = true;
      try {
        const signal = AbortSignal.any([job.signal, this.#stopping.signal]);
        await run({ jobId: job.id, data: job.data, signal });
      } catch (error) {
        if (!this.#stopping.signal.aborted) {
          const fields = { job: definition.name, jobId: job.id, error: String(error) };
          this.#log.warn(fields, "an attempt of a job failed");
        }
        throw error;
      } finally {
        place.isBusy = false;
        // It fetches the next one at once, and waits only when there is none.
        if (place.worker !== "") this.#boss.notifyWorker(place.worker);
      }
    });
    return place;
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const limit = setTimeout(
      () => this.#stopping.abort(new Error("the service is stopping")),
      CLOSE_LIMIT_MS,
    );
    try {
      await Promise.all([...this.#places.keys()].map((name) => this.#boss.offWork(name)));
    } finally {
      clearTimeout(limit);
    }
    await this.#boss.stop({ graceful: false });
  }
}
