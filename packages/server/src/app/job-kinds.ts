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
import { hangUpHandler, hangUpJob, type HangUpDeps } from "../jobs/definitions/hang-up.ts";
import { runnable, type JobDefinition, type RunnableJob } from "../jobs/definitions/job.ts";
import { embedChunksHandler, type EmbedChunksDeps } from "../jobs/corpora/embed-chunks.ts";
import { indexCorpusJob } from "../jobs/corpora/index-corpus.ts";
import { callSummarizer, summaryGivenUp, type SummaryOutcome } from "../jobs/summaries/summarize-call.ts";
import { loadSource, loadSourceJob, type LoadSourceDeps } from "../jobs/corpora/load-source.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { Db } from "../store/database/db.ts";
import type { Metering } from "../store/accounts/metering.ts";

export const JOB_DEFINITIONS: readonly JobDefinition<object>[] = [
  unfinishedCallJob,
  finishCallJob,
  deleteCallJob,
  hangUpJob,
  indexCorpusJob,
  loadSourceJob,
];

export interface JobParts
  extends Pick<DeleteCallDeps, "removeFiles" | "nowMs">, Pick<HangUpDeps, "carriers"> {
  readonly log: DeleteCallDeps["log"] & HangUpDeps["log"];
  /** Null: sources of corpora are not loaded here. */
  readonly corpora: Omit<LoadSourceDeps, "db" | "jobs" | "log" | "nowMs"> | null;
  readonly db: Db;
  readonly jobs: Pick<Jobs, "send" | "wake">;
  readonly metering: Metering;
  readonly deliver: () => void;
  readonly embedding: Omit<EmbedChunksDeps, "db" | "jobs">;
  /** Null: calls get no summaries. */
  readonly summaries: SummaryParts | null;
}

export interface SummaryParts {
  /** The model at that time; null: the rule engine, which cannot write them. */
  readonly llm: () => LlmEngine | null;
  readonly contextWindowTokens: number;
  readonly log: { readonly warn: (fields: object, message: string) => void };
  /** For metrics. */
  readonly ended: (outcome: SummaryOutcome) => void;
}

export function jobsToRun(parts: JobParts): RunnableJob[] {
  const { db, jobs, metering, deliver, summaries, corpora } = parts;
  // The model is that of the moment: the operator may change it.
  const summarize = async (call: EndedCall, signal: AbortSignal): Promise<void> => {
    const llm = summaries?.llm() ?? null;
    if (summaries !== null && llm !== null) await callSummarizer({ db, ...summaries, llm })(call, signal);
  };
  const giveUp = async (call: EndedCall): Promise<void> => {
    if (summaries !== null && summaries.llm() !== null) await summaryGivenUp({ db, ...summaries })(call);
  };
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
    runnable(hangUpJob, hangUpHandler(parts)),
    runnable(indexCorpusJob, embedChunksHandler({ ...parts.embedding, db, jobs })),
    ...(corpora === null ? [] : [runnable(loadSourceJob, loadSource({ ...parts, ...corpora }))]),
  ];
}
