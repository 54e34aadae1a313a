/** Searches in corpora, and the questions that they could not answer. */

import { ApiError, DEFAULT_QUERY_RESULTS, type corpusQueryRoutes } from "@parley/schema";
import type { CorpusAnswer, CorpusHit } from "../../corpora/search-types.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import {
  deleteOpenQuestions,
  listOpenQuestions,
  type OpenQuestionRow,
} from "../../store/corpora/search/open-questions.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { retryAfterSeconds } from "../api/rate-limit.ts";
import { corpusOrNotFound } from "../routes/corpora.ts";
import { notFound } from "../routes/shared.ts";

const queryCorpusRoute: Handler<"queryCorpus"> = async ({ accountId, params, body }, { http }) => {
  const { query, maxResults = DEFAULT_QUERY_RESULTS, explain = false } = body;
  const asked = { question: query, maxResults, minimumScore: 0, callId: null };
  const signal = AbortSignal.timeout(QUERY_LIMIT_MS);
  const answer = await http.searchCorpus({ accountId, corpusId: params.corpus_id, ...asked }, signal);
  const hits = hitsOf(answer);
  return { status: 200, json: hits.map((hit) => resultResource(hit, explain)) };
};

/** @throws ApiError where there are none to answer with (D78) */
function hitsOf(answer: CorpusAnswer): readonly CorpusHit[] {
  if (answer.kind === "found") return answer.hits;
  if (answer.kind === "no_corpus") throw notFound("corpus");
  if (answer.kind === "initializing") {
    const detail = "The corpus is being loaded for the first time: try again when it is READY.";
    throw new ApiError("conflict", detail);
  }
  throw new ApiError("rate_limited", answer.reason, {
    retryAfterSeconds: retryAfterSeconds(answer.retryAfterMs),
  });
}

/** The models have shorter limits, so this ends only a search whose database does not answer. */
const QUERY_LIMIT_MS = 15_000;

function resultResource(hit: CorpusHit, explain: boolean): Resource {
  const { text, score, sourceId, documentId, url, title } = hit;
  const { textRank, vectorRank, fusedRank, headingPath, page } = hit;
  return {
    content: text,
    score,
    citation: { sourceId, documentId, publicUrl: url, title },
    ...(explain ? { ranking: { textRank, vectorRank, fusedRank, headingPath, page } } : {}),
  };
}

const listOpenQuestionsRoute: Handler<"listCorpusOpenQuestions"> = async (input, deps) => {
  const { accountId, params, list } = input;
  await corpusOrNotFound(deps, accountId, params.corpus_id);
  const page = await pageAnswer(
    list,
    (wanted) => listOpenQuestions(deps.http.store.db, accountId, params.corpus_id, wanted),
    openQuestionResource,
  );
  return { status: 200, json: page };
};

function openQuestionResource({ question, asked, bestScore, askedAt }: OpenQuestionRow): Resource {
  return { question, asked, bestScore, lastAsked: askedAt };
}

const deleteOpenQuestionsRoute: Handler<"deleteCorpusOpenQuestions"> = async (input, deps) => {
  const { accountId, params, change } = input;
  await corpusOrNotFound(deps, accountId, params.corpus_id);
  await change((tx) => deleteOpenQuestions(tx, accountId, params.corpus_id));
  return { status: 204 };
};

export const corpusQueryHandlers: HandlersOf<typeof corpusQueryRoutes> = {
  queryCorpus: queryCorpusRoute,
  listCorpusOpenQuestions: listOpenQuestionsRoute,
  deleteCorpusOpenQuestions: deleteOpenQuestionsRoute,
};
