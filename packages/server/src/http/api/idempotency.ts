/**
 * Repeated requests (D30): a client that lost an answer sends its request again with the same Idempotency-Key, and gets
 * the first answer instead of a second resource.
 */

import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { ApiError, type Route, validationError } from "@parley/schema";
import type { Logger } from "pino";
import type { Db } from "../../store/database/db.ts";
import { inSlices } from "../../pacing/in-slices.ts";
import {
  type Claim,
  CLAIM_LEASE_MS,
  claimRequest,
  releaseClaim,
  storeAnswer,
  type IdempotentAnswer,
  renewClaim,
} from "../../store/accounts/idempotent-answers.ts";
import type { Answer, RawRequest } from "./endpoint.ts";
import { type ProblemAnswer, toApiError } from "./problems.ts";

export const MAX_KEY_LENGTH = 255;
/** Marks an answer that was given before. */
export const REPLAYED_HEADER = "idempotent-replayed";

/**
 * Waits before each retry of storing the answer of a request that was carried out: 6.3 s in all. In that time a busy
 * or restarted database answers again, and it is well within the lease. The client waits too.
 */
export const KEEP_WAITS_MS: readonly number[] = [100, 200, 400, 800, 1_600, 3_200];
/** After this no further attempt begins, because one may take long. */
export const KEEP_LIMIT_MS = CLAIM_LEASE_MS / 2;

/** Retry-After for a client whose first request is still under way: most take well under a second. */
const RUNNING_RETRY_SECONDS = 1;

export interface OnceDeps {
  readonly db: Db;
  readonly logger: Logger;
  /** The body of a failure. */
  readonly problem: (error: ApiError) => ProblemAnswer;
  /** Absent: the system clock. */
  readonly wait?: (ms: number) => Promise<unknown>;
}

export interface OnceInput {
  readonly route: Route;
  /** Null: the request needs no API key. */
  readonly accountId: string | null;
  /** Value of the header `Idempotency-Key`. */
  readonly key: string | string[] | undefined;
  readonly request: Pick<RawRequest, "params" | "rawQuery" | "body">;
}

/** Carries the request out, unless it is a repeatable one that was carried out before. Throws ApiError. */
export async function answerOnce(
  { route, accountId, key, request }: OnceInput,
  answer: () => Promise<Answer>,
  deps: OnceDeps,
): Promise<Answer> {
  if (!route.idempotent || accountId === null || key === undefined) return answer();
  const repeatable = { accountId, key: keyOf(key), requestHash: await requestHash(route, request) };
  const outcome = await claimRequest(deps.db, repeatable);
  if (outcome.kind === "claimed") {
    return withLease(outcome.claim, deps, () => answerFirst(outcome.claim, answer, deps));
  }
  if (outcome.kind === "answered" && outcome.answer !== null) return replayed(outcome.answer);
  const wait = outcome.kind === "running" ? { retryAfterSeconds: RUNNING_RETRY_SECONDS } : {};
  throw new ApiError("conflict", CLASHES[outcome.kind], wait);
}

const CLASHES = {
  answered: "This request was carried out before; its answer is no longer stored.",
  running: "The first request with this Idempotency-Key is still running.",
  other_request: "This Idempotency-Key was used for another request.",
} as const;

function keyOf(header: string | string[]): string {
  if (typeof header === "string" && header.length >= 1 && header.length <= MAX_KEY_LENGTH) return header;
  const message = `must have 1 to ${MAX_KEY_LENGTH} characters`;
  throw validationError([{ field: "Idempotency-Key", message }]);
}

/** Bytes hashed at once, in 1 to 3 ms; hashing the largest body at once would delay live calls by 60 to 100 ms. */
const HASHED_AT_ONCE = 1024 * 1024;

/** Ids in any case and query parameters in any order are the same request; other bytes of a body are not. */
export async function requestHash(
  { method, path }: Route,
  { params, rawQuery, body }: OnceInput["request"],
): Promise<string> {
  const query = new URLSearchParams(rawQuery);
  query.sort();
  const ids = Object.entries(params).map(([name, value]) => [name, value.toLowerCase()]);
  const hash = createHash("sha256").update(JSON.stringify([method, path, ids, [...query]]));
  hash.update("\n");
  await inSlices(portions(body ?? new Uint8Array()), (bytes) => {
    hash.update(bytes);
  });
  return hash.digest("hex");
}

function* portions(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) yield bytes.subarray(at, at + HASHED_AT_ONCE);
}

function replayed({ status, headers, body }: IdempotentAnswer): Answer {
  return { status, headers: { ...headers, [REPLAYED_HEADER]: "true" }, body };
}

/** Answers that may differ a moment later are not stored. */
function isRemembered(status: number): boolean {
  return status < 500 && status !== 429 && status !== 401;
}

async function answerFirst(claim: Claim, answer: () => Promise<Answer>, deps: OnceDeps): Promise<Answer> {
  const given = await answer().catch(async (error: unknown) => {
    const failure = toApiError(error);
    if (isRemembered(failure.status)) return deps.problem(failure);
    await releaseClaim(deps.db, claim).catch(
      logWarning(deps, "a repeated request has to wait until the lease expires"),
    );
    throw error;
  });
  const { status, headers, body } = given;
  if (body !== null && typeof body !== "string") throw new Error("an answer that streams cannot be repeated");
  // The request was carried out, so it is answered even if the copy cannot be stored.
  await keepTrying(
    () => storeAnswer(deps.db, claim, { status, headers, body }, createdId(headers)),
    deps,
  ).catch(logWarning(deps, "an answer could not be stored: a repeated request will be carried out again"));
  return given;
}

/** If an answer is not stored, a repeated request creates a second record once the lease is over. */
async function keepTrying(keep: () => Promise<unknown>, deps: OnceDeps): Promise<void> {
  const endsAt = performance.now() + KEEP_LIMIT_MS;
  for (const waitMs of KEEP_WAITS_MS) {
    try {
      await keep();
      return;
    } catch (error) {
      if (performance.now() >= endsAt) throw error;
      await (deps.wait ?? wait)(waitMs);
    }
  }
  await keep();
}

const LAST_ID = /\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The id of what was created, from the address that the answer names. */
function createdId(headers: Readonly<Record<string, string>>): string | null {
  return LAST_ID.exec(headers["location"] ?? "")?.[1] ?? null;
}

async function withLease<Result>(claim: Claim, deps: OnceDeps, work: () => Promise<Result>): Promise<Result> {
  const renewing = setInterval(() => {
    void renewClaim(deps.db, claim).catch(logWarning(deps, "the lease of a request was not renewed"));
  }, CLAIM_LEASE_MS / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
  }
}

function logWarning({ logger }: OnceDeps, message: string): (error: unknown) => void {
  return (error) => logger.warn({ error: String(error) }, message);
}
