import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

interface WebhookJson {
  readonly webhookId: string;
  readonly secrets: readonly string[];
  readonly [field: string]: unknown;
}

const MADE_SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const body = { url: "https://hooks.example/calls", events: ["call.ended", "call.billed"] };

describeOnBothDatabases("webhooks", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current(), {
      refusedTarget: (url) => (url.includes("127.0.0.1") ? "address not allowed" : null),
    });
    client = await newClient(server, current().db);
  });

  const create = async (changes: object = {}): Promise<WebhookJson> => {
    const { status, json } = await client.post<WebhookJson>("/api/webhooks", { ...body, ...changes });
    expect(status).toBe(201);
    return json;
  };
  const newAgent = async (): Promise<string> =>
    String((await client.post("/api/agents", { name: "A" })).json["agentId"]);
  const problems = async (changes: object): Promise<unknown> =>
    (await client.post("/api/webhooks", { ...body, ...changes })).json["errors"];

  it("are created, read, listed, changed, replaced and deleted", async () => {
    const agentId = await newAgent();
    const made = await client.post<WebhookJson>("/api/webhooks", { ...body, agentId, secrets: ["s1", "s2"] });
    const { webhookId } = made.json;
    const url = `/api/webhooks/${webhookId}`;
    expect(made.headers["location"]).toBe(`https://voice.example${url}`);
    expect(made.json).toEqual({
      webhookId: expect.any(String) as string,
      created: expect.any(String) as string,
      ...body,
      agentId,
      secrets: ["s1", "s2"],
      status: "normal",
      lastStatusChange: null,
      recentFailures: [],
    });
    expect((await client.get(url)).json).toEqual(made.json);
    // A record that was fetched may be sent back.
    expect((await client.put(url, made.json)).json).toEqual(made.json);
    expect((await client.patch(url, made.json)).json).toEqual(made.json);
    expect((await client.patch(url, {})).json).toEqual(made.json);
    const changed = await client.patch(url, { url: "http://other.example:8080/x", events: ["call.joined"] });
    const shown = { ...made.json, url: "http://other.example:8080/x", events: ["call.joined"] };
    expect(changed.json).toEqual(shown);
    const replaced = await client.put<WebhookJson>(url, body);
    expect(replaced.json).toMatchObject({ ...body, agentId: null });
    expect(replaced.json.secrets).toEqual([expect.stringMatching(MADE_SECRET)]);
    expect((await client.delete(url)).status).toBe(204);
    for (const reply of [
      await client.get(url),
      await client.put(url, body),
      await client.patch(url, {}),
      await client.delete(url),
    ]) {
      expect([reply.status, reply.json["code"]]).toEqual([404, "not_found"]);
    }
  });

  it("are listed newest first, by agent where one is asked for", async () => {
    const agentId = await newAgent();
    const ids: string[] = [];
    for (const changes of [{}, { agentId }, {}]) ids.push((await create(changes)).webhookId);
    const list = async (query: string): Promise<unknown> => {
      const { json } = await client.get<{ results: WebhookJson[]; total: number }>(`/api/webhooks${query}`);
      return [json.results.map(({ webhookId }) => webhookId), json.total];
    };
    expect(await list("")).toEqual([ids.toReversed(), 3]);
    expect(await list(`?agentId=${agentId.toUpperCase()}`)).toEqual([[ids[1]], 1]);
    expect(await list(`?agentId=${randomUUID()}`)).toEqual([[], 0]);
    expect((await client.get("/api/webhooks?agentId=x")).status).toBe(400);
  });

  it("have a secret of their own where none is given, and keep theirs sealed", async () => {
    const { db } = current();
    const made = [await create(), await create({ secrets: [] }), await create({ secrets: null })];
    const secrets = made.flatMap((webhook) => webhook.secrets);
    expect(secrets).toHaveLength(3);
    expect(new Set(secrets).size).toBe(3);
    for (const secret of secrets) expect(secret).toMatch(MADE_SECRET);
    const rows = await db.query
      .selectFrom("webhooks")
      .selectAll()
      .where("account_id", "=", client.accountId)
      .execute();
    expect(JSON.stringify(rows)).not.toContain("whsec_");
    const url = `/api/webhooks/${made[0]?.webhookId ?? ""}`;
    expect((await client.patch(url, { secrets: ["own"] })).json["secrets"]).toEqual(["own"]);
    for (const none of [[], null]) {
      const { json } = await client.patch<WebhookJson>(url, { secrets: none });
      expect(json.secrets).toEqual([expect.stringMatching(MADE_SECRET)]);
      expect(secrets).not.toContain(json.secrets[0]);
    }
  });

  it.each([
    ["no url", { url: undefined }, "url", "is required"],
    [
      "another scheme",
      { url: "ftp://a.example" },
      "url",
      "must be a URL that begins with http:// or https://",
    ],
    [
      "a long url",
      { url: `https://a.example/${"x".repeat(183)}` },
      "url",
      "must have at most 200 characters",
    ],
    ["a private address", { url: "http://127.0.0.1/x" }, "url", "is not allowed: address not allowed"],
    ["no events", { events: [] }, "events", "must have at least 1 entry"],
    ["events of null", { events: null }, "events", "must be a list"],
    [
      "an unknown event",
      { events: ["call.ended", "call.lost"] },
      "events.1",
      "must be one of call.started, call.joined, call.ended, call.billed",
    ],
    ["an unknown agent", { agentId: randomUUID() }, "agentId", "is not an agent of this account"],
    ["an agent that is no id", { agentId: "x" }, "agentId", "must be a UUID"],
    ["an empty secret", { secrets: ["a", ""] }, "secrets.1", "must not be empty"],
    ["a long secret", { secrets: ["x".repeat(121)] }, "secrets.0", "must have at most 120 characters"],
    ["too many secrets", { secrets: Array(11).fill("a") }, "secrets", "must have at most 10 entries"],
    ["an unknown status", { status: "ill" }, "status", "must be one of normal, unhealthy"],
  ])("are refused with %s", async (_, changes, field, message) => {
    expect(await problems(changes)).toEqual([{ field, message }]);
  });

  it("are refused in changes by the same rules, and in them nothing that a webhook needs may be cleared", async () => {
    const { webhookId } = await create();
    const url = `/api/webhooks/${webhookId}`;
    const refused = async (changes: object): Promise<unknown> =>
      (await client.patch(url, changes)).json["errors"];
    const needed = [
      { field: "url", message: "must not be null" },
      { field: "events", message: "must not be null" },
    ];
    expect(await refused({ url: null, events: null })).toEqual(needed);
    expect(await refused({ url: "http://127.0.0.1" })).toHaveLength(1);
    expect((await client.put(url, { ...body, url: "http://127.0.0.1" })).status).toBe(400);
    const agentId = randomUUID();
    expect(await refused({ agentId })).toEqual([
      { field: "agentId", message: "is not an agent of this account" },
    ]);
    expect((await client.put(url, { ...body, agentId })).status).toBe(400);
    // The search text comes before its replacement.
    expect((await client.patch(`/api/webhooks/${randomUUID()}`, { agentId })).status).toBe(404);
  });

  it("take the longest url, repeated events once, and the most secrets", async () => {
    const url = `https://a.example/${"x".repeat(182)}`;
    const secrets = Array.from({ length: 10 }, () => "ü".repeat(120));
    const events = ["call.ended", "call.started", "call.ended", "call.joined", "call.billed", "call.started"];
    const webhook = await create({ url, secrets, events });
    expect(webhook).toMatchObject({
      url,
      secrets,
      events: ["call.ended", "call.started", "call.joined", "call.billed"],
    });
  });

  it("become normal again by a request, and never unhealthy by one", async () => {
    const { db } = current();
    const { webhookId } = await create({ status: "unhealthy" });
    const url = `/api/webhooks/${webhookId}`;
    const healthy = { status: "normal", lastStatusChange: null };
    expect((await client.get(url)).json).toMatchObject(healthy);
    expect((await client.patch(url, { status: "unhealthy" })).json).toMatchObject(healthy);
    expect((await client.patch(url, { status: "normal" })).json).toMatchObject(healthy);
    const recent_failures = JSON.stringify([{ timestamp: "2026-01-02T03:04:05.678Z", failure: "HTTP 500" }]);
    const ill = async (): Promise<void> => {
      await db.query
        .updateTable("webhooks")
        .set({ status: "unhealthy", failures_in_row: 5, last_status_change_at: new Date(0), recent_failures })
        .where("id", "=", webhookId)
        .execute();
    };
    await ill();
    const updated = await client.patch(url, { status: "unhealthy", events: ["call.joined"] });
    expect(updated.json).toMatchObject({ status: "unhealthy", lastStatusChange: "1970-01-01T00:00:00.000Z" });
    for (const reset of [
      async () => client.patch(url, { status: "normal" }),
      async () => client.put(url, { ...body, status: "normal" }),
    ]) {
      await ill();
      const { json } = await reset();
      expect(json["status"]).toBe("normal");
      expect(Date.parse(String(json["lastStatusChange"]))).toBeGreaterThan(Date.now() - 60_000);
      expect(json["recentFailures"]).toEqual([
        { timestamp: "2026-01-02T03:04:05.678Z", failure: "HTTP 500" },
      ]);
      const row = await db.query
        .selectFrom("webhooks")
        .select("failures_in_row")
        .where("id", "=", webhookId)
        .executeTakeFirst();
      expect(row).toEqual({ failures_in_row: 0 });
    }
  });

  it("are a hundred of an account at most, however many are made at a time", async () => {
    await Promise.all(Array.from({ length: 95 }, async () => create()));
    const made = await Promise.all(
      Array.from({ length: 10 }, async () => client.post("/api/webhooks", body)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(5);
    const message = "is one webhook too many: an account has at most 100";
    expect(await problems({})).toEqual([{ field: "", message }]);
    const { results } = (await client.get<{ results: WebhookJson[] }>("/api/webhooks")).json;
    await client.delete(`/api/webhooks/${results[0]?.webhookId ?? ""}`);
    await create();
  });

  it("go with the agent that they are limited to", async () => {
    const [agentId, otherId] = [await newAgent(), await newAgent()];
    const theirs = await create({ agentId });
    const staying = [await create(), await create({ agentId: otherId })];
    expect((await client.delete(`/api/agents/${agentId}`)).status).toBe(204);
    expect((await client.get(`/api/webhooks/${theirs.webhookId}`)).status).toBe(404);
    for (const { webhookId } of staying)
      expect((await client.get(`/api/webhooks/${webhookId}`)).status).toBe(200);
    expect(await problems({ agentId })).toEqual([
      { field: "agentId", message: "is not an agent of this account" },
    ]);
  });

  it("show their deliveries, are sent samples, and get deliveries again", async () => {
    const { webhookId } = await create({ events: ["call.joined"] });
    const base = `/api/webhooks/${webhookId}`;
    const sample = await client.post(`${base}/test`, {});
    expect(sample.status).toBe(202);
    expect(sample.json).toMatchObject({ webhookId, event: "call.ended", status: "pending", attempts: [] });
    const second = await client.post(`${base}/test`, { event: "call.started" });
    expect(second.json["event"]).toBe("call.started");
    const listed = await client.get<{ results: object[]; total: number }>(
      `${base}/deliveries?status=pending`,
    );
    expect(listed.json.total).toBe(2);
    expect(listed.json.results[1]).toEqual(sample.json);
    expect((await client.get<{ total: number }>(`${base}/deliveries?status=failed`)).json.total).toBe(0);
    const again = await client.post(`${base}/deliveries/${String(sample.json["deliveryId"])}/redeliver`);
    expect([again.status, again.json["status"]]).toEqual([202, "pending"]);
    const page = await client.get<{ results: object[]; next: string | null }>(
      `${base}/deliveries?pageSize=1`,
    );
    expect(page.json.next).not.toBeNull();
  });

  it("hide the deliveries of others", async () => {
    const { webhookId } = await create();
    const delivery = randomUUID();
    const requested = async (id: string, by: Client): Promise<unknown[]> =>
      [
        await by.post(`/api/webhooks/${id}/test`),
        await by.get(`/api/webhooks/${id}/deliveries?status=failed`),
        await by.post(`/api/webhooks/${id}/deliveries/${delivery}/redeliver`),
      ].map(({ status }) => status);
    expect(await requested(webhookId, client)).toEqual([202, 200, 404]);
    expect(await requested(randomUUID(), client)).toEqual([404, 404, 404]);
    expect(await requested(webhookId, await newClient(server, current().db))).toEqual([404, 404, 404]);
    const test = await client.post(`/api/webhooks/${webhookId}/test`, { event: "call.lost" });
    expect(test.status).toBe(400);
    expect((await client.get(`/api/webhooks/${webhookId}/deliveries?status=`)).status).toBe(400);
  });
});
