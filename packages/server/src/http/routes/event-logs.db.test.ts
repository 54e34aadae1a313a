import { afterAll, beforeAll, expect, it } from "vitest";
import { markEnded } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

async function* linesOf(count: number): AsyncGenerator<string, void, undefined> {
  for (let i = 0; i < count; i += 1) yield `{"line":${String(i)}}\n`;
}

describeOnBothDatabases("event logs by REST", (current) => {
  let server: HttpServer;
  let client: Client;
  let stranger: Client;
  const kept = new Set<string>();

  beforeAll(async () => {
    server = await openTestServer(current(), {
      readEventLog: async (_accountId, callId) => (kept.has(callId) ? linesOf(3) : null),
    });
    client = await newClient(server, current().db);
    stranger = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  async function newCall(): Promise<string> {
    const made = await client.post("/api/calls", { medium: { serverWebSocket: { inputSampleRate: 16000 } } });
    return String(made.json["callId"]);
  }

  it("are lines after the end, 425 before it, and 404 for others and where none was kept", async () => {
    const callId = await newCall();
    const path = `/api/calls/${callId}/event_log`;
    kept.add(callId);
    const early = await client.get(path);
    expect([early.status, early.json["code"]]).toEqual([425, "too_early"]);
    const ended = { endReason: "hangup", endedAtMs: Date.now() } as const;
    expect(await markEnded(current().db, client.accountId, callId, ended)).toBe(true);
    const { status, headers, text } = await client.get(path);
    expect([status, headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    expect(text).toBe('{"line":0}\n{"line":1}\n{"line":2}\n');
    expect((await stranger.get(path)).status).toBe(404);
    kept.delete(callId);
    expect((await client.get(path)).status).toBe(404);
  });
});
