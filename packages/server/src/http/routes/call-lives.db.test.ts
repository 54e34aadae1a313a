import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Recordings } from "../../ports/recordings.ts";
import { readWav } from "../../ports/testing/recordings-conformance.ts";
import { openFileRecordings } from "../../providers/recordings/file-recordings.ts";
import { insertCall, markJoined, type CallEnd } from "../../store/calls/calls.ts";
import { appendMessage, type NewMessage } from "../../store/calls/messages.ts";
import { intendDial } from "../../store/telephony/carrier-dials.ts";
import { type NewSipMessage, saveSipMessages } from "../../store/telephony/sip-messages.ts";
import { markEnded, newCall, newMessage } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, send } from "../testing/http-fixture.ts";

describeOnBothDatabases("the end of a call's record", (current) => {
  let dir = "";
  let recordings: Recordings;
  let server: HttpServer;
  let client: Client;
  let stranger: Client;
  const removed: string[] = [];
  /** Null: the clock of the machine. */
  let nowMs: number | null = null;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "call-lives-"));
    recordings = await openFileRecordings(dir);
    server = await openTestServer(current(), {
      recordings,
      removeFiles: (callId) => {
        removed.push(callId);
        return Promise.resolve();
      },
      nowMs: () => nowMs ?? Date.now(),
    });
    client = await newClient(server, current().db);
    stranger = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
    await rm(dir, { recursive: true });
  });

  function sipMessage(callId: string, position: number, changes: Partial<NewSipMessage> = {}): NewSipMessage {
    return {
      callId,
      accountId: client.accountId,
      position,
      atMs: Date.parse("2026-11-23T10:00:00.000Z"),
      isSent: false,
      transport: "udp",
      source: "203.0.113.5:5060",
      destination: "198.51.100.1:5060",
      text: "BYE sip:a SIP/2.0\r\n\r\n",
      ...changes,
    };
  }

  async function create(body: object = {}): Promise<string> {
    const medium = { serverWebSocket: { inputSampleRate: 16000 } };
    return String((await client.post("/api/calls", { medium, ...body })).json["callId"]);
  }

  async function end(callId: string, changes: Partial<CallEnd> = {}): Promise<void> {
    const { db } = current();
    await markJoined(db, client.accountId, callId, { joinedAtMs: Date.now() - 5_000, clientVersion: null });
    const hangup = { endReason: "hangup", endedAtMs: Date.now() } as const;
    expect(await markEnded(db, client.accountId, callId, { ...hangup, ...changes })).toBe(true);
  }

  it("deletes a call that is over, and shows what remains of it", async () => {
    const callId = await create({ maxDuration: "60s", metadata: { name: "x" } });
    const early = await client.delete(`/api/calls/${callId}`);
    expect([early.status, early.json["code"]]).toEqual([425, "too_early"]);
    expect(Number(early.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    await end(callId);
    expect((await stranger.delete(`/api/calls/${callId}`)).status).toBe(404);
    expect(removed).toEqual([]);
    const gone = await client.delete(`/api/calls/${callId}`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect(removed).toEqual([callId]);
    for (const path of ["", "/messages", "/events", "/stages", "/tools", "/recording", "/event_log"]) {
      expect([path, (await client.get(`/api/calls/${callId}${path}`)).status]).toEqual([path, 404]);
    }
    expect((await client.delete(`/api/calls/${callId}`)).status).toBe(404);
    const remains = await client.get(`/api/deleted_calls/${callId.toUpperCase()}`);
    expect(remains.json).toEqual({
      callId,
      accountId: client.accountId,
      created: expect.stringMatching(/Z$/) as string,
      deletionTime: expect.stringMatching(/Z$/) as string,
      endReason: "hangup",
      recordingEnabled: false,
      hadSummary: false,
      joined: expect.stringMatching(/Z$/) as string,
      ended: expect.stringMatching(/Z$/) as string,
      maxDuration: "60s",
    });
    expect((await stranger.get(`/api/deleted_calls/${callId}`)).status).toBe(404);
    expect((await client.get(`/api/deleted_calls/${await create()}`)).status).toBe(404);
  });

  it("says what ends a call that cannot be deleted yet", async () => {
    const { db } = current();
    const { accountId } = client;
    const detailOf = async (callId: string) => (await client.delete(`/api/calls/${callId}`)).json["detail"];
    const waiting = await create();
    expect(await detailOf(waiting)).toMatch(/ends after its joinTimeout\.$/);
    const dialled = newCall({ mediumKind: "telephony1" });
    await insertCall(db, accountId, dialled);
    const { callId } = dialled;
    await intendDial(db, accountId, { callId, carrier: "telephony1", number: "+4930123456" });
    expect(await detailOf(callId)).toContain(`DELETE /api/calls/${callId}/dial stops the dialling.`);
    await markJoined(db, accountId, callId, { joinedAtMs: Date.now(), clientVersion: null });
    expect(await detailOf(callId)).toContain("hang_up by send_data_message ends it.");
  });

  it("deletes no call that is not billed yet", async () => {
    const callId = await create();
    await end(callId, { settlesLater: true });
    expect((await client.get(`/api/calls/${callId}`)).json["billingStatus"]).toBe("BILLING_STATUS_PENDING");
    expect((await client.delete(`/api/calls/${callId}`)).status).toBe(425);
  });

  it("lists what remains, page by page and filtered", async () => {
    const owner = await newClient(server, current().db);
    const agent = await owner.post("/api/agents", { name: "A" });
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const path = i === 1 ? `/api/agents/${String(agent.json["agentId"])}/calls` : "/api/calls";
      const callId = String((await owner.post(path)).json["callId"]);
      const hangup = { endReason: "hangup", endedAtMs: Date.now() } as const;
      await markEnded(current().db, owner.accountId, callId, hangup);
      await owner.delete(`/api/calls/${callId}`);
      ids.unshift(callId);
    }
    interface Page {
      readonly results: readonly { readonly callId: string }[];
      readonly next: string | null;
      readonly total: number;
    }
    const list = async (query: string): Promise<Page> => {
      const { status, json } = await owner.get<Page>(query);
      expect(status).toBe(200);
      return json;
    };
    const first = await list("/api/deleted_calls?pageSize=2");
    const second = await list(first.next ?? "");
    expect([first.total, [...first.results, ...second.results].map(({ callId }) => callId)]).toEqual([
      3,
      ids,
    ]);
    const agentIds = String(agent.json["agentId"]);
    expect((await list(`/api/deleted_calls?agentIds=${agentIds}`)).results).toMatchObject([
      { callId: ids[1] },
    ]);
    for (const query of ["search=a", "metadata.a=b", `voiceId=${agentIds}`, "durationMin=1s"]) {
      expect([query, (await list(`/api/deleted_calls?${query}`)).total]).toEqual([query, 0]);
    }
    expect((await owner.get("/api/deleted_calls?sort=created")).status).toBe(400);
    expect((await client.get(first.next ?? "")).status).toBe(400);
  });

  it("has SIP logs of calls by SIP alone", async () => {
    const { db } = current();
    const other = await create();
    expect((await client.get(`/api/calls/${other}/sip_logs`)).status).toBe(404);
    const settings = {
      ...(await client.get(`/api/calls/${other}`)).json,
      medium: { sip: { outgoing: { to: "sip:a@b.example", from: "c" } } },
    };
    const { callId } = newCall();
    await insertCall(db, client.accountId, newCall({ callId, settings, mediumKind: "sip", joinToken: null }));
    const path = `/api/calls/${callId}/sip_logs`;
    const early = await client.get(path);
    expect([early.status, early.headers["retry-after"]]).toEqual([425, "5"]);
    await end(callId);
    // The last messages of the call are just being stored.
    expect((await client.get(path)).status).toBe(425);
    nowMs = Date.now() + 4_000;
    expect((await client.get(path)).status).toBe(404);
    await saveSipMessages(db, [
      sipMessage(callId, 1, { isSent: true, text: "SIP/2.0 200 OK\r\nTo: x\r\n\r\n" }),
    ]);
    await saveSipMessages(db, [sipMessage(callId, 0), sipMessage(callId, 1), sipMessage(randomUUID(), 0)]);
    const found = await client.get(path);
    expect(found.status).toBe(302);
    const location = String(found.headers["location"]);
    expect(location).toMatch(new RegExp(`^https://voice.example/calls/${callId}/sip_log_text\\?token=`));
    const link = location.slice("https://voice.example".length);
    const text = await send(server, "GET", link);
    expect([text.status, text.headers["content-type"], text.text]).toEqual([
      200,
      "text/plain; charset=utf-8",
      [
        "--- 2026-11-23T10:00:00.000Z received udp 203.0.113.5:5060 -> 198.51.100.1:5060",
        "BYE sip:a SIP/2.0",
        "",
        "--- 2026-11-23T10:00:00.000Z sent udp 203.0.113.5:5060 -> 198.51.100.1:5060",
        "SIP/2.0 200 OK",
        "To: x",
        "",
      ].join("\n"),
    ]);
    const wrong = [link.slice(0, -1), link.replace(callId, other), link.replace("token", "t"), `${link}.x`];
    for (const altered of wrong) {
      expect([altered, (await send(server, "GET", altered)).status]).toEqual([altered, 404]);
    }
    expect((await stranger.get(path)).status).toBe(404);
    nowMs += 301_000;
    const late = await send(server, "GET", link);
    expect([late.status, late.json["code"]]).toEqual([410, "gone"]);
    nowMs = null;
  });

  it("lists SIP messages in their order, to the account of the call alone, until the call is deleted", async () => {
    const { db } = current();
    const callId = await create();
    const texts = [
      "INVITE sip:a SIP/2.0\r\nX-\u0000: \ud800\r\n\r\n",
      "SIP/2.0 486 Busy\r\n\r\n",
      "ACK sip:a SIP/2.0",
    ];
    await saveSipMessages(
      db,
      texts.map((text, position) => sipMessage(callId, position, { text, isSent: position !== 1 })),
    );
    await saveSipMessages(db, [sipMessage(callId, 3, { accountId: stranger.accountId })]);
    const path = `/api/calls/${callId}/sip_messages`;
    type List = { results: Record<string, string>[]; next: string | null; total: number };
    const first = (await client.get<List>(`${path}?pageSize=2`)).json;
    const rest = (await client.get<List>(first.next ?? "")).json;
    const all = [...first.results, ...rest.results];
    expect([first.total, all.map(({ direction, firstLine }) => [direction, firstLine])]).toEqual([
      3,
      [
        ["sent", "INVITE sip:a SIP/2.0"],
        ["received", "SIP/2.0 486 Busy"],
        ["sent", "ACK sip:a SIP/2.0"],
      ],
    ]);
    expect(all[0]).toMatchObject({
      timestamp: "2026-11-23T10:00:00.000Z",
      transport: "udp",
      source: "203.0.113.5:5060",
      destination: "198.51.100.1:5060",
    });
    expect((await stranger.get(path)).status).toBe(404);
    await end(callId);
    expect((await client.delete(`/api/calls/${callId}`)).status).toBe(204);
    const left = await sql`select 1 from sip_messages where call_id = ${callId}`.execute(db.query);
    expect(left.rows).toEqual([]);
    // Messages of a call that is gone are left out.
    await saveSipMessages(db, [sipMessage(callId, 9)]);
  });

  it("cuts a message from the recording", async () => {
    const { db } = current();
    const callId = await create({ recordingEnabled: true });
    const stages = await client.get<{ results: { callStageId: string }[] }>(`/api/calls/${callId}/stages`);
    const stageId = stages.json.results[0]?.callStageId ?? "";
    const writer = await recordings.create(callId, 8_000);
    // Left: the ms since the begin; right: its negative.
    writer.write(
      Int16Array.from({ length: 2 * 8_000 }, (_, i) => Math.floor(i / 16) * (i % 2 === 0 ? 1 : -1)),
    );
    const append = async (index: number, changes: Partial<NewMessage>): Promise<void> => {
      await appendMessage(db, client.accountId, callId, stageId, newMessage(index, changes));
    };
    await append(0, { role: "user", timespan: { startMs: 250, endMs: 750 } });
    await append(1, { role: "agent", timespan: { startMs: 900, endMs: 5_000 } });
    await append(2, { role: "tool_call", timespan: { startMs: 250, endMs: 750 } });
    await append(3, { role: "tool_result", timespan: { startMs: 250, endMs: 750 } });
    await append(4, { medium: "text", timespan: { startMs: 250, endMs: 750 } });
    await append(5, { timespan: null });
    await append(6, { timespan: { startMs: 1_000, endMs: 2_000 } });
    await append(7, { timespan: { startMs: 500, endMs: 500 } });
    const path = (index: number | string): string =>
      `/api/calls/${callId}/stages/${stageId}/messages/${index}/audio`;
    expect((await client.get(path(0))).status).toBe(425);
    expect((await client.get(path(2))).status).toBe(404);
    await writer.close();
    await end(callId);
    const audio = async (index: number) => {
      const headers = { "x-api-key": client.key };
      const answer = await server.inject({ method: "GET", url: path(index), headers });
      expect(answer.headers).toMatchObject({
        "content-type": "audio/wav",
        "content-length": String(answer.rawBody.byteLength),
      });
      const { channels, sampleRateHz, dataBytes, samples } = readWav(answer.rawBody);
      expect([channels, sampleRateHz, dataBytes]).toEqual([2, 8_000, samples.byteLength]);
      return [samples.length / 16, samples[0], samples[1], samples.at(-2), samples.at(-1)];
    };
    expect(await audio(0)).toEqual([500, 250, -250, 749, -749]);
    expect(await audio(1)).toEqual([100, 900, -900, 999, -999]);
    for (const index of [2, 3, 4, 5, 6, 7, 8, -1, 1.5, "x", 2 ** 31]) {
      expect([index, (await client.get(path(index))).status]).toEqual([index, 404]);
    }
    expect((await stranger.get(path(0))).status).toBe(404);
    expect((await send(server, "GET", path(0))).status).toBe(401);
    await recordings.remove(callId);
    expect((await client.get(path(0))).status).toBe(404);
  });

  it("has no audio of a call that was not recorded", async () => {
    const callId = await create();
    const stages = await client.get<{ results: { callStageId: string }[] }>(`/api/calls/${callId}/stages`);
    const stageId = stages.json.results[0]?.callStageId ?? "";
    await appendMessage(current().db, client.accountId, callId, stageId, newMessage(0));
    const path = `/api/calls/${callId}/stages/${stageId}/messages/0/audio`;
    expect((await client.get(path)).status).toBe(404);
    await end(callId);
    expect((await client.get(path)).status).toBe(404);
  });
});
