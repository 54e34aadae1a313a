/** Every kind of job, with its handler. */

import {
  deleteCallJob,
  deleteCallHandler,
  leaveDeletion,
  type DeleteCallDeps,
} from "../jobs/definitions/delete-call.ts";
import {
  finishCall,
  finishCallJob,
  unfinishedCallJob,
  type EndedCall,
} from "../jobs/definitions/finish-call.ts";
import { runnable, type JobDefinition, type RunnableJob } from "../jobs/definitions/job.ts";
import { callSummarizer, summaryGivenUp, type SummaryOutcome } from "../jobs/summaries/summarize-call.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { Db } from "../store/database/db.ts";
import type { Metering } from "../store/accounts/metering.ts";

export const JOB_DEFINITIONS: readonly JobDefinition<object>[] = [
  unfinishedCallJob,
  finishCallJob,
  deleteCallJob,
];

export interface JobParts extends Pick<DeleteCallDeps, "removeFiles" | "log" | "nowMs"> {
  readonly db: Db;
  readonly jobs: Pick<Jobs, "send" | "wake">;
  readonly metering: Metering;
  readonly deliver: () => void;
  /** Null: calls get no summaries. */
  readonly summaries: SummaryParts | null;
}

export interface SummaryParts {
  readonly llm: LlmEngine;
  readonly contextWindowTokens: number;
  readonly log: { readonly warn: (fields: object, message: string) => void };
  /** For metrics. */
  readonly ended: (outcome: SummaryOutcome) => void;
}

export function jobsToRun(parts: JobParts): RunnableJob[] {
  const { db, jobs, metering, deliver, summaries } = parts;
  const nothing = (): Promise<void> => Promise.resolve();
  const summarize = summaries === null ? nothing : callSummarizer({ db, ...summaries });
  const giveUp = summaries === null ? nothing : summaryGivenUp({ db, ...summaries });
  const afterBilling = async (tx: Db, call: EndedCall): Promise<() => void> => {
    const isLeft = await leaveDeletion(tx, jobs, call);
    return () => {
      if (isLeft) jobs.wake(deleteCallJob);
    };
  };
  const finishing = { db, metering, afterBilling, deliver };
  return [
    runnable(finishCallJob, finishCall({ ...finishing, beforeBilling: summarize })),
    runnable(unfinishedCallJob, finishCall({ ...finishing, beforeBilling: giveUp })),
    runnable(deleteCallJob, deleteCallHandler(parts)),
  ];
}
