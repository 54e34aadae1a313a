/**
 * Idempotency records: the first answer to each request that carried an Idempotency-Key, so that a repeated request
 * gets the same answer. All nodes share them and use the clock of the database. Keys are stored as hashes, answers
 * sealed.
 */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { hashToken } from "../secrets/secrets.ts";

/** How long a repeated request gets the stored answer. */
export const ANSWER_RETENTION_HOURS = 24;

/**
 * Lease of an attempt: after a crash a repeated request waits no longer than this. A running attempt renews it every
 * third of this time.
 */
export const CLAIM_LEASE_MS = 30_000;

/** An answer is about as long as its request, whose body has at most 1 MiB. */
export const MAX_ANSWER_LENGTH = 1_500_000;

export interface IdempotentAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface RepeatableRequest {
  readonly accountId: string;
  /** As the client chose it. */
  readonly key: string;
  /** Hash of everything that makes two requests the same. */
  readonly requestHash: string;
}

/** One attempt at a request. */
export interface Claim {
  readonly accountId: string;
  readonly keyHash: string;
  readonly attemptId: string;
}

/**
 * `claimed`: the caller executes the request. `answered`: `answer` is null when it was too long to be stored, or was
 * erased with its resource. `running`: another attempt is under way. `other_request`: the key belongs to another
 * request.
 */
export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly claim: Claim }
  | { readonly kind: "answered"; readonly answer: IdempotentAnswer | null }
  | { readonly kind: "running" | "other_request" };

type RecordColumns = Pick<Row<"kept_answers">, "request_hash" | "answered" | "sealed_answer">;

/** A record may disappear between the insertion and the read, when its attempt has released it. */
const CLAIM_TRIES = 3;

/** Of concurrent requests with the same key, on any nodes, exactly one gets `claimed`. */
export async function claimRequest(db: Db, request: RepeatableRequest): Promise<ClaimOutcome> {
  const { accountId, requestHash } = request;
  const claim: Claim = { accountId, keyHash: hashToken(request.key), attemptId: randomUUID() };
  for (let attempt = 0; attempt < CLAIM_TRIES; attempt += 1) {
    if (await insertClaim(db, claim, requestHash)) return { kind: "claimed", claim };
    const read = await sql<RecordColumns>`
      select request_hash, answered, sealed_answer from kept_answers
      where account_id = ${accountId} and key_hash = ${claim.keyHash}`.execute(db.query);
    const [record] = read.rows;
    if (record === undefined) continue;
    if (record.request_hash !== requestHash) return { kind: "other_request" };
    if (!record.answered) return { kind: "running" };
    return { kind: "answered", answer: open(db, claim, record.sealed_answer) };
  }
  return { kind: "running" };
}

const now = sql`clock_timestamp()`;
const leaseEnd = sql`${now} + make_interval(secs => ${CLAIM_LEASE_MS / 1000})`;
const retainedSince = sql`${now} - make_interval(hours => ${ANSWER_RETENTION_HOURS})`;

/** Replaces an expired answer, and an attempt at the same request whose lease has ended. */
async function insertClaim(db: Db, claim: Claim, requestHash: string): Promise<boolean> {
  const { accountId, keyHash, attemptId } = claim;
  const inserted = await sql`
    insert into kept_answers as present (account_id, key_hash, request_hash, attempt_id, created_at, leased_until)
    values (${accountId}, ${keyHash}, ${requestHash}, ${attemptId}, ${now}, ${leaseEnd})
    on conflict (account_id, key_hash) do update set request_hash = excluded.request_hash,
      attempt_id = excluded.attempt_id, created_at = excluded.created_at, leased_until = excluded.leased_until,
      sealed_answer = null, answered = false, resource_id = null
    where present.created_at <= ${retainedSince}
      or (not present.answered and present.leased_until <= ${now} and present.request_hash = excluded.request_hash)
    returning attempt_id`.execute(db.query);
  return inserted.rows.length === 1;
}

/** Renews the lease of an attempt. False: it has lost its claim. */
export async function renewClaim(db: Db, claim: Claim): Promise<boolean> {
  const renewed = await sql`
    update kept_answers set leased_until = ${leaseEnd} where ${isOf(claim)} returning attempt_id`.execute(
    db.query,
  );
  return renewed.rows.length === 1;
}

/**
 * `resourceId` is the resource that the answer shows, see `eraseAnswersAbout`. False: the attempt has lost its claim,
 * and nothing is stored.
 */
export async function storeAnswer(
  db: Db,
  claim: Claim,
  answer: IdempotentAnswer,
  resourceId: string | null,
): Promise<boolean> {
  const text = JSON.stringify(answer);
  const sealed = text.length > MAX_ANSWER_LENGTH ? null : db.sealer.seal(text, contextOf(claim));
  const stored = await sql`
    update kept_answers set answered = true, sealed_answer = ${sealed}, resource_id = ${resourceId}::uuid
    where ${isOf(claim)} returning attempt_id`.execute(db.query);
  return stored.rows.length === 1;
}

/** Deletes the record of an attempt that changed nothing, so that a repeated request is executed. */
export async function releaseClaim(db: Db, claim: Claim): Promise<void> {
  await sql`delete from kept_answers where ${isOf(claim)}`.execute(db.query);
}

function isOf({ accountId, keyHash, attemptId }: Claim) {
  return sql`account_id = ${accountId} and key_hash = ${keyHash} and attempt_id = ${attemptId} and not answered`;
}

/**
 * Erases the answers that show a resource, within the transaction that deletes it. Their keys stay used, so that a late
 * repetition does not create the resource again.
 */
export async function eraseAnswersAbout(tx: Db, accountId: string, resourceId: string): Promise<void> {
  await eraseAnswersAboutAll(tx, accountId, [resourceId]);
}

/** The same for several resources. */
export async function eraseAnswersAboutAll(
  tx: Db,
  accountId: string,
  resourceIds: readonly string[],
): Promise<void> {
  if (resourceIds.length === 0) return;
  await sql`update kept_answers set sealed_answer = null, resource_id = null
    where account_id = ${accountId} and resource_id = any(${[...resourceIds]}::uuid[])`.execute(tx.query);
}

/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 500;

/** Deletes expired records. True: there may be more. */
export async function sweepAnswers(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from kept_answers where (account_id, key_hash) in (
      select account_id, key_hash from kept_answers where created_at <= ${retainedSince}
      limit ${SWEEP_PORTION} for update skip locked)
    returning key_hash`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}

function open(db: Db, claim: Claim, sealed: string | null): IdempotentAnswer | null {
  return sealed === null ? null : (JSON.parse(db.sealer.open(sealed, contextOf(claim))) as IdempotentAnswer);
}

function contextOf({ accountId, keyHash }: Claim): string {
  return `kept_answers:${accountId}:${keyHash}`;
}
