/** The assembled service: who may join which call and when, and which requests are refused. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { readWav } from "../src/ports/testing/recordings-conformance.ts";
import { until } from "../src/runner/testing/call-client.ts";
import {
  callSettings,
  NOTHING,
  openRunningService,
  refusalOf,
  USER_FIRST,
  type CallRecord,
  type RunningService,
  withWrongToken,
} from "./running-service.ts";

let service: RunningService;

beforeAll(async () => {
  service = await openRunningService();
});

afterAll(async () => {
  await service.close();
});

interface Page {
  readonly total: number;
}

const MISSING_CALL = "00000000-0000-4000-8000-000000000000";

describe.concurrent("joining", () => {
  test("twice: the second is closed with 4409 and the first continues", async () => {
    const { callId, joinUrl, client } = await service.call(USER_FIRST);
    expect(await refusalOf(joinUrl)).toEqual({ code: 4409 });
    client.send({ type: "ping", timestamp: 1 });
    await until(() => client.of("pong").length === 1, "the first client's pong");
    client.socket.close(1000);
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });

  test("twice at the same moment: exactly one gets the call", async () => {
    const { callId, joinUrl } = await service.makeCall(callSettings(USER_FIRST));
    const clients = [1, 2, 3].map(() => service.connect(joinUrl));
    const codes: number[] = [];
    for (const client of clients) void client.closed.then((code) => codes.push(code));
    await until(() => codes.length === 2, "the refusals");
    expect(codes).toEqual([4409, 4409]);
    const left = clients.filter(({ socket }) => socket.readyState === WebSocket.OPEN);
    expect(left.map((client) => client.of("call_started"))).toEqual([[{ type: "call_started", callId }]]);
    left[0]?.socket.close(1000);
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });

  test("with a wrong token, another medium, another call's token, or no call at all: 404", async () => {
    const { callId, joinUrl } = await service.makeCall(callSettings({ joinTimeout: "3s" }));
    const { joinUrl: otherUrl } = await service.makeCall(callSettings({ joinTimeout: "3s" }));
    const token = joinUrl.split("/").pop() ?? "";
    const wrong = [
      withWrongToken(joinUrl),
      joinUrl.slice(0, -token.length),
      `${joinUrl}x`,
      joinUrl.replace("server_web_socket", "telephony1"),
      joinUrl.replace("server_web_socket", "web_rtc"),
      joinUrl.replace(token, otherUrl.split("/").pop() ?? ""),
      joinUrl.replace(callId, MISSING_CALL),
    ];
    for (const url of wrong)
      expect({ url, refusal: await refusalOf(url) }).toEqual({ url, refusal: { status: 404 } });
    expect((await service.record(callId)).joined).toBeNull();
  });

  test("after the join timeout: the call has ended as unjoined, and its URL is 410", async () => {
    const { callId, joinUrl } = await service.makeCall(callSettings({ joinTimeout: "1s" }));
    const record = await service.endedSoon(callId);
    expect(record).toMatchObject({ endReason: "unjoined", joined: null });
    expect(await refusalOf(joinUrl)).toEqual({ status: 410 });
    const wrong = joinUrl.slice(0, -4) + "AAAA";
    expect(await refusalOf(wrong)).toEqual({ status: 404 });
  });

  test("after the end: 410", async () => {
    const { callId, joinUrl, client } = await service.call(USER_FIRST);
    client.socket.close();
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    expect(await refusalOf(joinUrl)).toEqual({ status: 410 });
  });
});

describe.concurrent("a recording", () => {
  test("is 425 while the call runs, then a stereo WAV with the caller left and the agent right", async () => {
    const { callId, client } = await service.call({ recordingEnabled: true, voice: "quick" });
    const early = await service.ask("GET", `/api/calls/${callId}/recording`);
    expect(early).toMatchObject({ status: 425, body: { code: "too_early" } });
    expect(Number(early.headers["retry-after"])).toBeGreaterThan(0);
    await until(() => client.of("transcript").some(({ final }) => final), "the greeting");
    await client.say(600);
    await until(() => client.of("transcript").filter(({ final }) => final).length === 3, "the answer");
    client.socket.close(1000);
    await service.endedSoon(callId);
    const answer = await service.ask("GET", `/api/calls/${callId}/recording`);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("audio/wav");
    const wav = readWav(answer.bytes);
    expect(wav).toMatchObject({ riff: "RIFF", channels: 2, sampleRateHz: 16_000 });
    expect(wav.dataBytes).toBe(answer.bytes.byteLength - 44);
    expect(wav.riffBytes).toBe(answer.bytes.byteLength - 8);
    for (const side of [0, 1]) {
      const loud = wav.samples.filter((sample, i) => i % 2 === side && Math.abs(sample) > 3_000);
      expect(loud.length).toBeGreaterThan(1_600);
    }
  });

  test("is 404 where none was asked for, during the call and after it", async () => {
    const { callId, client } = await service.call(USER_FIRST);
    expect((await service.ask("GET", `/api/calls/${callId}/recording`)).status).toBe(404);
    client.socket.close();
    await service.endedSoon(callId);
    expect((await service.ask("GET", `/api/calls/${callId}/recording`)).status).toBe(404);
  });

  test("of a call that nobody joined is 404", async () => {
    const { callId } = await service.makeCall(callSettings({ joinTimeout: "1s", recordingEnabled: true }));
    await service.endedSoon(callId);
    expect((await service.ask("GET", `/api/calls/${callId}/recording`)).status).toBe(404);
  });
});

describe.concurrent("another account", () => {
  test("knows nothing of a call or an agent", async () => {
    const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", { name: "Mine" });
    const { agentId } = agent.body;
    const { callId, client } = await service.call({ ...USER_FIRST, recordingEnabled: true });
    client.socket.close();
    await service.endedSoon(callId);
    const stages = await service.get<{ results: { callStageId: string }[] }>(`/api/calls/${callId}/stages`);
    const stageId = stages.results[0]?.callStageId ?? "";
    const paths = [
      ...["", "/messages", "/events", "/stages", "/recording"].map((part) => `/api/calls/${callId}${part}`),
      ...["", "/messages", "/tools"].map((part) => `/api/calls/${callId}/stages/${stageId}${part}`),
      ...["", "/calls"].map((part) => `/api/agents/${agentId}${part}`),
    ];
    for (const path of paths) {
      expect({ path, status: (await service.ask("GET", path)).status }).toEqual({ path, status: 200 });
      const theirs = await service.ask("GET", path, undefined, service.otherKey);
      expect({ path, status: theirs.status, code: theirs.body.code }).toEqual({
        path,
        status: 404,
        code: "not_found",
      });
    }
    const changes = [
      ["POST", `/api/agents/${agentId}/calls`, callSettings()],
      ["PATCH", `/api/agents/${agentId}`, { name: "Theirs" }],
      ["DELETE", `/api/agents/${agentId}`, undefined],
    ] as const;
    for (const [method, path, body] of changes) {
      expect((await service.ask(method, path, body, service.otherKey)).status).toBe(404);
    }
    const theirs = await service.ask<Page>("GET", "/api/calls", undefined, service.otherKey);
    expect(theirs.body.total).toBe(0);
  });

  test("without a working key there is nothing", async () => {
    const { callId } = await service.makeCall(callSettings({ joinTimeout: "1s" }));
    for (const key of ["", "nonsense", `testtest.${"x".repeat(32)}`, `${service.key}x`]) {
      const answer = await service.ask("GET", `/api/calls/${callId}`, undefined, key);
      expect({ key, status: answer.status }).toEqual({ key, status: 401 });
      expect(answer.headers["www-authenticate"]).toBe("ApiKey");
    }
  });
});

describe.concurrent("creating a call", () => {
  async function agentOf(callTemplate: object): Promise<string> {
    const answer = await service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
    expect(answer.status).toBe(201);
    return `/api/agents/${answer.body.agentId}/calls`;
  }

  test("with a templateContext that misses, mistypes or exceeds what the agent wants is 400", async () => {
    const path = await agentOf({
      ...callSettings(),
      systemPrompt: "{{guest.name}} has {{nights}} nights.",
      contextSchema: {
        type: "object",
        properties: {
          guest: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          nights: { type: "integer", minimum: 1 },
        },
        required: ["guest", "nights"],
        additionalProperties: false,
      },
    });
    const faults: [unknown, string[]][] = [
      [{}, ["templateContext.guest", "templateContext.nights"]],
      [{ guest: {}, nights: 1 }, ["templateContext.guest.name"]],
      [{ guest: { name: 7 }, nights: 0 }, ["templateContext.guest.name", "templateContext.nights"]],
      [{ guest: { name: "Ann" }, nights: 2, room: 5 }, ["templateContext.room"]],
      ["Ann", ["templateContext"]],
    ];
    for (const [templateContext, fields] of faults) {
      const answer = await service.ask("POST", path, { templateContext });
      expect(answer.status).toBe(400);
      expect(answer.body.errors?.map(({ field }) => field).sort()).toEqual(fields);
    }
    const none = await service.ask("POST", path, {});
    expect(none.body.errors?.map(({ field }) => field)).toContain("templateContext.guest");
  });

  test("fills a template once, and the call says the filled text", async () => {
    const path = await agentOf({
      ...callSettings(),
      ...USER_FIRST,
      systemPrompt: "The guest is {{guest}}.",
      timeExceededMessage: "Good night {{guest}}.",
      maxDuration: "1s",
    });
    const guest = "{{guest}} & Bob";
    const made = await service.ask<CallRecord>("POST", path, { templateContext: { guest } });
    expect(made.status).toBe(201);
    service.countCall();
    expect(made.body).toMatchObject({ systemPrompt: `The guest is ${guest}.` });
    const client = service.connect(made.body.joinUrl);
    await client.opened();
    client.start();
    expect(await client.closed).toBe(1000);
    expect(client.of("transcript").find(({ final }) => final)?.text).toBe(`Good night ${guest}.`);
    expect((await service.endedSoon(made.body.callId)).endReason).toBe("timeout");
  });

  test.each([
    ["sip incoming", { sip: { incoming: {} } }],
    ["sip outgoing", { sip: { outgoing: { to: "sip:a@example.com", from: "b" } } }],
  ])("over %s is accepted in a template and refused with 501 at the call", async (_name, medium) => {
    const path = await agentOf({ medium });
    const before = (await service.get<Page>(path)).total;
    const answer = await service.ask("POST", path, {});
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 501, code: "not_available" });
    expect(answer.body.detail).toContain("medium");
    expect((await service.ask("POST", "/api/calls", { medium })).status).toBe(501);
    expect((await service.get<Page>(path)).total).toBe(before);
  });

  test("refuses text that no database takes, and names the fields", async () => {
    for (const character of ["\u0000", "\ud800"]) {
      const settings = { systemPrompt: `a${character}b`, metadata: { note: character } };
      const refused = await service.ask("POST", "/api/calls", callSettings(settings));
      expect(refused.status).toBe(400);
      expect(refused.body.errors?.map(({ field }) => field).sort()).toEqual([
        "metadata.note",
        "systemPrompt",
      ]);
    }
  });
});

test("nothing is left", async () => {
  expect(await service.leftovers()).toEqual(NOTHING);
});
