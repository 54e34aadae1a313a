import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { ensureDefaultAccount } from "../store/accounts/accounts.ts";
import { listAuditEntries } from "../store/accounts/audit-log.ts";
import { authenticateKey, ensureFirstApiKey } from "../store/accounts/api-keys.ts";
import { getCall, insertCall, markJoined } from "../store/calls/calls.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { isSipEnabled } from "../store/telephony/sip-accounts.ts";
import { describeOnBothDatabases } from "../store/testing/databases.ts";
import { environmentOf, parley, type Ran, rowsOf } from "./testing/run.ts";

// The store is open in this process, as in a running service: the commands run beside it.
const FIRST_PAGE = { limit: 10, after: null, direction: "forward" } as const;

describeOnBothDatabases("commands beside a running service", (current) => {
  let defaultAccount = "";

  beforeAll(async () => {
    const { db } = current();
    defaultAccount = (await ensureDefaultAccount(db)).accountId;
    await ensureFirstApiKey(db, defaultAccount);
  });

  const run = (...words: string[]): Promise<Ran> => parley(environmentOf(current()), ...words);
  const makeAccount = async (...more: string[]): Promise<{ accountId: string; secret: string }> => {
    const made = await run("accounts", "create", "Hotel", ...more, "--json");
    expect([made.exitCode, made.err]).toEqual([0, ""]);
    return rowsOf<{ accountId: string; secret: string }>(made)[0] ?? { accountId: "", secret: "" };
  };
  const accountIn = (ran: Ran, accountId: string) =>
    rowsOf<{ accountId: string; allowedConcurrentCalls: number | null }>(ran).find(
      (row) => row.accountId === accountId,
    );

  it("make an account with a key that works, and list it", async () => {
    const { accountId, secret } = await makeAccount("--concurrent-calls", "3");
    expect((await authenticateKey(current().db, secret))?.accountId).toBe(accountId);
    const listed = await run("accounts", "list", "--json");
    expect(accountIn(listed, accountId)).toMatchObject({
      name: "Hotel",
      activeCalls: 0,
      allowedConcurrentCalls: 3,
    });
    const table = await run("accounts", "list");
    expect(table.out.split("\n")[0]).toMatch(/^ACCOUNT +NAME +CREATED +ACTIVE CALLS +LIMIT$/);
    expect(table.out).toContain(accountId);
  });

  it("change limits, and lift them", async () => {
    const { accountId } = await makeAccount();
    const limited = await run("accounts", "limits", accountId, "--concurrent-calls", "0", "--json");
    expect(accountIn(limited, accountId)?.allowedConcurrentCalls).toBe(0);
    expect(
      accountIn(await run("accounts", "limits", accountId, "--json"), accountId)?.allowedConcurrentCalls,
    ).toBe(0);
    const lifted = await run(
      "accounts",
      "limits",
      accountId.toUpperCase(),
      "--concurrent-calls",
      "none",
      "--json",
    );
    expect(accountIn(lifted, accountId)?.allowedConcurrentCalls).toBeNull();
  });

  it("remove an account when it is meant, and not while it has calls", async () => {
    const { db } = current();
    const { accountId, secret } = await makeAccount();
    const unconfirmed = await run("accounts", "remove", accountId);
    expect([unconfirmed.exitCode, unconfirmed.err]).toEqual([
      2,
      expect.stringContaining("add --yes to confirm"),
    ]);
    expect(await authenticateKey(db, secret)).not.toBeNull();
    await insertCall(db, accountId, newCall());
    const busy = await run("accounts", "remove", accountId, "--yes");
    expect([busy.exitCode, busy.err]).toEqual([1, "The account has calls that have not ended: 1."]);
    const other = await makeAccount();
    expect((await run("accounts", "remove", other.accountId, "--yes")).exitCode).toBe(0);
    expect(accountIn(await run("accounts", "list", "--json"), other.accountId)).toBeUndefined();
    const gone = await run("accounts", "remove", other.accountId, "--yes");
    expect([gone.exitCode, gone.err]).toEqual([
      1,
      `There is no account "${other.accountId}"; see parley accounts list.`,
    ]);
    const ownOne = await run("accounts", "remove", "default", "--yes");
    expect([ownOne.exitCode, ownOne.err]).toEqual([1, "The default account cannot be removed."]);
  });

  it("make, list and revoke keys", async () => {
    const { db } = current();
    const made = await run(
      "keys",
      "create",
      "--name",
      "ci",
      "--expires",
      "2099-01-31",
      "--scopes",
      "calls,read",
      "--json",
    );
    const [key] = rowsOf<{ accountId: string; secret: string }>(made);
    expect(key?.accountId).toBe(defaultAccount);
    const prefix = key?.secret.slice(0, 8) ?? "";
    const [shown] = rowsOf(await run("keys", "list", "--json")).filter((row) => row["prefix"] === prefix);
    expect(shown).toMatchObject({
      name: "ci",
      creator: "command line",
      expiryDate: "2099-01-31T00:00:00.000Z",
      scopes: "read,calls",
      revoked: false,
    });
    expect((await run("keys", "list", "default")).out).not.toContain(key?.secret);
    expect((await run("keys", "revoke", prefix)).exitCode).toBe(0);
    db.apiKeyCache.clear();
    expect(await authenticateKey(db, key?.secret ?? "")).toBeNull();
    const unknown = await run("keys", "revoke", "Zzzzzzz9");
    expect([unknown.exitCode, unknown.err]).toEqual([1, 'There is no key that begins with "Zzzzzzz9".']);
    expect((await run("keys", "create", randomUUID())).exitCode).toBe(1);
    const audited = await listAuditEntries(db, defaultAccount, { targetId: prefix }, FIRST_PAGE);
    expect(audited.rows.map(({ operation, via, targetName }) => [operation, via, targetName])).toEqual([
      ["updateApiKey", "command_line", "ci"],
      ["createApiKey", "command_line", "ci"],
    ]);
    const wrong: [string, string, string][] = [
      ["--expires", "2999-01-31", "--expires must be at most 100 years ahead."],
      ["--scopes", "read,write", "--scopes must be a list of read, calls, admin, separated by commas."],
      ["--scopes", "", "--scopes must be a list of read, calls, admin, separated by commas."],
    ];
    for (const [option, value, sentence] of wrong) {
      const refused = await run("keys", "create", option, value);
      expect([refused.exitCode, refused.err]).toEqual([2, expect.stringContaining(sentence)]);
    }
  });

  it("keep the last valid key of an account", async () => {
    const { accountId, secret } = await makeAccount();
    const last = await run("keys", "revoke", secret.slice(0, 8));
    expect([last.exitCode, last.err]).toEqual([
      1,
      "This is the account's last valid API key that may do everything; create another one first.",
    ]);
    await run("keys", "create", accountId);
    expect((await run("keys", "revoke", secret.slice(0, 8))).exitCode).toBe(0);
  });

  it("allow and forbid SIP", async () => {
    const { db } = current();
    const { accountId } = await makeAccount();
    expect(await isSipEnabled(db, accountId)).toBe(false);
    for (const [state, isEnabled] of [
      ["on", true],
      ["off", false],
    ] as const) {
      expect((await run("accounts", "sip", accountId, state)).exitCode).toBe(0);
      expect(await isSipEnabled(db, accountId)).toBe(isEnabled);
    }
    expect((await run("accounts", "sip", accountId, "yes")).err).toContain('STATE must be "on" or "off".');
  });

  it("refund a billed call once", async () => {
    const { db } = current();
    const { accountId } = await makeAccount();
    const call = newCall();
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, call.callId, { joinedAtMs: call.createdAtMs, clientVersion: null });
    const endedAtMs = call.createdAtMs + 10_000;
    await markEnded(db, accountId, call.callId, { endReason: "hangup", endedAtMs });
    const refunded = await run("calls", "refund", call.callId.toUpperCase());
    expect([refunded.exitCode, refunded.out]).toEqual([0, `The call ${call.callId} was refunded.`]);
    expect((await getCall(db, accountId, call.callId))?.billingStatus).toBe("REFUNDED");
    await run("accounts", "limits", accountId, "--concurrent-calls", "3");
    const audited = await listAuditEntries(db, accountId, {}, FIRST_PAGE);
    expect(audited.rows.map(({ operation, targetId }) => [operation, targetId])).toEqual([
      ["setAccountLimits", accountId],
      ["refundCall", call.callId],
      ["createAccount", accountId],
    ]);
    for (const id of [call.callId, randomUUID(), "x"]) {
      const { exitCode, err } = await run("calls", "refund", id);
      expect([exitCode, err]).toEqual([1, `There is no billed call "${id}".`]);
    }
  });

  it("do not use another key of secrets than the database has", async () => {
    const env = { ...environmentOf(current()), SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") };
    const { exitCode, err } = await parley(env, "accounts", "list");
    expect([exitCode, err]).toEqual([1, "SECRETS_KEY is not the key that this database was written with."]);
  });

  it("leave what belongs to the service alone", async () => {
    const { kind, dataDir } = current();
    const env = environmentOf(current());
    const migrated = await parley(env, "migrate");
    const allowed = kind === "postgresql" ? [0, "The database is up to date."] : [3, ""];
    expect([migrated.exitCode, migrated.out]).toEqual(allowed);
    const refused = kind === "embedded" ? ["migrate", "backup nowhere.tar.gz", "secrets rotate"] : [];
    for (const words of refused) {
      const { exitCode, err } = await parley(
        { ...env, NEW_SECRETS_KEY: env["SECRETS_KEY"] },
        ...words.split(" "),
      );
      expect([exitCode, err]).toEqual([3, expect.stringContaining(`is using the data folder ${dataDir}`)]);
    }
  });
});
