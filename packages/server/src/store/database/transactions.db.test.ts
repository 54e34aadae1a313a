import { sql } from "kysely";
import { expect, it } from "vitest";
import { getAccount } from "../accounts/accounts.ts";
import { inTransaction } from "./db.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

describeOnBothDatabases("a transaction", (current) => {
  it("runs again when the database aborts it because of another one, three times at most", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    for (const { code, failures, runs, succeeds } of [
      { code: "40P01", failures: 2, runs: 3, succeeds: true },
      { code: "40001", failures: 3, runs: 4, succeeds: true },
      { code: "40001", failures: 9, runs: 4, succeeds: false },
      { code: "23505", failures: 1, runs: 1, succeeds: false },
    ]) {
      let ran = 0;
      const done = inTransaction(db, async (tx) => {
        ran += 1;
        await sql`update accounts set name = name || 'x' where id = ${accountId}`.execute(tx.query);
        if (ran <= failures) throw Object.assign(new Error("aborted"), { code });
      });
      const outcome = await done.then(
        () => true,
        () => false,
      );
      expect([code, ran, outcome]).toEqual([code, runs, succeeds]);
    }
    // What was aborted is not in the database.
    expect((await getAccount(db, accountId))?.name).toMatch(/[^x]xx$/);
  });

  it("survives a deadlock", async ({ skip }) => {
    const { db, databaseUrl } = current();
    // The embedded database runs one transaction at a time.
    if (databaseUrl === null) {
      skip();
      return;
    }
    const ids = [await newAccount(db), await newAccount(db)];
    const both = Promise.withResolvers<void>();
    let locked = 0;
    const lockAll = (order: readonly string[]): Promise<void> =>
      inTransaction(db, async (tx) => {
        for (const id of order) {
          await sql`update accounts set name = name where id = ${id}`.execute(tx.query);
          locked += 1;
          if (locked === 2) both.resolve();
          await both.promise;
        }
      });
    await expect(Promise.all([lockAll(ids), lockAll(ids.toReversed())])).resolves.toHaveLength(2);
    // Four, and at least one of the transaction that was aborted.
    expect(locked).toBeGreaterThan(4);
  });
});

describeOnBothDatabases("the connections for records of live calls", (current) => {
  it("are free while all others are taken", async ({ skip }) => {
    const { db, store, databaseUrl } = current();
    if (databaseUrl === null) {
      skip();
      return;
    }
    const release = Promise.withResolvers<void>();
    const held = Array.from({ length: 12 }, () => {
      const taken = Promise.withResolvers<void>();
      const done = inTransaction(db, async (tx) => {
        await sql`select 1`.execute(tx.query);
        taken.resolve();
        await release.promise;
      });
      return { taken: taken.promise, done };
    });
    await Promise.all(held.map(({ taken }) => taken));
    let isOtherThrough = false;
    const other = sql`select 1`.execute(db.query).then(() => (isOtherThrough = true));
    const records = await sql<{ one: number }>`select 1 as one`.execute(store.recordsDb.query);
    expect(records.rows).toEqual([{ one: 1 }]);
    expect(isOtherThrough).toBe(false);
    // Records of hundreds of calls may wait as well: the lease of the process does not wait for them.
    const sleeping = Array.from({ length: 8 }, () =>
      sql`select pg_sleep(0.2)`.execute(store.recordsDb.query),
    );
    let areRecordsThrough = false;
    const all = Promise.all(sleeping).then(() => (areRecordsThrough = true));
    expect((await sql<{ one: number }>`select 1 as one`.execute(store.leaseDb.query)).rows).toEqual([
      { one: 1 },
    ]);
    expect(areRecordsThrough).toBe(false);
    await all;
    release.resolve();
    await Promise.all([other, ...held.map(({ done }) => done)]);
  });
});
