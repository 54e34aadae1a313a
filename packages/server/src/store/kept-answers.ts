/**
 * First answers to requests that carried an Idempotency-Key (D30), so that a repeated request gets the same one. Shared
 * by all nodes, by the clock of the database. Keys are stored as hashes, answers sealed.
 */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "./db.ts";
import { hashToken } from "./secrets.ts";

/** How long an answer is given again. */
export const ANSWERS_KEPT_HOURS = 24;

/**
 * How long an attempt counts as under way without a sign of life; after a crash a repeated request waits no longer. A
 * living attempt renews it every third of that.
 */
export const CLAIM_LEASE_MS = 30_000;

/** Creations answer with about what they were sent, and a body has at most 1 MiB. */
export const MAX_KEPT_ANSWER_LENGTH = 1_500_000;

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface RepeatableRequest {
  readonly accountId: string;
  /** As the client chose it. */
  readonly key: string;
  /** Of everything that makes two requests the same. */
  readonly requestHash: string;
}

/** Names one attempt to carry a request out. */
export interface Claim {
  readonly accountId: string;
  readonly keyHash: string;
  readonly attemptId: string;
}

/**
 * `claimed`: carry it out. `answered`: it was; `answer` is null when the answer was too long to be kept, or was erased
 * with what it told of. `running`: somebody carries it out. `other_request`: the key belongs to another one.
 */
export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly claim: Claim }
  | { readonly kind: "answered"; readonly answer: KeptAnswer | null }
  | { readonly kind: "running" | "other_request" };

interface KeptColumns {
  readonly request_hash: string;
  readonly answered: boolean;
  readonly sealed_answer: string | null;
}

/** A row may vanish between two looks at it, when the attempt that had it was not to be remembered. */
const CLAIM_TRIES = 3;

/** Of any number of requests with one key at once, on any nodes, exactly one gets `claimed`. */
export async function claimAnswer(db: Db, request: RepeatableRequest): Promise<ClaimOutcome> {
  const { accountId, requestHash } = request;
  const claim: Claim = { accountId, keyHash: hashToken(request.key), attemptId: randomUUID() };
  for (let attempt = 0; attempt < CLAIM_TRIES; attempt += 1) {
    if (await insertClaim(db, claim, requestHash)) return { kind: "claimed", claim };
    const read = await sql<KeptColumns>`
      select request_hash, answered, sealed_answer from kept_answers
      where account_id = ${accountId} and key_hash = ${claim.keyHash}`.execute(db.query);
    const [kept] = read.rows;
    if (kept === undefined) continue;
    if (kept.request_hash !== requestHash) return { kind: "other_request" };
    if (!kept.answered) return { kind: "running" };
    return { kind: "answered", answer: open(db, claim, kept.sealed_answer) };
  }
  return { kind: "running" };
}

const now = sql`clock_timestamp()`;
const leaseEnd = sql`${now} + make_interval(secs => ${CLAIM_LEASE_MS / 1000})`;
const keptSince = sql`${now} - make_interval(hours => ${ANSWERS_KEPT_HOURS})`;

/** Takes the place of an answer that is too old, and of an attempt at the same request that was cut off. */
async function insertClaim(db: Db, claim: Claim, requestHash: string): Promise<boolean> {
  const { accountId, keyHash, attemptId } = claim;
  const inserted = await sql`
    insert into kept_answers as kept (account_id, key_hash, request_hash, attempt_id, created_at, leased_until)
    values (${accountId}, ${keyHash}, ${requestHash}, ${attemptId}, ${now}, ${leaseEnd})
    on conflict (account_id, key_hash) do update set request_hash = excluded.request_hash,
      attempt_id = excluded.attempt_id, created_at = excluded.created_at, leased_until = excluded.leased_until,
      sealed_answer = null, answered = false, resource_id = null
    where kept.created_at <= ${keptSince}
      or (not kept.answered and kept.leased_until <= ${now} and kept.request_hash = excluded.request_hash)
    returning attempt_id`.execute(db.query);
  return inserted.rows.length === 1;
}

/** A sign of life of an attempt. False: it has lost its claim. */
export async function renewClaim(db: Db, claim: Claim): Promise<boolean> {
  const renewed = await sql`
    update kept_answers set leased_until = ${leaseEnd} where ${isOf(claim)} returning attempt_id`.execute(
    db.query,
  );
  return renewed.rows.length === 1;
}

/**
 * `resourceId` is what the answer tells of, see `forgetAnswersAbout`. False: the attempt has lost its claim, and nothing
 * is kept.
 */
export async function keepAnswer(
  db: Db,
  claim: Claim,
  answer: KeptAnswer,
  resourceId: string | null,
): Promise<boolean> {
  const text = JSON.stringify(answer);
  const sealed = text.length > MAX_KEPT_ANSWER_LENGTH ? null : db.sealer.seal(text, contextOf(claim));
  const kept = await sql`
    update kept_answers set answered = true, sealed_answer = ${sealed}, resource_id = ${resourceId}::uuid
    where ${isOf(claim)} returning attempt_id`.execute(db.query);
  return kept.rows.length === 1;
}

/** The attempt left nothing behind that a repeated request could be told of. */
export async function dropClaim(db: Db, claim: Claim): Promise<void> {
  await sql`delete from kept_answers where ${isOf(claim)}`.execute(db.query);
}

function isOf({ accountId, keyHash, attemptId }: Claim) {
  return sql`account_id = ${accountId} and key_hash = ${keyHash} and attempt_id = ${attemptId} and not answered`;
}

/**
 * Erases the answers that tell of a resource, within the transaction that deletes it. Their keys stay used, so that a
 * late repetition does not create the resource anew.
 */
export async function forgetAnswersAbout(tx: Db, accountId: string, resourceId: string): Promise<void> {
  await forgetAnswersAboutAll(tx, accountId, [resourceId]);
}

/** The same for several resources. */
export async function forgetAnswersAboutAll(
  tx: Db,
  accountId: string,
  resourceIds: readonly string[],
): Promise<void> {
  if (resourceIds.length === 0) return;
  await sql`update kept_answers set sealed_answer = null, resource_id = null
    where account_id = ${accountId} and resource_id = any(${[...resourceIds]}::uuid[])`.execute(tx.query);
}

/** Rows deleted by one statement, which so stays short. */
const SWEEP_PORTION = 500;

/** Deletes some answers that are too old to be given again. True: there may be more. */
export async function sweepAnswers(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from kept_answers where (account_id, key_hash) in (
      select account_id, key_hash from kept_answers where created_at <= ${keptSince}
      limit ${SWEEP_PORTION} for update skip locked)
    returning key_hash`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}

function open(db: Db, claim: Claim, sealed: string | null): KeptAnswer | null {
  return sealed === null ? null : (JSON.parse(db.sealer.open(sealed, contextOf(claim))) as KeptAnswer);
}

function contextOf({ accountId, keyHash }: Claim): string {
  return `kept_answers:${accountId}:${keyHash}`;
}
