import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { sweepRegularly } from "./admission-sweep.ts";
import { insertAdmittedCall } from "../store/accounts/admission.ts";
import type { Db } from "../store/database/db.ts";
import { claimRequest } from "../store/accounts/idempotent-answers.ts";
import { newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";

const SOON_MS = 5;

async function rows(db: Db, accountId: string): Promise<{ answers: number; admissions: number }> {
  const read = await sql<{ answers: number; admissions: number }>`
    select (select count(*) from kept_answers where account_id = ${accountId}) as answers,
      (select count(*) from call_admissions where account_id = ${accountId}) as admissions`.execute(db.query);
  return read.rows[0] ?? { answers: -1, admissions: -1 };
}

async function age(db: Db, accountId: string, hours: number): Promise<void> {
  await sql`update kept_answers set created_at = created_at - make_interval(hours => ${hours})
    where account_id = ${accountId}`.execute(db.query);
  await sql`update call_admissions set admitted_at = admitted_at - make_interval(hours => ${hours})
    where account_id = ${accountId}`.execute(db.query);
}

describeOnBothDatabases("the sweep", (current) => {
  it("deletes answers and counts that are a day old, and leaves younger ones", async () => {
    const { db } = current();
    const [old, young] = [await newAccount(db), await newAccount(db)];
    for (const accountId of [old, young]) {
      await claimRequest(db, { accountId, key: randomUUID(), requestHash: "x" });
      const accountRates = [{ maxCalls: 10, windowSeconds: 60 }];
      await insertAdmittedCall(db, accountId, newCall(), { throttleId: null, accountRates });
    }
    await age(db, old, 25);
    await age(db, young, 23);
    const warnings: unknown[] = [];
    const sweep = sweepRegularly(db, { warn: (fields: unknown) => warnings.push(fields) }, SOON_MS);
    await vi.waitFor(async () => expect(await rows(db, old)).toEqual({ answers: 0, admissions: 0 }), {
      timeout: 30_000,
    });
    await sweep.stop();
    expect(await rows(db, young)).toEqual({ answers: 1, admissions: 1 });
    expect(warnings).toEqual([]);
  });
});
