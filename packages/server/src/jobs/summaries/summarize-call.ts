/** Makes the summaries of a call that is over, and notes where none could be made. */

import type { LlmEngine } from "../../ports/llm.ts";
import { appendCallEvent } from "../../store/call-events.ts";
import { setCallSummaries, type CallSummaries } from "../../store/call-summaries.ts";
import { readCallToSummarize, SUMMARY_FAILED, type CallToSummarize } from "../../store/call-transcripts.ts";
import type { Db } from "../../store/db.ts";
import type { EndedCall } from "../finish-call.ts";
import { askForSummaries, NoSummary } from "./ask.ts";
import { transcriptText } from "./transcript.ts";

/** `given_up`: every attempt was cut off, or failed for another reason than the model. */
export type SummaryOutcome = "written" | "failed" | "given_up";

export interface SummaryDeps {
  readonly db: Db;
  readonly llm: LlmEngine;
  /** Tokens that the model takes, beside its answer. */
  readonly contextWindowTokens: number;
  readonly log: { readonly warn: (fields: object, message: string) => void };
  /** For metrics. */
  readonly ended: (outcome: SummaryOutcome) => void;
  /** For tests. */
  readonly limitMs?: number;
}

/** Billing waits for a summary (D53), and for no longer. */
export const SUMMARY_LIMIT_MS = 30_000;
/** English has four bytes to a token, other scripts three: their letters take two or three bytes. */
const BYTES_PER_TOKEN = 3;
/** Of the window; the rest is for our own words and the answer. */
const SHARE_OF_WINDOW = 0.8;

/**
 * Resolves when the call has its summaries, or a note that there are none. Nothing is written about a call that was
 * deleted meanwhile, or whose words were erased. Rejects, to be tried again, when `signal` is aborted or the database fails.
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

/** For a call whose summary nobody tries to make any more: notes that, where it has none and no such note. */
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

/** The model's, not the database's. */
class SummaryFailure extends Error {}

async function attempt(
  { llm, contextWindowTokens }: SummaryDeps,
  call: CallToSummarize,
  signal: AbortSignal,
): Promise<CallSummaries> {
  const limitBytes = contextWindowTokens * BYTES_PER_TOKEN * SHARE_OF_WINDOW;
  try {
    const asked = askForSummaries(llm, transcriptText(call, limitBytes), call.language, signal);
    return await unlessAborted(asked, signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SummaryFailure(error instanceof NoSummary ? reason : `the model failed (${reason})`, {
      cause: error,
    });
  }
}

/** Rejects with the abort, whether or not the engine keeps to its port. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new DOMException("aborted", "AbortError"));
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
