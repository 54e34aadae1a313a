/** Searches in corpora, and the questions that a corpus could not answer. */

import { z } from "zod";
import { nullUnlessVendor, Timestamp, Uuid, wholeNumber } from "../values/fields.ts";
import { DEFAULT_QUERY_RESULTS, MAX_QUERY_RESULTS } from "./corpus.ts";

export const QueryCorpusRequest = z
  .strictObject({
    query: z.string().min(1).max(10_000),
    maxResults: wholeNumber(1, MAX_QUERY_RESULTS).meta({ default: DEFAULT_QUERY_RESULTS }).optional(),
    explain: z
      .boolean()
      .meta({ default: false })
      .optional()
      .describe("Adds to each result how it was found: `ranking`."),
  })
  .meta({ examples: [{ query: "When is breakfast served?" }] });

const Rank = z.int().min(1).nullable();

const Ranking = z.strictObject({
  textRank: Rank.describe("The place by full text, from 1. Null: its words are not those of the query."),
  vectorRank: Rank.describe("The place by meaning, from 1. Null: not found by its vector."),
  fusedRank: Rank.describe("The place before the reranker. Null: there is no reranker."),
  headingPath: z.array(z.string()).describe("The headings above the passage, outermost first."),
  page: z.int().min(1).nullable().describe("The page in the document. Null: it has no pages."),
});

export const CorpusQueryResult = z.strictObject({
  content: z.string(),
  score: z.number().describe("0 to 1; higher is a better match."),
  citation: z.strictObject({
    sourceId: Uuid,
    documentId: Uuid,
    publicUrl: nullUnlessVendor(z.string()),
    title: nullUnlessVendor(z.string()),
  }),
  ranking: Ranking.optional().describe("Only with `explain`."),
});

/** A question that a corpus could not answer. */
export const CorpusOpenQuestion = z.strictObject({
  question: z.string(),
  asked: z.int().min(1).describe("How often it was asked."),
  bestScore: z.number().describe("The score of the best passage of the last time; 0: there was none."),
  lastAsked: Timestamp,
});
export type CorpusOpenQuestion = z.output<typeof CorpusOpenQuestion>;
