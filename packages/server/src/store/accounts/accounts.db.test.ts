import { sql } from "kysely";
import { expect, it } from "vitest";
import {
  createAccount,
  ensureDefaultAccount,
  getAccount,
  listAccounts,
  removeAccount,
  setAccountLimits,
} from "./accounts.ts";
import { createAgent } from "../agents/agents.ts";
import { authenticateKey, createApiKey } from "./api-keys.ts";
import { insertCall } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { listFilesToRemove } from "../calls/files-to-remove.ts";
import { AccountInUseError, DefaultAccountError } from "../database/store-errors.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases } from "../testing/databases.ts";
import { createTools } from "../agents/tools.ts";

const missing = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

/** Every table with an account column. */
async function tablesOfAccounts(db: Db): Promise<string[]> {
  const read = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'account_id'`.execute(db.query);
  return read.rows.map(({ name }) => name);
}

async function tablesWithRowsOf(db: Db, accountId: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tablesOfAccounts(db)) {
    const rows = await sql`select 1 from ${sql.table(table)} where account_id = ${accountId} limit 1`.execute(
      db.query,
    );
    if (rows.rows.length > 0) found.push(table);
  }
  return found;
}

async function filled(db: Db): Promise<{ readonly accountId: string; readonly callId: string }> {
  const { accountId } = await createAccount(db, "shop");
  const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
  await createTools(db, accountId, [{ name: "t", definition: { client: {} } }]);
  const call = newCall({ agentId, settings: { systemPrompt: "Hi.", recordingEnabled: true } });
  await insertCall(db, accountId, call);
  return { accountId, callId: call.callId };
}

const end = { endReason: "hangup", endedAtMs: Date.now() } as const;

describeOnBothDatabases("accounts of the operator", (current) => {
  it("have limits that can be changed and lifted", async () => {
    const { db } = current();
    const made = await createAccount(db, "shop", { allowedConcurrentCalls: 3 });
    expect(made.allowedConcurrentCalls).toBe(3);
    expect(await getAccount(db, made.accountId)).toEqual(made);
    const raised = await setAccountLimits(db, made.accountId, { allowedConcurrentCalls: 0 });
    expect(raised).toEqual({ ...made, allowedConcurrentCalls: 0 });
    const lifted = await setAccountLimits(db, made.accountId, { allowedConcurrentCalls: null });
    expect(lifted?.allowedConcurrentCalls).toBeNull();
    expect(await setAccountLimits(db, missing, { allowedConcurrentCalls: 1 })).toBeNull();
    const listed = await listAccounts(db);
    expect(listed.map(({ accountId }) => accountId)).toContain(made.accountId);
  });

  it("are erased with all that is theirs, and nothing of others", async () => {
    const { db } = current();
    const gone = await filled(db);
    const kept = await filled(db);
    const { secret } = await createApiKey(db, gone.accountId, { name: "k", creator: null, expiryDate: null });
    expect(await authenticateKey(db, secret)).not.toBeNull();
    await markEnded(db, gone.accountId, gone.callId, end);
    const before = await tablesWithRowsOf(db, kept.accountId);
    expect(await removeAccount(db, gone.accountId)).toBe(true);
    // Recordings are files of the node that ran the call.
    const noted = await listFilesToRemove(db, { nodeId: "test node", reachesShared: false });
    expect(noted.map(({ callId }) => callId)).toEqual([gone.callId]);
    expect(await tablesWithRowsOf(db, gone.accountId)).toEqual([]);
    expect(await tablesWithRowsOf(db, kept.accountId)).toEqual(before);
    expect(await getAccount(db, gone.accountId)).toBeNull();
    expect(await authenticateKey(db, secret)).toBeNull();
    expect(await removeAccount(db, gone.accountId)).toBe(false);
  });

  it("stay whole while calls run in them", async () => {
    const { db } = current();
    const { accountId, callId } = await filled(db);
    const before = await tablesWithRowsOf(db, accountId);
    await expect(removeAccount(db, accountId)).rejects.toThrow(AccountInUseError);
    expect(await tablesWithRowsOf(db, accountId)).toEqual(before);
    await markEnded(db, accountId, callId, end);
    expect(await removeAccount(db, accountId)).toBe(true);
  });

  it("are closed first, and can be erased again when that was cut off", async () => {
    const { db } = current();
    const { accountId } = await createAccount(db, "large");
    const calls = Array.from({ length: 205 }, () => newCall());
    for (const call of calls) {
      await insertCall(db, accountId, call);
      await markEnded(db, accountId, call.callId, end);
    }
    await sql`update accounts set removed_at = now() where id = ${accountId}`.execute(db.query);
    expect(await removeAccount(db, accountId)).toBe(true);
    expect(await tablesWithRowsOf(db, accountId)).toEqual([]);
  });

  it("include the default one, which stays", async () => {
    const { db } = current();
    const { accountId } = await ensureDefaultAccount(db);
    await expect(removeAccount(db, accountId)).rejects.toThrow(DefaultAccountError);
  });

  it("own every row that names them, so that erasing one leaves nothing of it in any table", async () => {
    const { db } = current();
    const links = await sql<{ table: string; target: string }>`
      select conrelid::regclass::text as "table", confrelid::regclass::text as target from pg_constraint
      where contype = 'f' and confdeltype = 'c'`.execute(db.query);
    const reached = new Set(["accounts"]);
    for (let size = 0; size < reached.size;) {
      size = reached.size;
      for (const { table, target } of links.rows) if (reached.has(target)) reached.add(table);
    }
    const left = (await tablesOfAccounts(db)).filter((table) => !reached.has(table));
    // A trigger on the deletion of accounts empties the counts; the test above sees that it does. The chunks of deleted
    // documents are queued by a trigger, hidden from searches, and removed in portions.
    expect(left).toEqual(["call_counts", "call_counts_of_agents", "call_counts_of_hours", "corpus_chunks"]);
  });
});
