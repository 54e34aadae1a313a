import { sql } from "kysely";
import { expect, it } from "vitest";
import { countDialAttempt, sweepDialAttempts } from "./dial-attempts.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

describeOnBothDatabases("attempts at a number", (current) => {
  it("are counted for all batches of an account, within a day", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const dial = (number: string, most: number | null, account = accountId): Promise<number> =>
      db.query.transaction().execute((query) => countDialAttempt({ ...db, query }, account, number, most));
    expect(await dial("+49301", null)).toBe(0);
    expect(await dial("+49301", 2)).toBe(0);
    const waitMs = await dial("+49301", 2);
    expect(waitMs).toBeGreaterThan(86_000_000);
    expect(waitMs).toBeLessThanOrEqual(86_400_000);
    expect(await dial("+49301", 3)).toBe(0);
    expect([await dial("+49302", 1), await dial("+49301", 1, await newAccount(db))]).toEqual([0, 0]);
    await sql`update dial_attempts set dialled_at = dialled_at - interval '24 hours'
      where account_id = ${accountId}`.execute(db.query);
    expect(await dial("+49301", 1)).toBe(0);
    expect(await sweepDialAttempts(db)).toBe(false);
    const left = await sql`select number from dial_attempts where account_id = ${accountId}`.execute(
      db.query,
    );
    expect(left.rows).toHaveLength(1);
  });
});
