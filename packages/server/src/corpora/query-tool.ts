/**
 * The built-in tool `queryCorpus` (D68, D83). Its result is a document of quotations: whoever wrote the documents does not speak to
 * the model. It never is anything else than a result, so that no document can end a call or change its stage.
 */

import { DEFAULT_QUERY_RESULTS, MAX_QUERY_RESULTS, Uuid, type ToolOutcome } from "@parley/schema";
import type { ToolInvocation } from "../ports/tool-invoker.ts";
import { messageOf } from "../pacing/error-text.ts";
import { quotedResults } from "./quoted-results.ts";
import type { CorpusAnswer, CorpusQuestion, SearchCorpus } from "./search-types.ts";

/** Longer questions are no speech. */
const MAX_QUESTION_CHARS = 2_000;

export function queryCorpusTool(search: SearchCorpus) {
  return async (invocation: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome> => {
    const asked = questionOf(invocation);
    if (typeof asked === "string") return failed(asked);
    const limit = AbortSignal.timeout(invocation.timeoutMs);
    try {
      return outcomeOf(await search(asked, AbortSignal.any([signal, limit])));
    } catch (error) {
      signal.throwIfAborted();
      if (!limit.aborted) return failed("the corpus could not be searched", messageOf(error));
      const text = `The tool failed: timeout after ${String(invocation.timeoutMs / 1_000)}s`;
      return { kind: "failed", cause: "timeout", text, errorDetails: "the search took too long" };
    }
  };
}

function outcomeOf(answer: CorpusAnswer): ToolOutcome {
  if (answer.kind === "found") return completed(quotedResults(answer.hits));
  if (answer.kind === "no_corpus") return failed("corpus not found");
  if (answer.kind === "initializing") return failed("the documents of the corpus are still being loaded");
  return failed(`too many searches; try again in ${Math.ceil(answer.retryAfterMs / 1_000)} s`);
}

function questionOf({ values, accountId, callId }: ToolInvocation): CorpusQuestion | string {
  const given = new Map(values.map(({ name, value }) => [name, value]));
  const corpusId = Uuid.safeParse(given.get("corpus_id"));
  if (!corpusId.success) return "corpus not found";
  const question = given.get("query");
  if (typeof question !== "string" || question.trim() === "") return "query must be a text";
  const wanted = given.get("max_results") ?? DEFAULT_QUERY_RESULTS;
  if (typeof wanted !== "number" || !Number.isFinite(wanted)) return "max_results must be a number";
  const minimum = given.get("minimum_score") ?? 0;
  if (typeof minimum !== "number" || !(minimum >= 0 && minimum <= 1))
    return "minimum_score must be a number from 0 to 1";
  return {
    accountId,
    callId,
    corpusId: corpusId.data.toLowerCase(),
    question: question.slice(0, MAX_QUESTION_CHARS),
    maxResults: Math.min(MAX_QUERY_RESULTS, Math.max(1, Math.round(wanted))),
    minimumScore: minimum,
  };
}

function completed(result: string): ToolOutcome {
  return { kind: "completed", result, responseType: "tool-response", reaction: null, updateCallState: null };
}

function failed(reason: string, errorDetails = reason): ToolOutcome {
  return { kind: "failed", cause: "error", text: `The tool failed: ${reason}`, errorDetails };
}
