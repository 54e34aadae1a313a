/** The audit log: an entry for every administrative change, in its transaction, for its account only. */

import { randomUUID } from "node:crypto";
import { ROUTE_NAMES, routeOf, type RouteName } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createApiKey } from "../../store/accounts/api-keys.ts";
import { markEnded } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { isAudited, REFUSALS_PER_SECOND } from "../api/audit.ts";
import type { HttpServer } from "../deps.ts";
import { buildServer } from "../server.ts";
import { type Client, newClient, openTestServer, send, testDeps } from "../testing/http-fixture.ts";
import { makeSamples, type SampleIds, VALID_BODIES } from "../testing/samples/samples.ts";

interface Entry {
  readonly entryId: string;
  readonly operation: string;
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly result: string;
  readonly code: string | null;
  readonly [field: string]: unknown;
}

interface Page {
  readonly results: readonly Entry[];
  readonly total: number;
  readonly next: string | null;
}

/** Bodies with which the operation changes something, where `{}` and the samples do not. */
const BODIES: Partial<Record<RouteName, object>> = {
  createAgent: { name: "Concierge" },
  updateAgent: { name: "Renamed" },
  createTool: { name: "look", definition: { description: "Looks.", client: {} } },
  createCorpus: { name: "Menu" },
  createApiKey: { name: "third" },
  replaceApiKey: { revoked: true },
  updateApiKey: { revoked: true },
};
/** Operations that this version, or a deployment without an operator key, refuses with 501, which changes nothing. */
const UNAVAILABLE: readonly RouteName[] = ["updateEngines"];

const audited = ROUTE_NAMES.filter((name) => isAudited(routeOf(name)));

describeOnBothDatabases("the audit log", (current) => {
  let server: HttpServer;
  let client: Client;
  let ids: SampleIds = {};
  let nowMs = Date.now();

  beforeAll(async () => {
    server = await openTestServer(current(), { nowMs: () => nowMs });
  });
  beforeEach(async () => {
    // The next refusal is recorded again.
    nowMs += 1_000 / REFUSALS_PER_SECOND;
  });
  afterAll(() => server.close());

  const urlOf = (name: RouteName): string =>
    routeOf(name).path.replaceAll(/\{([a-z_]+)\}/g, (_, id: string) => ids[id] ?? "");
  const entries = async (of: Client, query = ""): Promise<Page> =>
    (await of.get<Page>(`/api/audit_log${query}`)).json;

  async function request(name: RouteName, by: string, body?: object) {
    const { method, request: taken } = routeOf(name);
    const number = { number: "+4930123457", agentId: ids["agent_id"] };
    const own = name === "assignPhoneNumber" ? number : BODIES[name];
    const sent = body ?? own ?? VALID_BODIES[name] ?? {};
    return send(server, method, urlOf(name), {
      headers: { "x-api-key": by, "x-request-id": `request-of-${name}` },
      from: "192.0.2.7",
      ...(taken === null ? {} : { body: sent }),
    });
  }

  /** What the operation needs besides the samples. */
  async function prepare(name: RouteName): Promise<void> {
    const { db } = current();
    client = await newClient(server, db);
    ids = await makeSamples(client);
    if (name === "createTelephonyConfig") await client.delete("/api/telephony_configs/telephony1");
    if (name === "redeliverWebhookDelivery") {
      const made = await client.post(`/api/webhooks/${ids["webhook_id"]}/test`, {});
      ids = { ...ids, delivery_id: String(made.json["deliveryId"]) };
    }
    if (name === "deleteCall") {
      const end = { endReason: "unjoined", endedAtMs: Date.now(), latestInputTokens: null } as const;
      await markEnded(db, client.accountId, ids["call_id"] ?? "", end);
    }
  }

  describe.each(audited.filter((name) => !UNAVAILABLE.includes(name)))("%s", (name) => {
    it("is recorded once: who, what, from where, and nothing that is secret", async () => {
      await prepare(name);
      const before = (await entries(client)).total;
      const reply = await request(name, client.key);
      expect([reply.text, reply.status < 300]).toEqual([reply.text, true]);
      const { results, total } = await entries(client);
      expect(total).toBe(before + 1);
      const [entry] = results;
      expect(entry).toEqual({
        entryId: expect.any(String) as string,
        created: expect.stringMatching(/Z$/) as string,
        operation: name,
        via: "api",
        keyPrefix: client.prefix,
        keyName: "test",
        targetId: entry?.targetId ?? null,
        targetName: entry?.targetName ?? null,
        clientAddress: "192.0.2.7",
        result: "done",
        code: null,
        requestId: `request-of-${name}`,
      });
      const named = [...routeOf(name).path.matchAll(/\{([a-z_]+)\}/g)].at(-1)?.[1];
      const location = String(reply.headers["location"] ?? "")
        .split("/")
        .at(-1);
      expect(entry?.targetId).toBe(location === "" ? (named === undefined ? null : ids[named]) : location);
    });

    it("is recorded as refused for a key that may not do it, and for what does not exist", async () => {
      await prepare(name);
      const spare = { name: "reader", creator: null, expiryDate: null, scopes: ["calls"] } as const;
      const reader = await createApiKey(current().db, client.accountId, spare);
      nowMs += 1_000;
      expect((await request(name, reader.secret)).status).toBe(403);
      const [entry] = (await entries(client)).results;
      expect(entry).toMatchObject({
        operation: name,
        keyPrefix: reader.prefix,
        keyName: "reader",
        result: "refused",
        code: "missing_scope",
      });
    });
  });

  it.each(UNAVAILABLE)("%s changes nothing, so it is not recorded", async (name) => {
    await prepare(name);
    const before = (await entries(client)).total;
    expect((await request(name, client.key)).status).toBe(501);
    expect((await entries(client)).total).toBe(before);
  });

  it("has the name of a record from before its change, and of a new one", async () => {
    await prepare("updateAgent");
    const url = `/api/agents/${ids["agent_id"]}`;
    await client.patch(url, { name: "Renamed" });
    await client.delete(url);
    await client.post("/api/agents", { name: "New" });
    const of = (await entries(client)).results.slice(0, 3);
    expect(of.map(({ operation, targetName }) => [operation, targetName])).toEqual([
      ["createAgent", "New"],
      ["deleteAgent", "Renamed"],
      ["updateAgent", "A"],
    ]);
  });

  it("names webhooks by their host only, because the path may hold a secret", async () => {
    await prepare("createWebhook");
    const body = { url: "https://hooks.example/calls?token=secret-1", events: ["call.ended"] };
    const { json } = await client.post("/api/webhooks", body);
    await client.delete(`/api/webhooks/${String(json["webhookId"])}`);
    await client.post("/api/sip/registrations", { username: "1000", password: "p", proxy: "sip.example" });
    const of = (await entries(client)).results.slice(0, 3);
    expect(of.map(({ operation, targetName }) => [operation, targetName])).toEqual([
      ["createSipRegistration", "1000"],
      ["deleteWebhook", "hooks.example"],
      ["createWebhook", "hooks.example"],
    ]);
    expect(JSON.stringify(of)).not.toContain("secret-1");
  });

  it("records what was refused with its code, at most one a second, and no fault of a request that reads", async () => {
    await prepare("deleteAgent");
    const before = (await entries(client)).total;
    const missing = randomUUID();
    nowMs += 1_000;
    expect((await client.delete(`/api/agents/${missing}`)).status).toBe(404);
    expect((await client.delete(`/api/agents/${randomUUID()}`)).status).toBe(404);
    nowMs += 1_000;
    expect((await client.post("/api/agents", { name: "" })).status).toBe(400);
    expect((await client.get(`/api/agents/${missing}`)).status).toBe(404);
    const { results, total } = await entries(client);
    expect(total).toBe(before + 2);
    expect(results.slice(0, 2).map(({ operation, targetId, code }) => [operation, targetId, code])).toEqual([
      ["createAgent", null, "validation_failed"],
      ["deleteAgent", missing, "not_found"],
    ]);
  });

  it("has no entry of a change that was not stored, and makes no change whose entry cannot be stored", async () => {
    await prepare("createAgent");
    const { db } = current();
    await sql`alter table audit_entries add constraint refused check (target_name <> 'not recorded')`.execute(
      db.query,
    );
    try {
      const lost = await client.post("/api/agents", { name: "not recorded" });
      expect(lost.status).toBe(500);
    } finally {
      await sql`alter table audit_entries drop constraint refused`.execute(db.query);
    }
    expect((await client.get<Page>("/api/agents?search=not%20recorded")).json.total).toBe(0);
  });

  it("repeats no entry for a repeated request", async () => {
    await prepare("createAgent");
    const before = (await entries(client)).total;
    const headers = { "x-api-key": client.key, "idempotency-key": "once" };
    for (let i = 0; i < 3; i += 1) {
      const reply = await send(server, "POST", "/api/agents", { headers, body: { name: "once" } });
      expect(reply.status).toBe(201);
    }
    expect((await entries(client)).total).toBe(before + 1);
  });

  it("is filtered and paged", async () => {
    await prepare("createAgent");
    nowMs += 1_000;
    await client.delete(`/api/agents/${randomUUID()}`);
    const from = new Date().toISOString();
    const agent = `/api/agents/${ids["agent_id"]}`;
    for (const name of ["B", "C", "D"]) await client.patch(agent, { name });
    const all = await entries(client);
    const totals = async (...queries: string[]): Promise<number[]> =>
      Promise.all(queries.map(async (query) => (await entries(client, `?${query}`)).total));
    expect(
      await totals(
        "operation=updateAgent",
        "operation=updateagent",
        `targetId=${ids["agent_id"]}`,
        "result=refused",
        `keyPrefix=${client.prefix}`,
        "keyPrefix=Zzzzzzz9",
        "toDate=2020-01-01",
        `fromDate=${from}&operation=updateAgent`,
        "targetId=telephony1",
        "targetId=twilio",
      ),
    ).toEqual([3, 0, 4, 1, all.total, 0, 0, 3, 1, 1]);
    const seen: string[] = [];
    for (let next: string | null = "/api/audit_log?pageSize=2"; next !== null;) {
      const page: Page = (await client.get<Page>(next)).json;
      seen.push(...page.results.map(({ entryId }) => entryId));
      next = page.next;
    }
    expect(seen).toEqual(all.results.map(({ entryId }) => entryId));
    expect((await client.get("/api/audit_log?result=lost")).status).toBe(400);
  });

  it("is for its account and for keys with admin only", async () => {
    await prepare("createAgent");
    const stranger = await newClient(server, current().db);
    expect((await entries(stranger)).total).toBe(0);
    for (const scope of ["read", "calls"] as const) {
      const key = { name: scope, creator: null, expiryDate: null, scopes: [scope] };
      const { secret } = await createApiKey(current().db, client.accountId, key);
      const reply = await send(server, "GET", "/api/audit_log", { headers: { "x-api-key": secret } });
      expect([reply.status, reply.json["requiredScope"]]).toEqual([403, "admin"]);
    }
    // A change to another account's record is refused there, and is no entry of its owner.
    const before = (await entries(client)).total;
    nowMs += 1_000;
    expect((await stranger.delete(`/api/agents/${ids["agent_id"]}`)).status).toBe(404);
    expect((await entries(client)).total).toBe(before);
    expect((await entries(stranger)).results).toMatchObject([
      { operation: "deleteAgent", targetId: ids["agent_id"], targetName: null, code: "not_found" },
    ]);
  });

  it("writes carriers by their vendor names where the deployment says so", async () => {
    const base = testDeps(current());
    const vendor = await buildServer({ ...base, settings: { ...base.settings, apiNames: "vendor" } });
    const of = await newClient(vendor, current().db);
    await of.post("/api/telephony_configs/twilio", { accountSid: "AC0123", authToken: "0123456789" });
    expect((await entries(of, "?targetId=twilio")).results.map(({ targetId }) => targetId)).toEqual([
      "twilio",
    ]);
    await vendor.close();
  });
});
