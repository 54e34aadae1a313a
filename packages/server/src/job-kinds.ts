/** Every kind of job, and what runs it. */

import { finishCall, finishCallJob } from "./jobs/finish-call.ts";
import { runnable, type JobDefinition, type RunnableJob } from "./jobs/job.ts";
import type { Db } from "./store/db.ts";
import type { Metering } from "./store/metering.ts";

export const JOB_DEFINITIONS: readonly JobDefinition<object>[] = [finishCallJob];

export interface JobParts {
  readonly db: Db;
  readonly metering: Metering;
  readonly deliver: () => void;
}

export function jobsToRun({ db, metering, deliver }: JobParts): RunnableJob[] {
  // Nothing is made of a call's words yet, so there is nothing to wait for.
  const beforeBilling = (): Promise<void> => Promise.resolve();
  return [runnable(finishCallJob, finishCall({ db, metering, beforeBilling, deliver }))];
}
