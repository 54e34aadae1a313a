/** Routes of searches in corpora. */

import { z } from "zod";
import { CorpusOpenQuestion, CorpusQueryResult, QueryCorpusRequest } from "./corpus-queries.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";

export const CorpusOpenQuestionPage = pageOf(CorpusOpenQuestion);

const CORPUS = "/api/corpora/{corpus_id}";
const OPEN_QUESTIONS = `${CORPUS}/open_questions` as const;

const corpus = {
  ...plain,
  tag: "corpora",
  errors: ["not_found"],
  params: z.strictObject({ corpus_id: Uuid }),
} as const;

export const corpusQueryRoutes = {
  queryCorpus: {
    ...corpus,
    method: "POST",
    scope: "read",
    path: `${CORPUS}/query`,
    summary: "Search a corpus",
    request: QueryCorpusRequest,
    responses: { 200: json(z.array(CorpusQueryResult), "Matching passages, best match first.") },
    errors: ["not_found", "conflict"],
  },
  listCorpusOpenQuestions: {
    ...corpus,
    method: "GET",
    scope: "read",
    path: OPEN_QUESTIONS,
    summary: "List the questions that a corpus could not answer",
    query: PageQuery,
    responses: { 200: json(CorpusOpenQuestionPage, "A page of questions; those asked last come first.") },
  },
  deleteCorpusOpenQuestions: {
    ...corpus,
    method: "DELETE",
    scope: "admin",
    path: OPEN_QUESTIONS,
    summary: "Delete the questions that a corpus could not answer",
    responses: { 204: noContent },
  },
} as const satisfies Record<string, Route>;
