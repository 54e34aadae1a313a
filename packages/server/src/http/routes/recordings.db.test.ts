import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RecordingsUnavailable } from "../../ports/recordings.ts";
import { markEnded } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

const wav = Buffer.from("RIFF0000WAVE");

describeOnBothDatabases("recordings by REST", (current) => {
  let server: HttpServer;
  let client: Client;
  const recorded = new Set<string>();
  const linked = new Set<string>();
  const broken = new Set<string>();
  let isShared = false;

  beforeAll(async () => {
    server = await openTestServer(current(), {
      recordings: {
        create: () => Promise.reject(new Error("no recording is made here")),
        resume: () => Promise.reject(new Error("no recording is made here")),
        open: (callId) => {
          if (!recorded.has(callId)) return Promise.resolve(null);
          const stream = Readable.toWeb(Readable.from([wav])) as ReadableStream<Uint8Array>;
          return Promise.resolve({ byteLength: wav.byteLength, stream });
        },
        openPart: () => Promise.resolve(null),
        link: (callId) =>
          broken.has(callId)
            ? Promise.reject(new RecordingsUnavailable("fetch failed"))
            : Promise.resolve(linked.has(callId) ? `https://store.example/${callId}?x=1` : null),
        get isShared() {
          return isShared;
        },
        remove: () => Promise.resolve(),
      },
    });
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  async function newCall(recordingEnabled: boolean): Promise<string> {
    const medium = { serverWebSocket: { inputSampleRate: 16000 } };
    const made = await client.post("/api/calls", { medium, recordingEnabled });
    return String(made.json["callId"]);
  }

  async function end(callId: string, endedAtMs = Date.now()): Promise<void> {
    const ended = { endReason: "hangup", endedAtMs } as const;
    expect(await markEnded(current().db, client.accountId, callId, ended)).toBe(true);
  }

  it("are served after the end, and are 425 before it", async () => {
    const callId = await newCall(true);
    recorded.add(callId);
    const early = await client.get(`/api/calls/${callId}/recording`);
    expect([early.status, early.json["code"]]).toEqual([425, "too_early"]);
    expect(Number(early.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    await end(callId);
    const late = await client.get(`/api/calls/${callId}/recording`);
    expect([late.status, late.headers["content-type"], late.text]).toEqual([
      200,
      "audio/wav",
      wav.toString(),
    ]);
    expect(late.headers["content-length"]).toBe(String(wav.byteLength));
  });

  it("are 404 where nothing was asked for or nothing was kept", async () => {
    const unasked = await newCall(false);
    expect((await client.get(`/api/calls/${unasked}/recording`)).status).toBe(404);
    const lost = await newCall(true);
    await end(lost);
    expect((await client.get(`/api/calls/${lost}/recording`)).status).toBe(404);
  });

  it("are at another address where the store says so", async () => {
    const callId = await newCall(true);
    linked.add(callId);
    await end(callId);
    const answer = await client.get(`/api/calls/${callId}/recording`);
    expect([answer.status, answer.text]).toEqual([302, ""]);
    expect(answer.headers).toMatchObject({
      location: `https://store.example/${callId}?x=1`,
      "cache-control": "no-store",
    });
  });

  it("return a retry time where their store cannot be reached, without details of the store", async () => {
    const callId = await newCall(true);
    broken.add(callId);
    await end(callId);
    const answer = await client.get(`/api/calls/${callId}/recording`);
    expect([answer.status, answer.json["code"], answer.headers["retry-after"]]).toEqual([
      503,
      "no_capacity",
      "10",
    ]);
    expect(answer.text).not.toContain("fetch");
  });

  it("are waited for where another process uploads them, for a while", async () => {
    const [fresh, old] = [await newCall(true), await newCall(true)];
    await end(fresh);
    await end(old, Date.now() - 3_600_000);
    isShared = true;
    try {
      const early = await client.get(`/api/calls/${fresh}/recording`);
      expect([early.status, early.json["code"], early.headers["retry-after"]]).toEqual([
        425,
        "too_early",
        "5",
      ]);
      expect((await client.get(`/api/calls/${old}/recording`)).status).toBe(404);
    } finally {
      isShared = false;
    }
  });
});
