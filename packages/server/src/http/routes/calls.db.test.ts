import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { appendCallEvent, type NewCallEvent } from "../../store/calls/call-events.ts";
import { markJoined } from "../../store/calls/calls.ts";
import { markEnded } from "../../store/testing/calls.ts";
import { appendMessage, type NewMessage } from "../../store/calls/messages.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { CreateCallInput } from "../../lifecycle/api.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, PUBLIC_URL, storeCall } from "../testing/http-fixture.ts";

interface Paged<T = Record<string, unknown>> {
  readonly results: readonly T[];
  readonly next: string | null;
  readonly total: number;
  readonly totalRelation?: string;
}

const medium = { serverWebSocket: { inputSampleRate: 16000 } };
const missing = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

const message: NewMessage = {
  index: 0,
  role: "user",
  text: "Hello?",
  medium: "voice",
  invocationId: null,
  toolName: null,
  errorDetails: null,
  timespan: { startMs: 1000, endMs: 1384 },
  wallClockTimespan: { startMs: 1100, endMs: 1500 },
  metadata: {},
};

const event: NewCallEvent = {
  stageId: "",
  callTimestampMs: 1500,
  wallClockTimestampMs: 1600,
  severity: "info",
  type: "call.joined",
  text: "The call was joined.",
  extras: null,
};

describeOnBothDatabases("calls by REST", (current) => {
  let server: HttpServer;
  let client: Client;
  let created: CreateCallInput[] = [];

  beforeAll(async () => {
    const { db } = current();
    server = await openTestServer(current(), {
      createCall: async (input) => {
        created.push(input);
        if ((input.request as { systemPrompt?: string }).systemPrompt === "refuse") {
          return { kind: "not_available", reason: "medium: webRtc is not available in this version" };
        }
        return storeCall(db)(input);
      },
    });
  });
  beforeEach(async () => {
    created = [];
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  async function newCall(body: object = {}): Promise<{ callId: string; stageId: string }> {
    const made = await client.post("/api/calls", { medium, ...body });
    expect(made.status).toBe(201);
    const callId = String(made.json["callId"]);
    const stages = await client.get<Paged>(`/api/calls/${callId}/stages`);
    return { callId, stageId: String(stages.json.results[0]?.["callStageId"]) };
  }

  async function end(callId: string): Promise<void> {
    const { db } = current();
    await markJoined(db, client.accountId, callId, { joinedAtMs: Date.now() - 2500, clientVersion: "web 1" });
    const endedAtMs = Date.now();
    await markEnded(db, client.accountId, callId, { endReason: "hangup", endedAtMs });
  }

  describe("creation", () => {
    it("answers the whole call with its join URL", async () => {
      const made = await client.post("/api/calls?enableGreetingPrompt=false", {
        medium,
        system_prompt: "Be brief.",
        metadata: { color: "red" },
        joinTimeout: "45.0s",
      });
      expect(made.status).toBe(201);
      const { json } = made;
      const callId = String(json["callId"]);
      expect(made.headers["location"]).toBe(`${PUBLIC_URL}/api/calls/${callId}`);
      expect(json["joinUrl"]).toMatch(
        new RegExp(`^wss://voice\\.example/calls/${callId}/server_web_socket/[\\w-]{20,}$`),
      );
      expect(json).toMatchObject({
        agent: null,
        agentId: null,
        joined: null,
        ended: null,
        endReason: null,
        hasErrors: false,
        firstWords: null,
        caller: null,
        medianReplyWait: null,
        engineUse: null,
        cost: null,
        clientVersion: null,
        billedDuration: null,
        billedSideInputTokens: null,
        billedSideOutputTokens: null,
        billingStatus: "BILLING_STATUS_PENDING",
        firstSpeaker: "FIRST_SPEAKER_AGENT",
        firstSpeakerSettings: { agent: {} },
        initialOutputMedium: "MESSAGE_MEDIUM_VOICE",
        joinTimeout: "45s",
        maxDuration: "3600s",
        medium,
        model: "default",
        systemPrompt: "Be brief.",
        temperature: 0,
        shortSummary: null,
        summary: null,
        experimentalSettings: null,
        metadata: { color: "red" },
        initialState: {},
        requestContext: null,
        sipDetails: null,
      });
      expect(created).toEqual([
        expect.objectContaining({
          accountId: client.accountId,
          agentId: null,
          query: { enableGreetingPrompt: false },
        }),
      ]);
      expect((await client.get(`/api/calls/${callId}`)).json).toEqual(json);
    });

    it("hands on what call creation refuses", async () => {
      const { status, json } = await client.post("/api/calls", { systemPrompt: "refuse" });
      expect([status, json["code"]]).toEqual([501, "not_available"]);
      expect((await client.get<Paged>("/api/calls")).json.total).toBe(0);
    });

    it("makes calls of an agent, which the agent counts and lists", async () => {
      const agent = await client.post("/api/agents", { name: "A", callTemplate: { medium } });
      const agentId = String(agent.json["agentId"]);
      const path = `/api/agents/${agentId}/calls?madeInConsole=true`;
      const made = await client.post(path, { templateContext: { a: 1 } });
      expect(made.status).toBe(201);
      expect(made.json).toMatchObject({ agent: { agentId, name: "A" }, agentId });
      const input = { agentId, request: { templateContext: { a: 1 } }, query: { madeInConsole: true } };
      expect(created[0]).toMatchObject(input);
      await newCall();
      const list = await client.get<Paged>(`/api/agents/${agentId}/calls`);
      expect(list.json.results.map((call) => call["callId"])).toEqual([made.json["callId"]]);
      expect((await client.get(`/api/agents/${agentId}`)).json["statistics"]).toEqual({ calls: 1 });
      await client.delete(`/api/agents/${agentId}`);
      const after = await client.get(`/api/calls/${String(made.json["callId"])}`);
      expect(after.json["agent"]).toEqual({ agentId, name: "A" });
      expect((await client.get(`/api/agents/${agentId}/calls`)).status).toBe(404);
    });

    it("is 404 for an agent that does not exist", async () => {
      expect((await client.post(`/api/agents/${missing}/calls`)).status).toBe(404);
      expect((await client.post("/api/agents/x/calls")).status).toBe(404);
    });

    it("is refused with 503 while draining, as is readiness; reading continues", async () => {
      const draining = await openTestServer(current());
      const own = await newClient(draining, current().db);
      expect((await own.get("/readyz")).status).toBe(200);
      draining.drain();
      const refused = await own.post("/api/calls", { medium });
      expect([refused.status, refused.json["code"]]).toEqual([503, "no_capacity"]);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      const ready = await own.get("/readyz");
      expect([ready.status, ready.json["code"]]).toEqual([503, "no_capacity"]);
      expect((await own.get("/api/calls")).status).toBe(200);
      await draining.close();
    });
  });

  describe("lists", () => {
    it("filter by metadata, agent, time, search and duration", async () => {
      const red = await newCall({ metadata: { color: "red", "a.b": "x" } });
      const blue = await newCall({ metadata: { color: "blue" } });
      await end(blue.callId);
      const found = async (query: string): Promise<unknown[]> => {
        const { status, json } = await client.get<Paged>(`/api/calls?${query}`);
        expect(status).toBe(200);
        return json.results.map((call) => call["callId"]);
      };
      const year = new Date().getUTCFullYear();
      expect(await found("")).toEqual([blue.callId, red.callId]);
      expect(await found("metadata.color=red")).toEqual([red.callId]);
      expect(await found("metadata.color=red&metadata.a.b=x")).toEqual([red.callId]);
      expect(await found("metadata.color=red&metadata.a.b=y")).toEqual([]);
      expect(await found("search=BLU")).toEqual([blue.callId]);
      expect(await found(`search=${red.callId}`)).toEqual([red.callId]);
      expect(await found("durationMin=2s&durationMax=60s")).toEqual([blue.callId]);
      expect(await found(`fromDate=${year}-01-01&toDate=${year}-12-31`)).toHaveLength(2);
      expect(await found("toDate=2001-01-01")).toEqual([]);
      expect(await found("sort=created")).toEqual([red.callId, blue.callId]);
      expect(await found("sort=-billedDuration")).toEqual([blue.callId, red.callId]);
      expect(await found(`agentIds=${missing}&agentIds=${randomUUID()}`)).toEqual([]);
    });

    it("keep repeated and dotted filters in their links", async () => {
      for (let i = 0; i < 3; i += 1) await newCall({ metadata: { color: "red" } });
      const first = await client.get<Paged>("/api/calls?metadata.color=red&pageSize=2");
      const second = await client.get<Paged>(first.json.next ?? "");
      expect([first.json.results.length, second.json.results.length]).toEqual([2, 1]);
      expect(second.json.total).toBe(3);
    });

    it("say when they stopped counting, in the body and in a header", async () => {
      const { callId } = await newCall({ metadata: { color: "red" } });
      // One more than are counted with a filter.
      await sql`insert into calls (id, account_id, node_id, created_at, join_deadline_at, ended_at, end_reason,
          medium_kind, settings, sealed_plan, metadata, search_text, billing_status)
        select gen_random_uuid(), account_id, node_id, created_at, join_deadline_at, ended_at, end_reason,
          medium_kind, settings, sealed_plan, metadata, search_text, billing_status
        from calls, generate_series(1, 10000) where id = ${callId}`.execute(current().db.query);
      const relation = async (query: string): Promise<unknown[]> => {
        const { json, headers } = await client.get<Paged>(`/api/calls?pageSize=1${query}`);
        return [json.total, json.totalRelation, headers["total-relation"]];
      };
      expect(await relation("&metadata.color=red")).toEqual([10_000, "at-least", "at-least"]);
      expect(await relation("&metadata.color=blue")).toEqual([0, undefined, undefined]);
      expect(await relation("")).toEqual([10_001, undefined, undefined]);
    });

    it.each([
      ["sort=name", "sort"],
      ["durationMin=5", "durationMin"],
      ["fromDate=yesterday", "fromDate"],
      ["agentIds=x", "agentIds.0"],
      ["timeOfDayStart=25:00:00", "timeOfDayStart"],
      ["voiceId=x", "voiceId"],
    ])("refuse %s", async (query, field) => {
      const { status, json } = await client.get(`/api/calls?${query}`);
      expect(status).toBe(400);
      expect((json["errors"] as { field: string }[]).map((error) => error.field)).toEqual([field]);
    });
  });

  describe("what a call holds", () => {
    it("shows the end with its billed time", async () => {
      const { callId } = await newCall();
      await end(callId);
      const { json } = await client.get(`/api/calls/${callId}`);
      expect(json).toMatchObject({
        endReason: "hangup",
        billingStatus: "BILLING_STATUS_BILLED",
        clientVersion: "web 1",
      });
      expect(json["joined"]).toMatch(/Z$/);
      expect(json["ended"]).toMatch(/Z$/);
      expect(json["billedDuration"]).toMatch(/^[1-9]\d*(\.\d*[1-9])?s$/);
    });

    it("lists messages of the call and of its stage", async () => {
      const { callId, stageId } = await newCall({
        initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "before" }],
      });
      const { db } = current();
      await appendMessage(db, client.accountId, callId, stageId, { ...message, index: 1 });
      await appendMessage(db, client.accountId, callId, stageId, {
        ...message,
        index: 2,
        role: "agent",
        text: "Good even",
        metadata: { interrupted: "true" },
      });
      const all = await client.get<Paged>(`/api/calls/${callId}/messages`);
      expect(all.json.results).toEqual([
        {
          role: "MESSAGE_ROLE_USER",
          text: "before",
          medium: "MESSAGE_MEDIUM_TEXT",
          callStageMessageIndex: 0,
          callStageId: stageId,
        },
        {
          role: "MESSAGE_ROLE_USER",
          text: "Hello?",
          medium: "MESSAGE_MEDIUM_VOICE",
          callStageMessageIndex: 1,
          callStageId: stageId,
          timespan: { start: "1s", end: "1.384s" },
          wallClockTimespan: { start: "1.1s", end: "1.5s" },
        },
        expect.objectContaining({ role: "MESSAGE_ROLE_AGENT", metadata: { interrupted: "true" } }),
      ]);
      const inCall = await client.get<Paged>(`/api/calls/${callId}/messages?mode=in_call&pageSize=1`);
      expect(inCall.json.total).toBe(2);
      const next = await client.get<Paged>(inCall.json.next ?? "");
      expect(next.json.results.map((one) => one["text"])).toEqual(["Good even"]);
      const ofStage = await client.get<Paged>(`/api/calls/${callId}/stages/${stageId}/messages`);
      expect(ofStage.json.results).toEqual(all.json.results);
      expect((await client.get(`/api/calls/${callId}/messages?mode=x`)).status).toBe(400);
    });

    it("lists events from a severity on, and by type", async () => {
      const { callId, stageId } = await newCall();
      const { db } = current();
      for (const [severity, type] of [
        ["debug", "x.debug"],
        ["info", "call.joined"],
        ["warning", "media.underflow"],
      ] as const) {
        await appendCallEvent(db, client.accountId, callId, { ...event, stageId, severity, type });
      }
      const types = async (query: string): Promise<unknown[]> => {
        const { json } = await client.get<Paged>(`/api/calls/${callId}/events?${query}`);
        return json.results.map((one) => one["type"]);
      };
      expect(await types("")).toEqual(["call.joined", "media.underflow"]);
      expect(await types("minimum_severity=debug")).toEqual(["x.debug", "call.joined", "media.underflow"]);
      expect(await types("minimum_severity=error")).toEqual([]);
      expect(await types("type=call.joined")).toEqual(["call.joined"]);
      const { json } = await client.get<Paged>(`/api/calls/${callId}/events`);
      expect(json.results[0]).toEqual({
        callId,
        callStageId: stageId,
        callTimestamp: "1.5s",
        wallClockTimestamp: "1.6s",
        severity: "info",
        type: "call.joined",
        text: "The call was joined.",
        extras: null,
      });
      expect((await client.get(`/api/calls/${callId}/events?minimum_severity=loud`)).status).toBe(400);
      expect((await client.get(`/api/calls/${callId}/events?type=`)).status).toBe(400);
    });

    it("shows its stage, with no tools", async () => {
      const { callId, stageId } = await newCall({ systemPrompt: "Be brief." });
      const stages = await client.get<Paged>(`/api/calls/${callId}/stages`);
      expect(stages.json.total).toBe(1);
      const one = await client.get(`/api/calls/${callId}/stages/${stageId}`);
      expect(one.json).toEqual(stages.json.results[0]);
      expect(one.json).toMatchObject({
        callId,
        callStageId: stageId,
        systemPrompt: "Be brief.",
        temperature: 0,
        initialTokenCount: null,
        latestTokenCount: null,
        errorCount: 0,
        experimentalSettings: null,
        initialState: {},
      });
      const tools = await client.get(`/api/calls/${callId}/stages/${stageId}/tools`);
      expect([tools.status, tools.json]).toEqual([200, []]);
    });

    it("is 404 below a stage of another call", async () => {
      const first = await newCall();
      const second = await newCall();
      for (const tail of ["", "/messages", "/tools"]) {
        const url = `/api/calls/${first.callId}/stages/${second.stageId}${tail}`;
        expect((await client.get(url)).status).toBe(404);
      }
    });

    it.each(["", "/messages", "/events", "/stages", "/recording", `/stages/${missing}`])(
      "is 404 at %s of an unknown call",
      async (tail) => {
        expect((await client.get(`/api/calls/${missing}${tail}`)).status).toBe(404);
        expect((await client.get(`/api/calls/nonsense${tail}`)).status).toBe(404);
      },
    );
  });
});
