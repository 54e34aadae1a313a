import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { setAccountLimits } from "../../store/accounts/accounts.ts";
import { insertCall } from "../../store/calls/calls.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, send } from "../testing/http-fixture.ts";

interface Page {
  readonly results: { readonly prefix: string }[];
  readonly total: number;
}

/** From now, by the clock of the database and of this machine. */
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const HOUR_MS = 3_600_000;

describeOnBothDatabases("accounts and keys by REST", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeAll(async () => {
    server = await openTestServer(current());
  });
  beforeEach(async () => {
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  const works = async (key: string): Promise<boolean> =>
    (await send(server, "GET", "/api/accounts/me", { headers: { "x-api-key": key } })).status === 200;

  it("show the account of the key: its calls that have not ended, and how many it may have", async () => {
    const { db } = current();
    const account = {
      accountId: client.accountId,
      name: expect.stringMatching(/^test /) as string,
      activeCalls: 0,
      allowedConcurrentCalls: null,
    };
    expect((await client.get("/api/accounts/me")).json).toEqual(account);
    await setAccountLimits(db, client.accountId, { allowedConcurrentCalls: 7 });
    const [over, running] = [newCall(), newCall()];
    for (const call of [over, running]) await insertCall(db, client.accountId, call);
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(db, client.accountId, over.callId, end);
    const now = { ...account, activeCalls: 1, allowedConcurrentCalls: 7 };
    expect((await client.get("/api/accounts/me")).json).toEqual(now);
    expect((await client.get("/api/accounts")).json).toEqual([now]);
  });

  it("tell a new key whole once, and who made it", async () => {
    const expiryDate = inMs(HOUR_MS);
    const made = await client.post("/api/api_keys", {
      name: "reports",
      expiryDate,
      scopes: ["calls", "read", "calls"],
    });
    const { secret, ...shown } = made.json;
    expect([made.status, shown]).toEqual([
      201,
      {
        prefix: String(secret).slice(0, 8),
        created: expect.any(String) as string,
        creator: client.prefix,
        name: "reports",
        expiryDate,
        scopes: ["read", "calls"],
        revoked: false,
      },
    ]);
    expect(made.headers["location"]).toMatch(new RegExp(`/api/api_keys/${String(shown["prefix"])}$`));
    expect(secret).toMatch(/^[a-zA-Z0-9]{8}\.[a-zA-Z0-9]{32}$/);
    const read = await client.get(`/api/api_keys/${String(shown["prefix"])}`);
    expect(read.json).toEqual(shown);
    const list = await client.get<Page>("/api/api_keys");
    expect(list.json.results[0]).toEqual(shown);
    expect(list.json.total).toBe(2);
    expect(list.text + read.text).not.toContain(String(secret).slice(9));
  });

  it("refuse a key that would never work, and read a time without an offset as UTC", async () => {
    for (const expiryDate of [inMs(-1_000), inMs(-1_000).replace("Z", "+00:00"), "2020-01-01T00:00:00"]) {
      const reply = await client.post("/api/api_keys", { name: "late", expiryDate });
      expect([reply.status, reply.json["errors"]]).toEqual([
        400,
        [{ field: "expiryDate", message: "must be in the future" }],
      ]);
    }
    const end = inMs(HOUR_MS);
    const local = await client.post("/api/api_keys", { name: "k", expiryDate: end.slice(0, -1) });
    expect(local.json["expiryDate"]).toBe(end);
    const far = await client.post("/api/api_keys", { name: "k", expiryDate: "2999-01-01T00:00:00Z" });
    expect(far.json["errors"]).toEqual([{ field: "expiryDate", message: "must be at most 100 years ahead" }]);
    const never = await client.post("/api/api_keys", { name: "k", expiryDate: null });
    expect([never.status, never.json["expiryDate"]]).toEqual([201, null]);
    const faulty = await client.post("/api/api_keys", {
      name: "x".repeat(51),
      expiryDate: "soon",
      scopes: ["write"],
    });
    expect((faulty.json["errors"] as { field: string }[]).map(({ field }) => field)).toEqual([
      "name",
      "expiryDate",
      "scopes.0",
    ]);
    const none = await client.post("/api/api_keys", { name: "k", scopes: [] });
    expect(none.json["errors"]).toEqual([
      {
        field: "scopes",
        message: "must have at least one scope; leave the field out for a key that may do everything",
      },
    ]);
  });

  it("end no later than the key that creates them", async () => {
    const end = inMs(HOUR_MS);
    const short = await client.post("/api/api_keys", { name: "short", expiryDate: end, scopes: ["admin"] });
    const headers = { "x-api-key": String(short.json["secret"]) };
    const create = async (body: object) =>
      send(server, "POST", "/api/api_keys", { headers, body: { name: "k", ...body } });
    const longer = await create({});
    expect([longer.status, longer.json["code"], longer.json["detail"]]).toEqual([
      403,
      "forbidden",
      `This API key ends at ${end}; a key that it creates must not end later.`,
    ]);
    // `admin` may do everything, so its keys may as well.
    expect((await create({ expiryDate: end })).json["scopes"]).toBeNull();
  });

  it.each(["put", "patch"] as const)("revoke a key at once and permanently by %s", async (method) => {
    const { json } = await client.post("/api/api_keys", { name: "second" });
    const url = `/api/api_keys/${String(json["prefix"])}`;
    expect(await works(String(json["secret"]))).toBe(true);
    // A fetched record may be sent back.
    const fetched = await client.get(url);
    expect((await client[method](url, { ...fetched.json, revoked: null })).json["revoked"]).toBe(false);
    const revoked = await client[method](url, { ...fetched.json, revoked: true });
    expect([revoked.status, revoked.json]).toEqual([200, { ...fetched.json, revoked: true }]);
    expect(await works(String(json["secret"]))).toBe(false);
    expect((await client[method](url, { revoked: true })).status).toBe(200);
    const back = await client[method](url, { revoked: false });
    expect([back.status, back.json["code"]]).toEqual([409, "conflict"]);
    expect((await client.get(url)).json["revoked"]).toBe(true);
  });

  it("keep the last key that works, and let a key revoke itself when it is not the last", async () => {
    const own = `/api/api_keys/${client.prefix}`;
    const revoke = { revoked: true };
    for (const refused of [
      await client.patch(own, revoke),
      await client.put(own, revoke),
      await client.delete(own),
    ]) {
      expect([refused.status, refused.json["code"]]).toEqual([409, "conflict"]);
    }
    const second = await client.post("/api/api_keys", { name: "second" });
    expect((await client.delete(own)).status).toBe(204);
    expect(await works(client.key)).toBe(false);
    expect(await works(String(second.json["secret"]))).toBe(true);
  });

  it("delete a key once", async () => {
    const { json } = await client.post("/api/api_keys", { name: "second" });
    const url = `/api/api_keys/${String(json["prefix"])}`;
    expect((await client.delete(url)).status).toBe(204);
    expect(await works(String(json["secret"]))).toBe(false);
    for (const gone of [await client.delete(url), await client.get(url), await client.patch(url, {})]) {
      expect(gone.status).toBe(404);
    }
  });
});
