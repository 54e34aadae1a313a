/** One kind of job: its definition, for the code that queues such a job, and its handler, which runs it. */

/** `Data` is any small JSON object. It is stored unchanged, so it must not contain secrets or words of callers. */
export interface JobDefinition<Data extends object> {
  /** Never changed once released: stored jobs are found by it. */
  readonly name: string;
  /** Parses stored data as this version understands it. @throws when it cannot */
  readonly read: (data: unknown) => Data;
  /** Concurrent jobs of this kind in one process. */
  readonly atOnce: number;
  /** The share of one account in them, 1: its other jobs wait, and those of other accounts pass them. Absent: all. */
  readonly ofAccount?: { readonly atOnce: 1; idOf(data: Data): string };
  /** Limit of one attempt; then its signal is aborted and the attempt counts as failed. */
  readonly limitSeconds: number;
  /** Retries after a failed attempt. An attempt cut off by a crash counts as one. */
  readonly retries: {
    readonly limit: number;
    readonly delaySeconds: number;
    /** The wait doubles up to this; null: it is always the same. */
    readonly maxDelaySeconds: number | null;
  };
  /** Queued with the same data where the last attempt failed or was cut off. It must be listed before this one. */
  readonly givenUp?: JobDefinition<Data>;
}

export interface SendOptions {
  /** Earliest start; wall clock, ms since 1970. */
  readonly startAfterMs?: number;
}

export interface Job<Data> {
  readonly jobId: string;
  readonly data: Data;
  /** Aborted when the attempt takes too long or the service stops. */
  readonly signal: AbortSignal;
}

/** Resolves when the job is done. It may run again after a crash, so it must be idempotent. */
export type JobHandler<Data> = (job: Job<Data>) => Promise<void>;

/** A kind of job that this process runs. */
export interface RunnableJob {
  readonly definition: JobDefinition<object>;
  readonly run: (job: Job<unknown>) => Promise<void>;
}

export function runnable<Data extends object>(
  definition: JobDefinition<Data>,
  handler: JobHandler<Data>,
): RunnableJob {
  return { definition, run: (job) => handler({ ...job, data: definition.read(job.data) }) };
}
