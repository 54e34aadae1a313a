import { randomUUID } from "node:crypto";
import { BUILT_IN_TOOLS, MAX_OPENAPI_BYTES } from "@parley/schema";
import { beforeEach, expect, it } from "vitest";
import { toolsOfOpenApi } from "../../providers/openapi-tools/openapi-tools.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpDeps, HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, send } from "../testing/http-fixture.ts";

const secret = "Bearer header-secret";
const hangUpId = BUILT_IN_TOOLS[0]?.toolId ?? "";

const tool = {
  name: "lookUp",
  definition: {
    description: "Looks up an order.",
    dynamicParameters: [
      { name: "id", location: "PARAMETER_LOCATION_PATH", schema: { type: "string" }, required: true },
    ],
    staticParameters: [{ name: "Authorization", location: "PARAMETER_LOCATION_HEADER", value: secret }],
    timeout: "3s",
    http: { baseUrlPattern: "https://shop.example/orders/{id}", httpMethod: "get" },
  },
};

interface ToolJson {
  readonly toolId: string;
  readonly name: string;
  readonly ownership: string;
  readonly definition: Record<string, unknown>;
}

interface Page {
  readonly results: readonly ToolJson[];
  readonly next: string | null;
  readonly total: number;
}

const fieldsOf = (json: Record<string, unknown>) =>
  (json["errors"] as { field: string }[] | undefined)?.map(({ field }) => field);

describeOnBothDatabases("the tools of the interface", (current) => {
  let server: HttpServer;
  let client: Client;
  const sent: unknown[] = [];
  const tested: unknown[] = [];
  let outcome: Awaited<ReturnType<HttpDeps["testTool"]>>;
  /** Tests of tools end when it resolves. */
  let answered: Promise<void>;
  let sendOutcome: Awaited<ReturnType<HttpDeps["sendToCall"]>>;

  beforeEach(async () => {
    sent.length = 0;
    tested.length = 0;
    outcome = { kind: "failed", reason: "the address is not allowed" };
    answered = Promise.resolve();
    sendOutcome = "not_live";
    server = await openTestServer(current(), {
      refusedTarget: (url) => (url.includes("127.0.0.1") ? "address not allowed" : null),
      testTool: async (definition, values) => {
        tested.push([definition, values]);
        await answered;
        return outcome;
      },
      sendToCall: (callId, message) => {
        sent.push([callId, message]);
        return Promise.resolve(sendOutcome);
      },
    });
    client = await newClient(server, current().db);
  });

  const create = async (body: unknown = tool): Promise<ToolJson> => {
    const { status, json } = await client.post<ToolJson>("/api/tools", body);
    expect(status).toBe(201);
    return json;
  };

  it("creates, reads, replaces and deletes a tool", async () => {
    const created = await client.post<ToolJson>("/api/tools", { ...tool, ownership: "public" });
    expect(created.status).toBe(201);
    const { toolId } = created.json;
    expect(created.headers["location"]).toBe(`https://voice.example/api/tools/${toolId}`);
    const masked = [{ name: "Authorization", location: "PARAMETER_LOCATION_HEADER", value: "Bear…" }];
    const shown = {
      toolId,
      name: "lookUp",
      ownership: "private",
      definition: {
        ...tool.definition,
        staticParameters: masked,
        http: { ...tool.definition.http, httpMethod: "GET" },
      },
    };
    expect(created.json).toMatchObject(shown);
    const read = await client.get<ToolJson>(`/api/tools/${toolId}`);
    expect(read.json).toEqual(created.json);
    const renamed = await client.put<ToolJson>(`/api/tools/${toolId}`, { ...read.json, name: "findOrder" });
    expect(renamed).toMatchObject({ status: 200, json: { ...shown, name: "findOrder" } });
    expect(created.text + read.text + renamed.text).not.toContain(secret);
    await client.post(`/api/tools/${toolId}/test`, { id: "7" });
    expect(tested).toMatchObject([[{ staticParameters: [{ value: secret }] }, { id: "7" }]]);
    expect((await client.delete(`/api/tools/${toolId}`)).status).toBe(204);
    for (const path of ["", "/history"]) {
      expect((await client.get(`/api/tools/${toolId}${path}`)).status).toBe(404);
    }
    expect((await client.delete(`/api/tools/${toolId}`)).status).toBe(404);
  });

  it("runs eight tests of an account at a time, and refuses more", async () => {
    const { toolId } = await create();
    const answer = Promise.withResolvers<void>();
    answered = answer.promise;
    const body = Buffer.from("found");
    outcome = { kind: "answered", status: 200, contentType: "text/plain", body, truncated: false };
    const test = () => client.post(`/api/tools/${toolId}/test`, { id: "7" });
    const running = Array.from({ length: 8 }, test);
    await expect.poll(() => tested).toHaveLength(8);
    const refused = await test();
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
    const other = await newClient(server, current().db);
    const { json } = await other.post<ToolJson>("/api/tools", tool);
    const ofOther = other.post(`/api/tools/${json.toolId}/test`, { id: "7" });
    await expect.poll(() => tested).toHaveLength(9);
    answer.resolve();
    const answers = await Promise.all([...running, ofOther]);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 200));
    expect((await test()).status).toBe(200);
  });

  it("refuses bodies that are no tool, naming the fields", async () => {
    const cases: [unknown, string[]][] = [
      [{ definition: tool.definition }, ["name"]],
      [{ ...tool, name: "x".repeat(41) }, ["name"]],
      [{ name: "x", definition: {} }, ["definition"]],
      [{ ...tool, definition: { ...tool.definition, client: {} } }, ["definition"]],
      [
        { name: "x", definition: { http: { baseUrlPattern: "http://127.0.0.1/{a}", httpMethod: "GET" } } },
        ["definition.http.baseUrlPattern"],
      ],
      [
        { name: "x", definition: { http: { baseUrlPattern: "http://127.0.0.1/" } } },
        ["definition.http.baseUrlPattern"],
      ],
      [{ name: "x", definition: { mcp: { serverUrl: "http://127.0.0.1/" } } }, ["definition.mcp.serverUrl"]],
      [
        { name: "x", definition: { mcp: { serverUrl: "https://a.example/", headers: { A: "Bear…" } } } },
        ["definition.mcp.headers.A"],
      ],
      [{ ...tool, colour: "red" }, ["colour"]],
    ];
    const { toolId } = await create();
    for (const [body, fields] of cases) {
      for (const answer of [
        await client.post("/api/tools", body),
        await client.put(`/api/tools/${toolId}`, body),
      ]) {
        expect([body, answer.status]).toEqual([body, 400]);
        expect(fieldsOf(answer.json)).toEqual(expect.arrayContaining(fields));
      }
    }
    expect((await client.get<Page>("/api/tools?ownership=private")).json.total).toBe(1);
  });

  it("shows the tools of everybody, which nobody changes", async () => {
    const { json } = await client.get<Page>("/api/tools?ownership=public");
    expect(json.total).toBe(6);
    const read = await client.get<ToolJson>(`/api/tools/${hangUpId.toUpperCase()}`);
    expect(read).toMatchObject({ status: 200, json: { name: "hangUp", ownership: "public" } });
    expect((await client.put(`/api/tools/${hangUpId}`, tool)).json).toMatchObject({ code: "forbidden" });
    expect((await client.delete(`/api/tools/${hangUpId}`)).status).toBe(403);
    expect((await client.post(`/api/tools/${hangUpId}/test`, {})).status).toBe(400);
    expect((await client.get(`/api/tools/${hangUpId}/history`)).json).toMatchObject({ total: 0 });
    expect(tested).toEqual([]);
  });

  it("answers 404 for a tool of another account", async () => {
    const { toolId } = await create();
    const stranger = await newClient(server, current().db);
    const answers = [
      await stranger.get(`/api/tools/${toolId}`),
      await stranger.put(`/api/tools/${toolId}`, tool),
      await stranger.delete(`/api/tools/${toolId}`),
      await stranger.get(`/api/tools/${toolId}/history`),
      await stranger.post(`/api/tools/${toolId}/test`, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect(tested).toEqual([]);
    expect((await client.get(`/api/tools/${toolId}`)).status).toBe(200);
  });

  it("pages through a list while tools are made, and refuses a cursor of another order", async () => {
    for (const name of ["b", "d", "a", "c"]) await create({ ...tool, name });
    const seen: string[] = [];
    let url: string | null = "/api/tools?ownership=private&sortOrder=alphabetic&pageSize=2";
    for (let made = 0; url !== null; made += 1) {
      const page: { json: Page } = await client.get<Page>(url);
      seen.push(...page.json.results.map(({ name }) => name));
      url = page.json.next;
      if (made === 0) for (const name of ["0", "e"]) await create({ ...tool, name });
    }
    expect(seen).toEqual(["a", "b", "c", "d", "e"]);
    const first = await client.get<Page>("/api/tools?pageSize=1");
    const other = first.json.next?.replace("pageSize=1", "pageSize=1&sortOrder=display") ?? "";
    expect((await client.get(other)).status).toBe(400);
    for (const query of ["sortOrder=name", "ownership=mine", "search="]) {
      expect([query, (await client.get(`/api/tools?${query}`)).status]).toEqual([query, 400]);
    }
  });

  it("passes on what a tested tool answers, or says why it was not run", async () => {
    const { toolId } = await create();
    const refused = await client.post(`/api/tools/${toolId}/test`, { id: "1" });
    expect(refused.status).toBe(400);
    expect(refused.json["detail"]).toContain("the address is not allowed");
    outcome = {
      kind: "answered",
      status: 418,
      contentType: "text/plain; charset=utf-8",
      body: Buffer.from("Grüße"),
      truncated: false,
    };
    const answered = await client.post(`/api/tools/${toolId}/test`, { id: "1", snake_case: null });
    expect(answered).toMatchObject({ status: 418, text: "Grüße" });
    expect(answered.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(tested.at(-1)).toMatchObject([{}, { id: "1", snake_case: null }]);
    outcome = { kind: "answered", status: 204, contentType: null, body: new Uint8Array(), truncated: false };
    expect(await client.post(`/api/tools/${toolId}/test`, {})).toMatchObject({ status: 204, text: "" });
    const own = { name: "onClient", definition: { client: {}, modelToolName: "onClient" } };
    const { toolId: clientTool } = await create(own);
    expect((await client.post(`/api/tools/${clientTool}/test`, {})).status).toBe(400);
    expect(tested).toHaveLength(3);
  });

  it("lists the tools of stages and calls, and the calls of a tool", async () => {
    const { db } = current();
    const { toolId } = await create();
    const call = newCall({ settings: (await storedSettings()) as object });
    const listed = {
      callToolId: randomUUID(),
      toolId,
      name: "lookUp",
      definition: { http: { baseUrlPattern: "https://shop.example", authHeaders: ["Authorization"] } },
    };
    await insertCall(db, client.accountId, { ...call, stage: { ...call.stage, tools: [listed] } });
    const base = `/api/calls/${call.callId}`;
    expect((await client.get(`${base}/stages/${call.stage.stageId}/tools`)).json).toEqual([listed]);
    expect((await client.get(`${base}/tools`)).json).toEqual([listed]);
    const stranger = await newClient(server, db);
    expect((await stranger.get(`${base}/tools`)).status).toBe(404);
    expect((await stranger.get(`${base}/stages/${call.stage.stageId}/tools`)).status).toBe(404);
    const history = await client.get(`/api/tools/${toolId}/history`);
    expect(history.json).toMatchObject({
      total: 1,
      results: [{ call: { callId: call.callId }, errorCount: 0 }],
    });
    await client.delete(`/api/tools/${toolId}`);
    expect((await client.get(`${base}/tools`)).json).toEqual([listed]);
  });

  const storedSettings = async (): Promise<unknown> => {
    const body = { systemPrompt: "Hello.", medium: { serverWebSocket: { inputSampleRate: 16_000 } } };
    const { json } = await client.post("/api/calls", body);
    const { json: call } = await client.get(`/api/calls/${String(json["callId"])}`);
    const names = [
      "firstSpeaker",
      "firstSpeakerSettings",
      "initialOutputMedium",
      "joinTimeout",
      "maxDuration",
    ];
    const more = ["medium", "model", "temperature", "inactivityMessages", "recordingEnabled", "initialState"];
    return Object.fromEntries([...names, ...more, "transcriptOptional"].map((name) => [name, call[name]]));
  };

  it("sends the three messages to a running call, and says why it cannot", async () => {
    const { db } = current();
    const call = newCall();
    await insertCall(db, client.accountId, call);
    const path = `/api/calls/${call.callId}/send_data_message`;
    const message = { type: "user_text_message", text: "Hello" };
    const unjoined = await client.post(path, message);
    expect(unjoined).toMatchObject({ status: 422, json: { code: "wrong_state" } });
    sendOutcome = "accepted";
    expect((await client.post(path, message)).status).toBe(204);
    expect((await client.post(path, { type: "hang_up" })).status).toBe(204);
    expect((await client.post(path, { type: "forced_agent_message", content: "Hi" })).status).toBe(204);
    expect(sent.slice(1)).toEqual([
      [call.callId, { ...message, urgency: "soon", threadId: "UI" }],
      [call.callId, { type: "hang_up", message: "" }],
      [call.callId, expect.objectContaining({ type: "forced_agent_message", content: "Hi" })],
    ]);
    const bad = [
      { type: "ping", timestamp: 1 },
      { type: "set_output_medium" },
      {},
      { type: "user_text_message" },
    ];
    for (const body of bad) expect([body, (await client.post(path, body)).status]).toEqual([body, 400]);
    const stranger = await newClient(server, db);
    expect((await stranger.post(path, message)).status).toBe(404);
    expect(sent).toHaveLength(4);
    sendOutcome = "not_live";
    await markJoined(db, client.accountId, call.callId, { joinedAtMs: Date.now(), clientVersion: null });
    expect((await client.post(path, message)).json["detail"]).toBe("The call is about to end.");
    sendOutcome = "elsewhere";
    const elsewhere = await client.post(path, message);
    expect(elsewhere).toMatchObject({ status: 503, json: { code: "call_elsewhere" } });
    expect(elsewhere.headers["retry-after"]).toBe("1");
    sendOutcome = "not_live";
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(db, client.accountId, call.callId, end);
    expect(await client.post(path, message)).toMatchObject({
      status: 422,
      json: { detail: "The call has ended." },
    });
  });

  const form = (parts: readonly [name: string, file: boolean, content: string][]) => {
    const shown = parts.map(
      ([name, file, content]) =>
        `--B\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="a.json"' : ""}\r\n` +
        `${file ? "Content-Type: application/json\r\n" : ""}\r\n${content}\r\n`,
    );
    const headers = { "x-api-key": client.key, "content-type": "multipart/form-data; boundary=B" };
    return { headers, body: `${shown.join("")}--B--\r\n` };
  };

  it("imports an OpenAPI document, whole or not at all", async () => {
    const one = (path: string) => ({ get: { operationId: `read ${path.slice(1)}` } });
    const document = (url: string) =>
      JSON.stringify({
        openapi: "3.1.0",
        servers: [{ url }],
        paths: { "/a": one("/a"), "/b": one("/b") },
      });
    const upload = async (parts: Parameters<typeof form>[0]) =>
      send<ToolJson>(importing, "POST", "/api/tools", form(parts));
    const importing = await openTestServer(current(), {
      toolsOfOpenApi: async (_accountId, bytes) => toolsOfOpenApi(bytes),
      refusedTarget: (url) => (url.includes("127.0.0.1") ? "address not allowed" : null),
    });
    const made = await upload([
      ["note", false, "hello"],
      ["file", true, document("https://api.example")],
    ]);
    expect(made).toMatchObject({ status: 201, json: { name: "read_a", ownership: "private" } });
    const ids = String(made.headers["x-service-created-tools"]).split(",");
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(made.json.toolId);
    const second = await client.get<ToolJson>(`/api/tools/${ids[1] ?? ""}`);
    expect(second.json).toMatchObject({
      name: "read_b",
      definition: { http: { baseUrlPattern: "https://api.example/b", httpMethod: "GET" } },
    });
    const refused = [
      await upload([["file", true, document("http://127.0.0.1")]]),
      await upload([["file", true, "only text"]]),
      await upload([["other", true, document("https://api.example")]]),
      await upload([["file", false, document("https://api.example")]]),
      await send(importing, "POST", "/api/tools", { ...form([]), body: "no form" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    const large = await upload([["file", true, " ".repeat(MAX_OPENAPI_BYTES + 1)]]);
    expect(large.status).toBe(413);
    expect((await send(importing, "PUT", `/api/tools/${ids[0] ?? ""}`, form([]))).status).toBe(415);
    expect((await client.get<Page>("/api/tools?ownership=private")).json.total).toBe(2);
  });

  it("needs a key", async () => {
    for (const [method, path] of [
      ["GET", "/api/tools"],
      ["POST", "/api/tools"],
      ["DELETE", `/api/tools/${hangUpId}`],
    ] as const) {
      expect((await send(server, method, path)).status).toBe(401);
    }
  });
});
