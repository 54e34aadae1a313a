import type { CallUseRecord } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createAgent } from "../../store/agents/agents.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

const now = Date.parse("2026-04-10T12:34:56.000Z");

interface Series {
  readonly timeSeries: readonly {
    readonly timestamp: string;
    readonly maxTotalCalls: number;
    readonly avgTotalCalls: number;
    readonly avgJoinedCalls: number;
  }[];
}

describeOnBothDatabases("usage by REST", (current) => {
  let server: HttpServer;
  let client: Client;
  let agentId = "";

  beforeAll(async () => {
    const { db } = current();
    server = await openTestServer(current(), { nowMs: () => now });
    client = await newClient(server, db);
    ({ agentId } = await createAgent(db, client.accountId, { name: "A", callTemplate: null }));
    const { accountId } = client;
    for (const [created, joinedMs] of [
      ["2026-04-01T23:00:00.000Z", 9_000],
      ["2026-04-02T01:30:00.000Z", 90_000],
      ["2026-04-02T01:45:00.000Z", 0],
    ] as const) {
      const createdAtMs = Date.parse(created);
      const call = newCall({ createdAtMs, agentId: joinedMs === 90_000 ? null : agentId });
      await insertCall(db, accountId, call);
      const joined = { joinedAtMs: createdAtMs, clientVersion: null };
      if (joinedMs > 0) await markJoined(db, accountId, call.callId, joined);
      const endReason = joinedMs > 0 ? "hangup" : "system_error";
      const end = { endReason, endedAtMs: createdAtMs + joinedMs } as const;
      await markEnded(db, accountId, call.callId, end);
    }
  });
  afterAll(async () => {
    await server.close();
  });

  it("tells calls by day and hour", async () => {
    const { json } = await client.get("/api/accounts/me/usage/calls");
    const first = { totalCount: 1, errorCount: 0, joinedCount: 1, duration: "9s", billedMinutes: 0.2 };
    const second = { totalCount: 2, errorCount: 1, joinedCount: 1, duration: "90s", billedMinutes: 1.5 };
    expect(json).toEqual({
      allTime: { totalCount: 3, errorCount: 1, joinedCount: 2, duration: "99s", billedMinutes: 1.7 },
      daily: [
        { ...first, date: "2026-04-01" },
        { ...second, date: "2026-04-02" },
      ],
      hourly: [
        { ...first, date: "2026-04-01", hour: 23 },
        { ...second, date: "2026-04-02", hour: 1 },
      ],
    });
    const filtered = await client.get(`/api/accounts/me/usage/calls?agentIds=${agentId}&fromDate=2026-04-02`);
    expect(filtered.json["allTime"]).toEqual({
      totalCount: 1,
      errorCount: 1,
      joinedCount: 0,
      duration: "0s",
      billedMinutes: 0,
    });
    const none = await client.get("/api/accounts/me/usage/calls?metadata.a=b");
    expect(none.json).toMatchObject({ allTime: { totalCount: 0, duration: "0s" }, daily: [], hourly: [] });
    expect((await client.get("/api/accounts/me/usage/calls?pageSize=2")).status).toBe(400);
    for (const path of ["accounts/me/usage/calls", "agents/usage", "accounts/me/billing/usage", "calls"]) {
      const ancient = await client.get(`/api/${path}?fromDate=0000-01-01`);
      expect([path, ancient.status, ancient.json["errors"]]).toMatchObject([
        path,
        400,
        [{ field: "fromDate" }],
      ]);
    }
  });

  it("tells agents by day", async () => {
    const { json } = await client.get("/api/agents/usage");
    const usage = [
      { date: "2026-04-01", billedMinutes: 0.2, calls: 1 },
      { date: "2026-04-02", billedMinutes: 0, calls: 1 },
    ];
    expect(json).toEqual([{ agent: { agentId, name: "A" }, usage }]);
    expect((await client.get("/api/agents/usage?toDate=2026-03-01")).json).toEqual([]);
    expect((await client.post("/api/agents/usage")).headers["allow"]).toBe("GET, HEAD, OPTIONS");
  });

  it("tells billed minutes of days", async () => {
    const path = "/api/accounts/me/billing/usage";
    expect((await client.get(path)).json).toEqual({
      dailyUsage: [
        { date: "2026-04-01", minutes: 0.2, sipMinutes: 0 },
        { date: "2026-04-02", minutes: 1.5, sipMinutes: 0 },
      ],
      totalMinutes: 1.7,
      totalSipMinutes: 0,
    });
    const one = await client.get(`${path}?fromDate=2026-04-01&toDate=2026-04-01`);
    expect(one.json).toMatchObject({ dailyUsage: [{ minutes: 0.2 }], totalMinutes: 0.2 });
    for (const bad of ["fromDate=2026-02-30", "toDate=2026-04-01T00:00:00Z", "fromDate=yesterday"]) {
      expect([bad, (await client.get(`${path}?${bad}`)).status]).toEqual([bad, 400]);
    }
  });

  it("tells what engines were asked for, by default in the last 30 days", async () => {
    const { db } = current();
    const one = await newClient(server, db);
    const sums = {
      provider: "openai",
      model: "m",
      requests: 2,
      failures: 1,
      dropped: 0,
      latencies: 2,
      latencySumMs: 501,
      latencyMaxMs: 300,
      latencyMedianMs: 201,
      inputTokens: 1_200,
      cachedInputTokens: 200,
      outputTokens: 30,
      uncounted: 0,
      heardMs: 0,
      characters: 0,
      spokenMs: 0,
      costNanos: 1_250_000,
      unpriced: 0,
    };
    const use = {
      currency: "USD",
      engines: [
        { ...sums, kind: "llm", engine: "smart" },
        { ...sums, kind: "stt", engine: "ears", heardMs: 61_500, unpriced: 1, latencies: 0, costNanos: 0 },
      ],
    } as const;
    const made = async (created: string, engineUse: CallUseRecord) => {
      const createdAtMs = Date.parse(created);
      const call = newCall({ createdAtMs });
      await insertCall(db, one.accountId, call);
      const end = { endReason: "hangup", endedAtMs: createdAtMs + 1_000, use: engineUse } as const;
      await markEnded(db, one.accountId, call.callId, end);
    };
    await made("2026-03-11T23:59:59.000Z", { currency: null, engines: use.engines });
    await made("2026-03-12T00:00:00.000Z", use);
    // Of today, whatever day the server takes it for.
    const { json: created } = await one.post("/api/calls", { systemPrompt: "Be brief." });
    const callId = String(created["callId"]);
    await markEnded(db, one.accountId, callId, { endReason: "hangup", endedAtMs: Date.now(), use });
    const { json: call } = await one.get(`/api/calls/${callId}`);
    const cost = { amount: "0.00125", currency: "USD", isComplete: false, withoutPrice: ["ears"] };
    expect(call).toMatchObject({
      cost,
      engineUse: [
        {
          kind: "llm",
          engine: "smart",
          medianLatency: "0.201s",
          maxLatency: "0.3s",
          cost: "0.00125",
          cachedInputTokens: 200,
        },
        { kind: "stt", heard: "61.5s", medianLatency: "0.201s", maxLatency: null, unpricedRequests: 1 },
      ],
    });
    const path = "/api/accounts/me/usage/engines";
    const { json } = await one.get(path);
    expect(json).toMatchObject({
      fromDate: "2026-03-12",
      toDate: "2026-04-10",
      costs: [cost],
      engines: [
        { kind: "stt", engine: "ears", meanLatency: null, heard: "61.5s", currency: "USD" },
        { kind: "llm", engine: "smart", meanLatency: "0.251s", requests: 2, cost: "0.00125" },
      ],
    });
    const all = await one.get(`${path}?fromDate=2026-03-01`);
    expect(all.json["engines"]).toMatchObject([
      { kind: "stt" },
      { cost: null },
      { kind: "llm" },
      { cost: null },
    ]);
    expect((await one.get(`${path}?toDate=2026-03-11&fromDate=2026-03-11`)).json).toMatchObject({
      costs: [],
    });
    const wrong = await one.get(`${path}?fromDate=2026-04-11`);
    expect([wrong.status, wrong.json["errors"]]).toMatchObject([400, [{ field: "fromDate" }]]);
    expect((await client.get(path)).json).toMatchObject({ engines: [], costs: [] });
  });

  it("tells how many calls there were at a time", async () => {
    const { db } = current();
    const sample = async (at: string, total: number, joined: number): Promise<void> => {
      await sql`insert into concurrency_samples (account_id, at, node_id, total, joined)
        values (${client.accountId}, ${at}::timestamptz, 'n', ${total}, ${joined})`.execute(db.query);
    };
    await sample("2026-04-10T12:34:00.000Z", 6, 3);
    await sample("2026-04-10T12:34:50.000Z", 12, 3);
    await sample("2026-04-10T12:00:10.000Z", 36, 0);
    const path = "/api/accounts/me/usage/concurrency";
    const read = async (query: string): Promise<Series["timeSeries"]> => {
      const { status, json } = await client.get<Series>(`${path}${query}`);
      expect([query, status]).toEqual([query, 200]);
      return json.timeSeries;
    };
    const minutes = await read("");
    expect(minutes).toHaveLength(1_441);
    expect(minutes[0]?.timestamp).toBe("2026-04-09T12:34:00.000Z");
    // There are 6 moments: 0, 10, … 50 s.
    const last = { timestamp: "2026-04-10T12:34:00.000Z", maxTotalCalls: 12, maxJoinedCalls: 3 };
    expect(minutes.at(-1)).toEqual({ ...last, avgTotalCalls: 3, avgJoinedCalls: 1 });
    expect(minutes.at(-2)).toEqual({
      timestamp: "2026-04-10T12:33:00.000Z",
      maxTotalCalls: 0,
      maxJoinedCalls: 0,
      avgTotalCalls: 0,
      avgJoinedCalls: 0,
    });
    const five = await read("?bucket=5min&start=2026-04-10T11:59:59Z&end=2026-04-10T12:10:00Z");
    expect(five.map(({ timestamp, avgTotalCalls }) => [timestamp, avgTotalCalls])).toEqual([
      ["2026-04-10T11:55:00.000Z", 0],
      ["2026-04-10T12:00:00.000Z", 1.2],
      ["2026-04-10T12:05:00.000Z", 0],
    ]);
    const hours = await read("?bucket=hour&start=2026-04-10T10:00:00Z&end=2027-01-01");
    expect(hours.map(({ maxTotalCalls }) => maxTotalCalls)).toEqual([0, 0, 36]);
    const days = await read("?bucket=day&start=2026-04-09");
    expect(days.map(({ timestamp, maxTotalCalls }) => [timestamp, maxTotalCalls])).toEqual([
      ["2026-04-09T00:00:00.000Z", 0],
      ["2026-04-10T00:00:00.000Z", 36],
    ]);
    expect(await read("?start=2026-04-09T11:35:00Z")).toHaveLength(1_500);
    // 7 days ago, and the current hour.
    expect(await read("?start=2026-04-03T12:00:00Z&end=2026-04-03T12:10:00Z")).toHaveLength(10);
    expect(await read("?bucket=hour&start=2026-04-03T11:00:00Z&end=2026-04-03T12:00:00Z")).toHaveLength(1);
  });

  it.each([
    ["?start=2026-04-09T11:34:59Z", "bucket"],
    ["?bucket=day&start=2020-01-01", "bucket"],
    ["?start=2026-04-03T11:59:59Z&end=2026-04-03T13:00:00Z", "bucket"],
    ["?bucket=5min&start=2026-04-03T11:59:00Z&end=2026-04-03T13:00:00Z", "bucket"],
    ["?bucket=minute&start=2025-01-01T00:00:00Z&end=2025-01-01T01:00:00Z", "bucket"],
    ["?bucket=5min&start=2026-04-10T12:00:00Z&end=2026-04-10T12:00:00Z", "start"],
    ["?start=2026-04-10T13:00:00Z", "start"],
    ["?bucket=week", "bucket"],
    ["?start=now", "start"],
  ])("refuses %s", async (query, field) => {
    const { status, json } = await client.get(`/api/accounts/me/usage/concurrency${query}`);
    expect([status, (json["errors"] as { field: string }[] | undefined)?.map((each) => each.field)]).toEqual([
      400,
      [field],
    ]);
  });
});
