import { afterAll, beforeAll, expect, it } from "vitest";
import { appendCallEvent } from "../../store/calls/call-events.ts";
import { markJoined } from "../../store/calls/calls.ts";
import { appendMessage } from "../../store/calls/messages.ts";
import { indexDueTexts } from "../../store/call-texts/index-texts.ts";
import { markEnded, newMessage } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, storeCall } from "../testing/http-fixture.ts";

interface Paged {
  readonly results: readonly Record<string, unknown>[];
}

const medium = { serverWebSocket: { inputSampleRate: 16000 } };

describeOnBothDatabases("the search for calls", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeAll(async () => {
    const { db } = current();
    server = await openTestServer(current(), { createCall: storeCall(db) });
    client = await newClient(server, db);
  });
  afterAll(async () => {
    await server.close();
  });

  async function newCall(metadata: object): Promise<{ readonly callId: string; readonly stageId: string }> {
    const callId = String((await client.post("/api/calls", { medium, metadata })).json["callId"]);
    const stages = await client.get<Paged>(`/api/calls/${callId}/stages`);
    return { callId, stageId: String(stages.json.results[0]?.["callStageId"]) };
  }

  it("uses what was said, the status, the end and errors; calls show first words, caller and latency", async () => {
    const { db } = current();
    const { accountId } = client;
    const call = await newCall({ Phone: "+15550100" });
    const goesOn = await newCall({});
    await markJoined(db, accountId, call.callId, { joinedAtMs: Date.now() - 2_500, clientVersion: null });
    await appendMessage(db, accountId, call.callId, call.stageId, newMessage(0, { text: "Hello?" }));
    const turn = {
      stageId: call.stageId,
      callTimestampMs: 1_500,
      wallClockTimestampMs: 1_600,
      severity: "info",
      type: "turn.completed",
      text: "the agent answered",
      extras: { firstPlayedMs: 840 },
    } as const;
    await appendCallEvent(db, accountId, call.callId, turn);
    await appendCallEvent(db, accountId, call.callId, { ...turn, severity: "error", type: "x.failed" });
    await markEnded(db, accountId, call.callId, { endReason: "hangup", endedAtMs: Date.now() });
    while (await indexDueTexts(db));
    const found = async (query: string): Promise<unknown[]> => {
      const { status, json } = await client.get<Paged>(`/api/calls?${query}`);
      expect(status).toBe(200);
      return json.results.map((one) => one["callId"]);
    };
    expect(await found("transcriptSearch=HELL")).toEqual([call.callId]);
    expect(await found("transcriptSearch=hello+you&sort=created")).toEqual([]);
    expect(await found("status=waiting")).toEqual([goesOn.callId]);
    expect(await found("endReason=hangup&hasErrors=true")).toEqual([call.callId]);
    expect(await found("hasErrors=false")).toEqual([goesOn.callId]);
    expect((await client.get(`/api/calls/${call.callId}`)).json).toMatchObject({
      firstWords: "Hello?",
      caller: "+15550100",
      medianReplyWait: "0.84s",
      hasErrors: true,
    });
  });

  it.each([
    ["status=gone", "status"],
    ["endReason=bored", "endReason"],
    ["hasErrors=maybe", "hasErrors"],
    ["transcriptSearch=%3F!", "transcriptSearch"],
    [`transcriptSearch=${"a+".repeat(21)}`, "transcriptSearch"],
    ["transcriptSearch=a&sort=ended", "sort"],
  ])("refuses %s", async (query, field) => {
    const { status, json } = await client.get(`/api/calls?${query}`);
    expect(status).toBe(400);
    expect((json["errors"] as { field: string }[]).map((error) => error.field)).toEqual([field]);
  });
});
