/** Questions that a corpus could not answer, so that somebody can add what is missing. */

import { createHash } from "node:crypto";
import { sql } from "kysely";
import { daysBefore, databaseTime } from "../../database/database-time.ts";
import type { Db } from "../../database/db.ts";
import { toStorableText } from "../../database/json-text.ts";
import { readPage, type PageQuery, type PageRows } from "../../database/page.ts";

/** Of one corpus; those that were asked longest ago are deleted. */
export const MAX_OPEN_QUESTIONS = 500;
/** Words of callers are not kept for longer. */
export const OPEN_QUESTION_DAYS = 30;
/** Characters of a question that are stored. */
const MAX_QUESTION_CHARS = 1_000;
/** Old questions of other corpora that one statement deletes. */
const SWEPT_AT_ONCE = 100;

export interface OpenQuestionRow {
  readonly questionId: number;
  readonly question: string;
  /** How often it was asked. */
  readonly asked: number;
  readonly bestScore: number;
  readonly askedAt: string;
}

export interface NewOpenQuestion {
  readonly accountId: string;
  readonly corpusId: string;
  readonly question: string;
  readonly bestScore: number;
  /** Null: no call asked it. */
  readonly callId: string | null;
}

/** Adds the question, or counts it once more. */
export async function noteOpenQuestion(db: Db, given: NewOpenQuestion): Promise<void> {
  const { accountId, corpusId, bestScore, callId } = given;
  const question = toStorableText(given.question.trim().slice(0, MAX_QUESTION_CHARS));
  const hash = createHash("sha256").update(question.toLowerCase()).digest("hex");
  // One statement: the answer waits for it.
  await sql`
    with noted as (
      insert into corpus_open_questions (account_id, corpus_id, question_hash, question, best_score_thousandths, call_id,
        asked_at)
      select ${accountId}, id, ${hash}, ${question}, ${Math.round(bestScore * 1_000)},
        (select id from calls where id = ${callId}::uuid and account_id = ${accountId}), ${databaseTime}
      from corpora where id = ${corpusId} and account_id = ${accountId}
      on conflict (corpus_id, question_hash) do update set asked = corpus_open_questions.asked + 1,
        best_score_thousandths = excluded.best_score_thousandths, call_id = excluded.call_id, asked_at = excluded.asked_at,
        question = excluded.question
    ), trimmed as (
      delete from corpus_open_questions where id in (
        select id from corpus_open_questions where corpus_id = ${corpusId} and question_hash <> ${hash}
        order by asked_at desc, id desc offset ${MAX_OPEN_QUESTIONS - 1}
      )
    )
    delete from corpus_open_questions where id in (
      select id from corpus_open_questions where asked_at < ${daysBefore(databaseTime, OPEN_QUESTION_DAYS)}
        and (corpus_id, question_hash) <> (${corpusId}::uuid, ${hash}::text)
      limit ${SWEPT_AT_ONCE}
    )`.execute(db.query);
}

/** Those that were asked last come first. */
export async function listOpenQuestions(
  db: Db,
  accountId: string,
  corpusId: string,
  page: PageQuery,
): Promise<PageRows<OpenQuestionRow>> {
  return readPage<OpenQuestionRow>(
    db,
    {
      columns: sql`open.id as "questionId", open.question, open.asked, open.best_score_thousandths / 1000::float8 as "bestScore",
        open.asked_at as "askedAt"`,
      from: sql`corpus_open_questions as open`,
      where: [
        sql`open.corpus_id = ${corpusId}`,
        sql`open.account_id = ${accountId}`,
        sql`open.asked_at >= ${daysBefore(databaseTime, OPEN_QUESTION_DAYS)}`,
      ],
      sort: sql`open.asked_at`,
      sortType: "timestamptz",
      id: sql`open.id`,
      idType: "bigint",
      descending: true,
    },
    page,
  );
}

/** Deletes all of them. */
export async function deleteOpenQuestions(db: Db, accountId: string, corpusId: string): Promise<void> {
  await sql`delete from corpus_open_questions where corpus_id = ${corpusId} and account_id = ${accountId}`.execute(
    db.query,
  );
}
