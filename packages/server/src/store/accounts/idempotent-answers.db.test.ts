import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Db } from "../database/db.ts";
import { openStore } from "../opening/open-store.ts";
import {
  type Claim,
  CLAIM_LEASE_MS,
  claimRequest,
  releaseClaim,
  eraseAnswersAbout,
  storeAnswer,
  MAX_ANSWER_LENGTH,
  renewClaim,
  sweepAnswers,
} from "./idempotent-answers.ts";
import { describeOnBothDatabases, newAccount, newDataDir } from "../testing/databases.ts";

const answer = {
  status: 201,
  headers: { "content-type": "application/json" },
  body: '{"joinUrl":"wss://x/very-secret"}',
};
const DAY_S = 24 * 3600;

async function newRequest(db: Db) {
  return { accountId: await newAccount(db), key: randomUUID(), requestHash: "one" };
}

async function claimed(db: Db, request: Parameters<typeof claimRequest>[1]): Promise<Claim> {
  const outcome = await claimRequest(db, request);
  if (outcome.kind !== "claimed") throw new Error(`was ${outcome.kind}`);
  return outcome.claim;
}

/** As if the seconds had passed. */
async function age(db: Db, accountId: string, seconds: number): Promise<void> {
  await sql`update kept_answers set created_at = created_at - make_interval(secs => ${seconds}),
    leased_until = leased_until - make_interval(secs => ${seconds}) where account_id = ${accountId}`.execute(
    db.query,
  );
}

async function rowsOf(db: Db, accountId: string): Promise<string[]> {
  const read = await sql<{ row: string }>`
    select kept_answers::text as row from kept_answers where account_id = ${accountId}`.execute(db.query);
  return read.rows.map(({ row }) => row);
}

describeOnBothDatabases("idempotency records", (current) => {
  it("are given again for the same request, and for no other", async () => {
    const { db } = current();
    const request = await newRequest(db);
    const claim = await claimed(db, request);
    expect(await claimRequest(db, request)).toEqual({ kind: "running" });
    expect(await claimRequest(db, { ...request, requestHash: "two" })).toEqual({ kind: "other_request" });
    expect(await storeAnswer(db, claim, answer, null)).toBe(true);
    expect(await claimRequest(db, request)).toEqual({ kind: "answered", answer });
    expect(await claimRequest(db, { ...request, requestHash: "two" })).toEqual({ kind: "other_request" });
    expect((await claimRequest(db, { ...request, key: "another" })).kind).toBe("claimed");
    expect((await claimRequest(db, { ...request, accountId: await newAccount(db) })).kind).toBe("claimed");
  });

  it("belong to one of many requests at once, whatever node they reach", async () => {
    const { db, databaseUrl, secretsKey } = current();
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const second =
      databaseUrl === null
        ? null
        : await openStore({ dataDir: await newDataDir(), databaseUrl, secretsKey, log });
    const request = await newRequest(db);
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        claimRequest(index % 2 === 0 ? db : (second?.db ?? db), request),
      ),
    );
    const kinds = outcomes.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["claimed", ...Array<string>(15).fill("running")]);
    const winner = outcomes.find((outcome) => outcome.kind === "claimed");
    if (winner?.kind === "claimed") await storeAnswer(db, winner.claim, answer, null);
    expect(await claimRequest(second?.db ?? db, request)).toEqual({ kind: "answered", answer });
    await second?.close();
  });

  it("hold neither the key nor the answer in readable form", async () => {
    const { db } = current();
    const request = await newRequest(db);
    await storeAnswer(db, await claimed(db, request), answer, null);
    const [row = ""] = await rowsOf(db, request.accountId);
    expect(row).not.toContain("very-secret");
    expect(row).not.toContain(request.key);
  });

  it("can be tried for again when an attempt was cut off, but only by the same request", async () => {
    const { db } = current();
    const request = await newRequest(db);
    const lost = await claimed(db, request);
    await age(db, request.accountId, CLAIM_LEASE_MS / 1000 - 5);
    expect((await claimRequest(db, request)).kind).toBe("running");
    await age(db, request.accountId, 6);
    expect((await claimRequest(db, { ...request, requestHash: "two" })).kind).toBe("other_request");
    const next = await claimed(db, request);
    // The first attempt was only slow: it has lost its claim.
    expect(await renewClaim(db, lost)).toBe(false);
    expect(await storeAnswer(db, lost, { ...answer, status: 200 }, null)).toBe(false);
    await releaseClaim(db, lost);
    expect((await claimRequest(db, request)).kind).toBe("running");
    expect(await storeAnswer(db, next, answer, null)).toBe(true);
    expect(await claimRequest(db, request)).toEqual({ kind: "answered", answer });
  });

  it("stay claimed as long as the attempt shows that it lives", async () => {
    const { db } = current();
    const request = await newRequest(db);
    const claim = await claimed(db, request);
    for (let i = 0; i < 3; i += 1) {
      await age(db, request.accountId, CLAIM_LEASE_MS / 1000 - 5);
      expect(await renewClaim(db, claim)).toBe(true);
    }
    expect((await claimRequest(db, request)).kind).toBe("running");
  });

  it("leave the key free when the attempt is not to be remembered", async () => {
    const { db } = current();
    const request = await newRequest(db);
    await releaseClaim(db, await claimed(db, request));
    expect(await rowsOf(db, request.accountId)).toEqual([]);
    expect((await claimRequest(db, { ...request, requestHash: "two" })).kind).toBe("claimed");
  });

  it("end after a day, and are swept then", async () => {
    const { db } = current();
    const request = await newRequest(db);
    await storeAnswer(db, await claimed(db, request), answer, null);
    await age(db, request.accountId, DAY_S - 60);
    expect(await sweepAnswers(db)).toBe(false);
    expect(await claimRequest(db, request)).toEqual({ kind: "answered", answer });
    await age(db, request.accountId, 120);
    const again = await claimed(db, { ...request, requestHash: "two" });
    expect((await claimRequest(db, { ...request, requestHash: "two" })).kind).toBe("running");
    await storeAnswer(db, again, answer, null);
    await age(db, request.accountId, DAY_S + 60);
    await sweepAnswers(db);
    expect(await rowsOf(db, request.accountId)).toEqual([]);
  });

  it("are not stored when the answer is too long, but their request is not executed again", async () => {
    const { db } = current();
    const request = await newRequest(db);
    const long = { ...answer, body: "x".repeat(MAX_ANSWER_LENGTH) };
    expect(await storeAnswer(db, await claimed(db, request), long, null)).toBe(true);
    expect(await claimRequest(db, request)).toEqual({ kind: "answered", answer: null });
  });

  it("are erased with what they tell of, while their keys stay used", async () => {
    const { db } = current();
    const request = await newRequest(db);
    const other = { ...request, key: "other" };
    const [resourceId, otherId] = [randomUUID(), randomUUID()];
    await storeAnswer(db, await claimed(db, request), answer, resourceId);
    await storeAnswer(db, await claimed(db, other), answer, otherId);
    await eraseAnswersAbout(db, await newAccount(db), resourceId);
    expect(await claimRequest(db, request)).toEqual({ kind: "answered", answer });
    await eraseAnswersAbout(db, request.accountId, resourceId);
    expect(await claimRequest(db, request)).toEqual({ kind: "answered", answer: null });
    expect((await rowsOf(db, request.accountId)).join()).not.toContain(resourceId);
    expect(await claimRequest(db, other)).toEqual({ kind: "answered", answer });
  });
});
