/** One kind of job: its definition, which whoever leaves such a job knows, and its handler, which runs it. */

/** `Data` is any JSON object, small: it is stored as it is, so no secrets and no words of callers. */
export interface JobDefinition<Data extends object> {
  /** Never changed once released: stored jobs are found by it. */
  readonly name: string;
  /** Stored data as this version understands it. @throws when it does not */
  readonly read: (data: unknown) => Data;
  /** Jobs of this kind that run at a time in one process. */
  readonly atOnce: number;
  /** One attempt; then its signal is aborted and the attempt counts as failed. */
  readonly limitSeconds: number;
  /** After a failed attempt. An attempt cut off by a crash counts as one. */
  readonly retries: {
    readonly limit: number;
    readonly delaySeconds: number;
    /** Doubling up to this; null: always the same wait. */
    readonly maxDelaySeconds: number | null;
  };
  /** Left with the same data where the last attempt failed or was cut off. It must be listed before this one. */
  readonly givenUp?: JobDefinition<Data>;
}

export interface Job<Data> {
  readonly jobId: string;
  readonly data: Data;
  /** Aborted when the attempt takes too long or the service stops. */
  readonly signal: AbortSignal;
}

/** Resolves when the job is done for good. May run again after that, when a crash came in between: it must bear that. */
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
