import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { createAccount, getAccount } from "./accounts.ts";
import { type Admission, insertAdmittedCall } from "./admission.ts";
import { getCall, insertCall, removeUnstartedCall } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { openStore } from "../opening/open-store.ts";
import {
  AgentGoneError,
  CallExistsError,
  CallNotAdmittedError,
  ThrottleGoneError,
} from "../database/store-errors.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount, newDataDir, type TestStore } from "../testing/databases.ts";
import { createThrottle, findThrottle, updateThrottle } from "./throttles.ts";

const free: Admission = { throttleId: null, accountRates: [] };
const minute = (maxCalls: number) => ({ maxCalls, windowSeconds: 60 });

/** Null: admitted. */
async function attempt(
  db: Db,
  accountId: string,
  admission: Admission,
): Promise<CallNotAdmittedError | null> {
  try {
    await insertAdmittedCall(db, accountId, newCall(), admission);
    return null;
  } catch (error) {
    if (error instanceof CallNotAdmittedError) return error;
    throw error;
  }
}

async function attempts(dbs: readonly Db[], accountId: string, admission: Admission, count: number) {
  const made = await Promise.all(
    Array.from({ length: count }, (_, index) => attempt(dbs[index % dbs.length] as Db, accountId, admission)),
  );
  const refused = made.filter((error) => error !== null);
  return { admitted: count - refused.length, refused };
}

/** Runs with the database of a second node, on databases that several nodes can share. */
async function onTwoNodes(store: TestStore, work: (dbs: readonly Db[]) => Promise<void>): Promise<void> {
  const { databaseUrl, secretsKey, db } = store;
  if (databaseUrl === null) return work([db]);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const second = await openStore({ dataDir: await newDataDir(), databaseUrl, secretsKey, log });
  try {
    await work([db, second.db]);
  } finally {
    await second.close();
  }
}

async function age(db: Db, accountId: string, seconds: number): Promise<void> {
  await sql`update call_admissions set admitted_at = admitted_at - make_interval(secs => ${seconds})
    where account_id = ${accountId}`.execute(db.query);
}

async function counted(db: Db, accountId: string): Promise<number> {
  const read = await sql<{ count: number }>`
    select count(*) as count from call_admissions where account_id = ${accountId}`.execute(db.query);
  return read.rows[0]?.count ?? -1;
}

async function throttled(db: Db, accountId: string, rules: Parameters<typeof createThrottle>[2]["rules"]) {
  const { throttleId } = await createThrottle(db, accountId, { name: "t", rules });
  return { ...free, throttleId };
}

describeOnBothDatabases("the admission of calls", (current) => {
  it("admits calls of an account without limits, and counts nothing for them", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    expect((await attempts([db], accountId, free, 5)).admitted).toBe(5);
    expect(await counted(db, accountId)).toBe(0);
  });

  it("enforces the concurrency limit of an account, however many nodes create calls at once", async () => {
    await onTwoNodes(current(), async (dbs) => {
      const { db } = current();
      const { accountId } = await createAccount(db, "small", { allowedConcurrentCalls: 3 });
      const burst = await attempts(dbs, accountId, free, 16);
      expect(burst.admitted).toBe(3);
      expect(burst.refused.map(({ limit }) => limit)).toEqual(Array(13).fill("calls at a time"));
      expect(burst.refused.every(({ waitMs }) => waitMs >= 1000)).toBe(true);
      expect((await getAccount(db, accountId))?.activeCalls).toBe(3);
    });
  });

  it("writes no call whose id is taken, and counts it nowhere", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const call = newCall();
    await insertAdmittedCall(db, accountId, call, free);
    await expect(insertAdmittedCall(db, accountId, call, free)).rejects.toThrow(CallExistsError);
    const admission = await throttled(db, accountId, [minute(1)]);
    await expect(insertAdmittedCall(db, accountId, call, admission)).rejects.toThrow(CallExistsError);
    await insertAdmittedCall(db, accountId, newCall(), admission);
  });

  it("has room again when a call ends, and never any with a limit of 0", async () => {
    const { db } = current();
    const { accountId } = await createAccount(db, "small", { allowedConcurrentCalls: 1 });
    const call = newCall();
    await insertAdmittedCall(db, accountId, call, free);
    expect((await attempt(db, accountId, free))?.limit).toBe("calls at a time");
    const end = { endReason: "unjoined", endedAtMs: Date.now() } as const;
    await markEnded(db, accountId, call.callId, end);
    expect(await attempt(db, accountId, free)).toBeNull();
    const closed = await createAccount(db, "closed", { allowedConcurrentCalls: 0 });
    expect((await attempt(db, closed.accountId, free))?.limit).toBe("calls at a time");
  });

  it("counts exactly as many calls as a throttle allows, however many nodes create them at once", async () => {
    await onTwoNodes(current(), async (dbs) => {
      const { db } = current();
      const accountId = await newAccount(db);
      const admission = await throttled(db, accountId, [minute(5)]);
      const burst = await attempts(dbs, accountId, admission, 16);
      expect(burst.admitted).toBe(5);
      for (const { limit, waitMs } of burst.refused) {
        expect(limit).toBe("throttle");
        expect(waitMs).toBeGreaterThan(50_000);
        expect(waitMs).toBeLessThanOrEqual(60_000);
      }
      expect(await counted(db, accountId)).toBe(5);
      await age(db, accountId, 61);
      expect((await attempts(dbs, accountId, admission, 8)).admitted).toBe(5);
    });
  });

  it("slides its windows, and waits for the last of the rules that refuse", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const rules = [minute(3), { maxCalls: 4, windowSeconds: 3600 }];
    const admission = await throttled(db, accountId, rules);
    for (let i = 0; i < 3; i += 1) {
      expect(await attempt(db, accountId, admission)).toBeNull();
      await age(db, accountId, 15);
    }
    // Admitted 45, 30 and 15 s ago: the first leaves its minute in 15 s.
    const first = await attempt(db, accountId, admission);
    expect(first?.waitMs).toBeGreaterThan(10_000);
    expect(first?.waitMs).toBeLessThanOrEqual(15_000);
    await age(db, accountId, 15);
    expect(await attempt(db, accountId, admission)).toBeNull();
    // Admitted 60, 45, 30 and 0 s ago: four within the hour.
    const second = await attempt(db, accountId, admission);
    expect(second?.waitMs).toBeGreaterThan(3_500_000);
    expect(second?.waitMs).toBeLessThanOrEqual(3_540_000);
  });

  it("counts what was let in before a throttle was changed", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const admission = await throttled(db, accountId, [minute(2)]);
    expect((await attempts([db], accountId, admission, 3)).admitted).toBe(2);
    await updateThrottle(db, accountId, admission.throttleId, { rules: [minute(4)] });
    expect((await attempts([db], accountId, admission, 4)).admitted).toBe(2);
  });

  it("takes nothing for a call that is refused, that fails, or that is taken back", async () => {
    const { db } = current();
    const { accountId } = await createAccount(db, "small", { allowedConcurrentCalls: 1 });
    const admission = { ...(await throttled(db, accountId, [minute(1)])), accountRates: [minute(1)] };
    const orphan = newCall({ agentId: randomUUID() });
    await expect(insertAdmittedCall(db, accountId, orphan, admission)).rejects.toThrow(AgentGoneError);
    expect(await counted(db, accountId)).toBe(0);
    const unstarted = newCall();
    await insertAdmittedCall(db, accountId, unstarted, admission);
    expect(await counted(db, accountId)).toBe(2);
    expect(await removeUnstartedCall(db, accountId, unstarted.callId)).toBe("removed");
    expect(await counted(db, accountId)).toBe(0);
    const running = newCall();
    await insertCall(db, accountId, running);
    expect((await attempt(db, accountId, admission))?.limit).toBe("calls at a time");
    const unlimited = { ...admission, accountRates: [] };
    await removeUnstartedCall(db, accountId, running.callId);
    expect(await attempt(db, accountId, unlimited)).toBeNull();
    expect(await counted(db, accountId)).toBe(1);
  });

  it("enforces the deployment's rates for every account separately", async () => {
    await onTwoNodes(current(), async (dbs) => {
      const { db } = current();
      const [one, other] = [await newAccount(db), await newAccount(db)];
      const admission = { ...free, accountRates: [{ maxCalls: 50, windowSeconds: 1 }, minute(4)] };
      const burst = await attempts(dbs, one, admission, 10);
      expect([burst.admitted, burst.refused[0]?.limit]).toEqual([4, "account rate"]);
      expect(await attempt(db, other, admission)).toBeNull();
      await age(db, one, 61);
      expect(await attempt(db, one, admission)).toBeNull();
    });
  });

  it("writes no call for a throttle that is not the account's, or is gone", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const foreign = await throttled(db, await newAccount(db), [minute(1)]);
    for (const throttleId of [foreign.throttleId, randomUUID()]) {
      const call = newCall();
      const refused = insertAdmittedCall(db, accountId, call, { ...free, throttleId });
      await expect(refused).rejects.toThrow(ThrottleGoneError);
      expect(await getCall(db, accountId, call.callId)).toBeNull();
    }
  });

  it("forgets what no rule can look at any more", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const admission = await throttled(db, accountId, [minute(100)]);
    await sql`insert into call_admissions (account_id, throttle_id, call_id, admitted_at)
      select ${accountId}::uuid, ${admission.throttleId}::uuid, gen_random_uuid(),
        now() - make_interval(secs => 100 + number) from generate_series(1, 500) as number`.execute(db.query);
    expect(await attempt(db, accountId, admission)).toBeNull();
    expect(await counted(db, accountId)).toBeLessThanOrEqual(202);
    expect(await counted(db, accountId)).toBeGreaterThanOrEqual(200);
  });

  it("admits nothing to an account that is being removed", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    await sql`update accounts set removed_at = now() where id = ${accountId}`.execute(db.query);
    expect((await attempt(db, accountId, free))?.limit).toBe("account removed");
  });
});

describeOnBothDatabases("a requested throttle", (current) => {
  it("is found by its id in any case, or by a name that only one has", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const rules = [minute(1)];
    const one = await createThrottle(db, accountId, { name: "one", rules });
    const namedAsId = await createThrottle(db, accountId, { name: randomUUID(), rules });
    const namedAsOther = await createThrottle(db, accountId, { name: one.throttleId, rules });
    for (const name of ["twin", "twin"]) await createThrottle(db, accountId, { name, rules });
    expect(await findThrottle(db, accountId, "one")).toEqual(one);
    expect(await findThrottle(db, accountId, one.throttleId.toUpperCase())).toEqual(one);
    expect(await findThrottle(db, accountId, namedAsId.name)).toEqual(namedAsId);
    expect(await findThrottle(db, accountId, namedAsOther.throttleId)).toEqual(namedAsOther);
    expect(await findThrottle(db, accountId, "twin")).toBe("ambiguous");
    for (const unknown of ["One", "on", "%", "a\u0000b", randomUUID()]) {
      expect(await findThrottle(db, accountId, unknown)).toBe("unknown");
    }
    const other = await newAccount(db);
    for (const foreign of ["one", one.throttleId]) {
      expect(await findThrottle(db, other, foreign)).toBe("unknown");
    }
  });
});
