import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { contextChecker } from "../../../lifecycle/create/schema-checks.ts";
import { directSchemaChecks } from "../../../lifecycle/create/testing/schema-checks.ts";
import { openTemplateParser } from "../../../providers/templates/mustache.ts";
import { removeAccount } from "../../../store/accounts/accounts.ts";
import { sweepHiddenBatches } from "../../../store/batches/batches.ts";
import { describeOnBothDatabases } from "../../../store/testing/databases.ts";
import type { HttpServer } from "../../deps.ts";
import {
  at,
  type BatchesApi,
  type BatchJson,
  dial,
  dialled,
  errorsOf,
  joined,
  MADE_SECRET,
  nowMs,
  openBatches,
} from "../../testing/batches.ts";
import { type Client, newClient, openTestServer, type Reply } from "../../testing/http-fixture.ts";

interface Page<Row> {
  readonly results: readonly Row[];
  readonly next: string | null;
  readonly total: number;
}

const parseTemplate = openTemplateParser();

describeOnBothDatabases("batches", (current) => {
  let woken: number;
  let server: HttpServer;
  let client: Client;
  let agentId: string;
  let url: string;
  let newAgent: BatchesApi["newAgent"];
  let create: BatchesApi["create"];

  beforeEach(async () => {
    woken = 0;
    ({ server, client, agentId, url, newAgent, create } = await openBatches(current(), {
      dispatchBatches: () => void (woken += 1),
      contextChecker: (accountId, template) =>
        contextChecker(accountId, template, { parseTemplate, ...directSchemaChecks }),
    }));
  });

  const refused = async (body: object, at = url): Promise<unknown> => errorsOf(await client.post(at, body));

  it("are created, read, listed and deleted", async () => {
    const made = await client.post<BatchJson>(url, dialled);
    const { batchId } = made.json;
    expect(woken).toBe(1);
    expect(made.headers["location"]).toBe(`https://voice.example${url}/${batchId}`);
    expect(made.json).toEqual({
      batchId,
      created: expect.any(String) as string,
      windowStart: null,
      windowEnd: null,
      throttle: null,
      webhookUrl: null,
      webhookSecret: expect.stringMatching(MADE_SECRET) as string,
      paused: false,
      totalCount: 2,
      completedCount: 0,
      failedCount: 0,
      endedAt: null,
      name: null,
      retryPolicy: null,
      callingHours: null,
      maxAttemptsPerNumberPerDay: null,
      respectDoNotCall: true,
      pauseOnFailureRate: 0.5,
      pauseReason: null,
    });
    const one = `${url}/${batchId}`;
    expect((await client.get(one)).json).toEqual(made.json);
    const second = await create();
    const { json } = await client.get<Page<BatchJson>>(url);
    expect(json.results).toEqual([second, made.json]);
    const other = `/api/agents/${await newAgent()}/scheduled_batches`;
    expect((await client.get<Page<BatchJson>>(other)).json.total).toBe(0);
    expect((await client.get(`${other}/${batchId}`)).status).toBe(404);
    expect((await client.delete(`${other}/${batchId}`)).status).toBe(404);
    expect((await client.delete(one)).status).toBe(204);
    for (const reply of [
      await client.get(one),
      await client.patch(one),
      await client.delete(one),
      await client.get(`${one}/scheduled_calls`),
      await client.get(`${one}/created_calls`),
    ]) {
      expect([reply.status, reply.json["code"]]).toEqual([404, "not_found"]);
    }
    const gone = `/api/agents/${randomUUID()}/scheduled_batches`;
    expect([(await client.get(gone)).status, (await client.post(gone, dialled)).status]).toEqual([404, 404]);
  });

  it("keep every setting, and their secrets sealed", async () => {
    const body = {
      calls: [
        { medium: { sip: { outgoing: { to: "sip:a@b.example", from: "c", password: "sip-password" } } } },
        {},
      ],
      windowStart: "2030-01-01T14:00:00+01:00",
      windowEnd: "2030-01-02T00:00:00",
      webhookUrl: "https://hooks.example/join",
      webhookSecret: "own-secret",
      paused: true,
      name: "Reminders “Ann”",
      retryPolicy: { maxAttempts: 3, wait: "600s", on: ["busy"] },
      callingHours: { timeZone: "callee", days: ["mon"], start: "09:00", end: "18:00" },
      maxAttemptsPerNumberPerDay: 2,
      respectDoNotCall: false,
      pauseOnFailureRate: 0,
    };
    const { calls, ...settings } = body;
    const batch = await create(body);
    expect(batch).toMatchObject({
      ...settings,
      windowStart: at("13:00:00"),
      windowEnd: "2030-01-02T00:00:00.000Z",
    });
    const { db } = current();
    const stored =
      await sql`select * from scheduled_batches as b join scheduled_calls as c on c.batch_id = b.id
      where b.account_id = ${client.accountId}`.execute(db.query);
    expect(stored.rows).toHaveLength(calls.length);
    expect(JSON.stringify(stored.rows)).not.toMatch(/own-secret|sip-password/);
    const list = await client.get(`${url}/${batch.batchId}/scheduled_calls`);
    expect(list.text).not.toContain("sip-password");
    expect(list.json["results"]).toMatchObject([
      { medium: { sip: { outgoing: { to: "sip:a@b.example", from: "c" } } } },
      {},
    ]);
  });

  it("list their calls in the order given, page by page and by status", async () => {
    const calls = Array.from({ length: 45 }, (_, index) => ({
      ...dial(`+4930${index}1`),
      ...(index === 0
        ? { metadata: { n: "0" }, templateContext: { b: 1, a: [null] }, experimentalSettings: { x: 1 } }
        : { metadata: { n: String(index) } }),
    }));
    const { batchId } = await create({ calls });
    const { db } = current();
    await sql`update scheduled_calls set status = 'ERROR', error = 'no carrier'
      where batch_id = ${batchId} and position = 7`.execute(db.query);
    const numbers: unknown[] = [];
    let next: string | null = `${url}/${batchId}/scheduled_calls`;
    const first = await client.get<Page<Record<string, unknown>>>(next);
    expect(first.json.results[0]).toEqual({
      status: "FUTURE",
      batchId,
      callId: null,
      error: null,
      ...calls[0],
    });
    expect(first.json.results[1]).toMatchObject({ templateContext: null, experimentalSettings: null });
    expect(first.json.results[7]).toMatchObject({ status: "ERROR", error: "no carrier" });
    while (next !== null) {
      const { json }: Reply<Page<{ metadata: { n: string } }>> = await client.get(next);
      expect(json.total).toBe(45);
      numbers.push(...json.results.map(({ metadata }) => Number(metadata.n)));
      next = json.next;
    }
    expect(numbers).toEqual(calls.map((_, index) => index));
    const totals: Record<string, number> = {};
    for (const status of ["FUTURE", "PENDING", "SUCCESS", "EXPIRED", "ERROR"]) {
      const { json } = await client.get<Page<unknown>>(`${url}/${batchId}/scheduled_calls?status=${status}`);
      totals[status] = json.total;
    }
    expect(totals).toEqual({ FUTURE: 44, PENDING: 0, SUCCESS: 0, EXPIRED: 0, ERROR: 1 });
    for (const status of ["", "future", "LATER"]) {
      const reply = await client.get(`${url}/${batchId}/scheduled_calls?status=${status}`);
      expect([reply.status, errorsOf(reply)]).toEqual([
        400,
        ["status: must be one of FUTURE, PENDING, SUCCESS, EXPIRED, ERROR"],
      ]);
    }
  });

  it("list the calls that they have created", async () => {
    const { db } = current();
    const { batchId } = await create();
    const callIds: string[] = [];
    for (const _ of [1, 2]) {
      callIds.push(String((await client.post(`/api/agents/${agentId}/calls`)).json["callId"]));
    }
    const [callId = ""] = callIds;
    const list = async (): Promise<unknown> =>
      (await client.get<Page<{ callId: string }>>(`${url}/${batchId}/created_calls`)).json.results.map(
        ({ callId }) => callId,
      );
    expect(await list()).toEqual([]);
    await sql`update scheduled_calls set status = 'SUCCESS', call_id = ${callId}
      where batch_id = ${batchId} and position = 1`.execute(db.query);
    expect(await list()).toEqual([callId]);
    expect((await client.delete(`${url}/${batchId}`)).status).toBe(204);
    expect((await client.get(`/api/calls/${callId}`)).status).toBe(200);
  });

  it.each([
    ["no calls", {}, ["calls: is required"]],
    ["an empty list", { calls: [] }, ["calls: must have at least 1 entry"]],
    [
      "one bad call",
      { calls: [...Array<object>(17).fill(dial("+491")), { medium: { telephony1: {}, webRtc: {} } }] },
      [
        "calls.17.medium: must have at most one of webRtc, telephony1, serverWebSocket, telephony2, telephony3, " +
          "telephony4, sip; it has webRtc and telephony1",
      ],
    ],
    [
      "problems everywhere",
      { calls: [{ phone: "1" }], paused: "yes", colour: "red" },
      [
        "colour: is not a known field",
        "paused: must be true or false",
        "calls.0.phone: is not a known field",
      ],
    ],
    [
      "a call to be joined that nobody is told of",
      { calls: [dial("+491"), { medium: { telephony1: {} } }] },
      ["webhookUrl: is required, because not every call has an outgoing medium"],
    ],
    [
      "somebody to be told of nothing",
      { ...dialled, webhookUrl: "https://hooks.example" },
      ["webhookUrl: must not be given, because every call has an outgoing medium"],
    ],
    [
      "a private address",
      { ...joined, webhookUrl: "http://127.0.0.1/" },
      ["webhookUrl: is not allowed: address not allowed"],
    ],
    [
      "a window that ends before it begins",
      { ...dialled, windowStart: at("14:00:00"), windowEnd: at("13:00:00") },
      ["windowEnd: must be after windowStart"],
    ],
    [
      "a window of the past",
      { ...dialled, windowEnd: at("12:00:00") },
      ["windowEnd: must not be in the past"],
    ],
    [
      "an unknown throttle",
      { ...dialled, throttle: "slow" },
      ["throttle: is not a call throttle of this account"],
    ],
  ])("are refused with %s", async (_, body, problems) => {
    expect(await refused(body)).toEqual(problems);
    expect((await client.get<Page<BatchJson>>(url)).json.total).toBe(0);
  });

  it("are refused when the window is too short for their throttle, by name or by id", async () => {
    const rules = [{ maxCalls: 1, windowSeconds: 600 }];
    const throttle = await client.post("/api/call_throttles", { name: "slow", rules });
    const throttleId = String(throttle.json["throttleId"]);
    const short = "windowEnd: leaves too short a window: 3 calls at the allowed rate need at least 1200s";
    const calls = [dial("+491"), dial("+492"), dial("+493")];
    for (const throttle of ["slow", throttleId.toUpperCase()]) {
      expect(await refused({ calls, throttle, windowEnd: at("12:19:59") })).toEqual([short]);
      expect(await create({ calls, throttle, windowEnd: at("12:20:00") })).toMatchObject({ throttle });
      expect(await create({ calls, throttle })).toMatchObject({ throttle, windowEnd: null });
    }
    const batch = await create({ calls, windowEnd: at("12:19:59") });
    const one = `${url}/${batch.batchId}`;
    expect(errorsOf(await client.patch(one, { throttle: "slow" }))).toEqual([short]);
    expect((await client.patch(one, { throttle: "slow", windowEnd: null })).status).toBe(200);
    expect(errorsOf(await client.patch(one, { windowEnd: at("12:19:59") }))).toEqual([short]);
    await client.post("/api/call_throttles", { name: "slow", rules });
    expect(await refused({ calls, throttle: "slow" })).toEqual([
      "throttle: is the name of several call throttles; give the id of one",
    ]);
    const stranger = await newClient(server, current().db);
    const agent = await stranger.post("/api/agents", {});
    const theirs = `/api/agents/${String(agent.json["agentId"])}/scheduled_batches`;
    expect(errorsOf(await stranger.post(theirs, { calls, throttle: throttleId }))).toEqual([
      "throttle: is not a call throttle of this account",
    ]);
  });

  it("have windows that hold their calls at the rate of the deployment", async () => {
    const calls = [{}, {}, {}].map(() => dial("+49301"));
    const short = "windowEnd: leaves too short a window: 3 calls at the allowed rate need at least 1200s";
    const rated = await openTestServer(current(), {
      nowMs: () => nowMs,
      accountRates: [{ maxCalls: 1, windowSeconds: 600 }],
    });
    const their = await newClient(rated, current().db);
    const agent = await their.post("/api/agents", { name: "A" });
    const theirs = `/api/agents/${String(agent.json["agentId"])}/scheduled_batches`;
    expect(errorsOf(await their.post(theirs, { calls, windowEnd: at("12:19:59") }))).toEqual([short]);
    expect((await their.post(theirs, { calls, windowEnd: at("12:20:00") })).status).toBe(201);
  });

  it("are refused with contexts that do not fit the agent's template, each by its place", async () => {
    const callTemplate = { systemPrompt: "{{guest.name}} in {{room}}" };
    const theirs = `/api/agents/${await newAgent(callTemplate)}/scheduled_batches`;
    const good = { ...dial("+491"), templateContext: { guest: { name: "Ada" }, room: 1, more: true } };
    const calls: object[] = Array.from({ length: 120 }, () => good);
    expect((await client.post(theirs, { calls })).status).toBe(201);
    calls[3] = dial("+492");
    calls[101] = { ...good, templateContext: { guest: {}, room: 1 } };
    expect(await refused({ calls, windowEnd: at("12:00:00") }, theirs)).toEqual([
      "windowEnd: must not be in the past",
      "calls.3.templateContext.guest: is required",
      "calls.3.templateContext.room: is required",
      "calls.101.templateContext.guest.name: is required",
    ]);
    const bad = (await refused({ calls: Array(120).fill(dial("+1")) }, theirs)) as string[];
    expect([bad.length, bad[100]]).toEqual([101, "calls: have more problems than are listed here"]);
  });

  it("take the agent's medium for calls without their own", async () => {
    const outgoing = { to: "+491", from: "+492" };
    const theirs = `/api/agents/${await newAgent({ medium: { telephony2: { outgoing } } })}/scheduled_batches`;
    expect(await create({ calls: [{}] }, theirs)).toMatchObject({ webhookUrl: null });
    expect(await refused({ calls: [{ medium: { webRtc: {} } }] }, theirs)).toHaveLength(1);
  });

  it("go with their agent, and with their account", async () => {
    const { db } = current();
    const kept = await newAgent();
    const staying = await create(dialled, `/api/agents/${kept}/scheduled_batches`);
    const { batchId } = await create();
    expect((await client.delete(`/api/agents/${agentId}`)).status).toBe(204);
    expect((await client.get(`${url}/${batchId}`)).status).toBe(404);
    const left = async (): Promise<unknown> =>
      (
        await sql<{ id: string }>`select distinct batch_id as id from scheduled_calls
          where batch_id = any(${[batchId, staying.batchId]}::uuid[])`.execute(db.query)
      ).rows.map(({ id }) => id);
    while (await sweepHiddenBatches(db));
    expect(await left()).toEqual([staying.batchId]);
    await client.post("/api/webhooks", { url: "https://a.example", events: ["call.ended"], agentId: kept });
    expect(await removeAccount(db, client.accountId)).toBe(true);
    expect(await left()).toEqual([]);
  });

  it("may be larger than other bodies", async () => {
    const note = "x".repeat(60_000);
    const calls = Array.from({ length: 40 }, () => ({ ...dial("+491"), metadata: { note } }));
    const batch = await create({ calls });
    expect(batch).toMatchObject({ totalCount: 40 });
    const page = await client.get<Page<unknown>>(`${url}/${batch.batchId}/scheduled_calls?pageSize=100`);
    expect([page.json.results.length, page.text.length > 40 * note.length]).toEqual([40, true]);
  });
});
