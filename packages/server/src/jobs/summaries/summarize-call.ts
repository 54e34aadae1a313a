/** Writes the summaries of an ended call, or notes why there are none. */

import type { LlmEngine } from "../../ports/llm.ts";
import { appendCallEvent } from "../../store/calls/call-events.ts";
import { setCallSummaries, type CallSummaries } from "../../store/calls/call-summaries.ts";
import {
  readCallToSummarize,
  SUMMARY_FAILED,
  type CallToSummarize,
} from "../../store/calls/call-transcripts.ts";
import type { Db } from "../../store/database/db.ts";
import type { EndedCall } from "../definitions/finish-call.ts";
import { askForSummaries, NoSummary } from "./ask.ts";
import { transcriptText } from "./transcript.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { abortError } from "../../pacing/abort.ts";

/** `given_up`: every attempt was cut off, or failed for another reason than the model. */
export type SummaryOutcome = "written" | "failed" | "given_up";

export interface SummaryDeps {
  readonly db: Db;
  readonly llm: LlmEngine;
  /** Context window of the model in tokens, without its answer. */
  readonly contextWindowTokens: number;
  readonly log: { readonly warn: (fields: object, message: string) => void };
  /** For metrics. */
  readonly ended: (outcome: SummaryOutcome) => void;
  /** For tests. */
  readonly limitMs?: number;
}

/** Billing waits this long for a summary (D53), and no longer. */
export const SUMMARY_LIMIT_MS = 30_000;
/** English has four bytes to a token, other scripts three: their letters take two or three bytes. */
const BYTES_PER_TOKEN = 3;
/** Share of the window; the rest is for the prompt and the answer. */
const SHARE_OF_WINDOW = 0.8;

/**
 * Resolves when the call has its summaries, or a note that there are none. Writes nothing about a call that was
 * deleted meanwhile, or whose words were erased. Rejects, to be retried, when `signal` aborts or the database fails.
 */
export function callSummarizer(deps: SummaryDeps): (call: EndedCall, signal: AbortSignal) => Promise<void> {
  const { db, ended } = deps;
  return async ({ accountId, callId }, signal) => {
    const call = await readCallToSummarize(db, accountId, callId);
    if (call === null) return;
    const limit = AbortSignal.timeout(deps.limitMs ?? SUMMARY_LIMIT_MS);
    try {
      const summaries = await attempt(deps, call, AbortSignal.any([signal, limit]));
      if (await setCallSummaries(db, accountId, callId, summaries)) ended("written");
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SummaryFailure)) throw error;
      const reason = limit.aborted ? "the model took too long" : error.message;
      await noteFailure(deps, { accountId, callId }, call, reason);
      ended("failed");
    }
  };
}

/** For a call whose summary is not retried any more: stores a note, unless it has a summary or such a note. */
export function summaryGivenUp(
  deps: Pick<SummaryDeps, "db" | "log" | "ended">,
): (ended: EndedCall) => Promise<void> {
  return async ({ accountId, callId }) => {
    const call = await readCallToSummarize(deps.db, accountId, callId);
    if (call === null) return;
    await noteFailure(deps, { accountId, callId }, call, "every attempt was cut off or failed");
    deps.ended("given_up");
  };
}

async function noteFailure(
  { db, log }: Pick<SummaryDeps, "db" | "log">,
  { accountId, callId }: EndedCall,
  { stageId, durationMs }: CallToSummarize,
  reason: string,
): Promise<void> {
  log.warn({ callId, reason }, "a call has no summary");
  await appendCallEvent(db, accountId, callId, {
    stageId,
    callTimestampMs: durationMs,
    wallClockTimestampMs: durationMs,
    severity: "warning",
    type: SUMMARY_FAILED,
    text: `No summary could be made: ${reason}.`,
    extras: null,
  });
}

/** A fault of the model, not of the database. */
class SummaryFailure extends Error {}

async function attempt(
  { llm, contextWindowTokens }: SummaryDeps,
  call: CallToSummarize,
  signal: AbortSignal,
): Promise<CallSummaries> {
  const limitBytes = contextWindowTokens * BYTES_PER_TOKEN * SHARE_OF_WINDOW;
  try {
    const requested = askForSummaries(llm, transcriptText(call, limitBytes), call.language, signal);
    return await unlessAborted(requested, signal);
  } catch (error) {
    const reason = messageOf(error);
    throw new SummaryFailure(error instanceof NoSummary ? reason : `the model failed (${reason})`, {
      cause: error,
    });
  }
}

/** Rejects with the abort, even if the engine ignores the signal. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(abortError());
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
