/** The engines of a deployment by its REST API, with a model server on this machine. */

import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openFaultyEngines } from "../../../test/faulty-engines.ts";
import { loadConfig, type Config } from "../../config/config.ts";
import { FAILED_AUTHENTICATIONS_PER_SECOND } from "../../http/api/auth.ts";
import type { HttpDeps, HttpServer } from "../../http/deps.ts";
import { type Client, newClient, openTestServer, type Reply, send } from "../../http/testing/http-fixture.ts";
import { openModelServer, type ModelServer } from "../../ports/testing/model-server.ts";
import { ensureDefaultAccount } from "../../store/accounts/accounts.ts";
import { createApiKey } from "../../store/accounts/api-keys.ts";
import { readEngineSettings } from "../../store/deployment/engine-settings.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { engineAdministration } from "./engine-administration.ts";
import { createLiveEngines, type LiveEngines } from "./live-engines.ts";

const PATH = "/api/deployment/engines";
const OPERATOR_KEY = "operator-key-of-the-tests-0123456789";
const SECRET = "sk-local-0123456789";

describeOnBothDatabases("the engines of a deployment", (current) => {
  let model: ModelServer;
  let server: HttpServer;
  let live: LiveEngines;
  let customer: Client;
  let ownKey = "";
  const servers: HttpServer[] = [];
  const base = openFaultyEngines();

  beforeAll(async () => {
    model = await openModelServer();
    const { db } = current();
    const { accountId } = await ensureDefaultAccount(db);
    ownKey = (await createApiKey(db, accountId, { name: "own", creator: null, expiryDate: null })).secret;
  });
  afterAll(async () => {
    for (const open of servers) await open.close();
    await model.close();
  });
  beforeEach(async () => {
    await sql`delete from deployment_engines`.execute(current().db.query);
    ({ server, live } = await open({}));
    customer = await newClient(server, current().db);
  });

  async function open(
    env: Record<string, string>,
    operatorKey: string | null = OPERATOR_KEY,
    changes: Partial<HttpDeps> = {},
  ) {
    const config: Config = loadConfig(env);
    const { db } = current();
    const logger = pino({ level: "silent" });
    const engines = createLiveEngines({ base, config, readStored: () => readEngineSettings(db), logger });
    await engines.reload();
    const administration = engineAdministration({
      live: engines,
      base,
      config,
      operatorKey,
      closing: new AbortController().signal,
    });
    const opened = await openTestServer(current(), { ...changes, engines: administration });
    servers.push(opened);
    return { server: opened, live: engines };
  }

  interface Sent {
    readonly body?: object;
    readonly key?: string;
    readonly operator?: string;
    readonly at?: HttpServer;
    readonly from?: string;
  }

  const request = (method: string, path: string, sent: Sent = {}): Promise<Reply> =>
    send(sent.at ?? server, method, path, {
      headers: {
        "x-api-key": sent.key ?? ownKey,
        ...(sent.operator === undefined ? {} : { "x-operator-key": sent.operator }),
      },
      ...(sent.body === undefined ? {} : { body: sent.body }),
      ...(sent.from === undefined ? {} : { from: sent.from }),
    });
  const change = (body: object, more: Sent = {}): Promise<Reply> =>
    request("PATCH", PATH, { body, operator: OPERATOR_KEY, ...more });
  const llm = () => ({ baseUrl: model.baseUrl, model: "m", apiKey: SECRET });

  it("are changed for new calls without a restart, sealed, and never shown with their keys", async () => {
    const before = live.llm;
    const changed = await change({ llm: llm() });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      canChange: true,
      isOperator: true,
      stt: { source: "built_in", isStored: false },
      llm: {
        source: "stored",
        description: "m",
        baseUrl: model.baseUrl,
        model: "m",
        apiKey: "sk-l…",
        isStored: true,
        warning: null,
      },
    });
    const read = await request("GET", PATH);
    expect(read.json).toEqual(changed.json);
    expect(changed.text + read.text).not.toContain(SECRET);
    expect([live.llm === before, live.llm.models, live.stt === base.stt]).toEqual([false, ["m"], true]);
    const { sealed } = (
      await sql<{ sealed: string }>`select sealed_settings as sealed from deployment_engines`.execute(
        current().db.query,
      )
    ).rows[0]!;
    expect(sealed).not.toContain(SECRET);
  });

  it("name Deepgram as what the environment sets, and other accounts see no address", async () => {
    const { server: at } = await open({ DEEPGRAM_API_KEY: "dg-secret-key" });
    const shown = await request("GET", PATH, { at });
    expect(shown.json).toMatchObject({
      stt: {
        source: "environment",
        description: "Deepgram nova-3 at https://api.deepgram.com",
        selectedBy: "DEEPGRAM_API_KEY",
        setBy: { baseUrl: null, model: null },
      },
      llm: { source: "built_in", selectedBy: null },
    });
    expect(shown.text).not.toContain("dg-secret");
    const other = await request("GET", PATH, { at, key: customer.key });
    expect(other.json).toMatchObject({ stt: { source: "environment", description: "Deepgram nova-3" } });
  });

  it("are used again as they were when what is stored is removed", async () => {
    await change({ llm: llm(), tts: { ...llm(), voice: "v" } });
    expect([live.llm === base.llm, live.tts.voices]).toEqual([false, ["v"]]);
    const removed = await change({ llm: null, tts: null });
    expect(removed.json).toMatchObject({ llm: { source: "built_in", isStored: false } });
    expect([live.llm === base.llm, live.tts === base.tts]).toEqual([true, true]);
  });

  it("keep their key while their server stays, and lose it with the server", async () => {
    await change({ llm: llm() });
    const { apiKey: _, ...withoutKey } = llm();
    expect((await change({ llm: withoutKey })).json).toMatchObject({ llm: { apiKey: "sk-l…" } });
    const moved = await change({ llm: { ...withoutKey, baseUrl: `${model.baseUrl}/elsewhere` } });
    expect(moved.json).toMatchObject({ llm: { apiKey: null } });
  });

  it("are followed by another process", async () => {
    const other = await open({});
    await change({ llm: llm() });
    await other.live.reload();
    expect(other.live.llm.models).toEqual(["m"]);
  });

  it("are changed with a warning when their server is not right", async () => {
    const { json } = await change({ llm: { ...llm(), model: "other" } });
    expect(json).toMatchObject({
      llm: { warning: expect.stringContaining("does not list the model other: check the stored model") },
    });
  });

  it("are those of the environment where that sets them", async () => {
    const env = { LLM_BASE_URL: model.baseUrl, LLM_MODEL: "m" };
    const { server: fixed, live: engines } = await open(env);
    const refused = await change({ llm: llm() }, { at: fixed });
    expect([refused.status, refused.json["errors"]]).toEqual([
      400,
      ["baseUrl", "model"].map((field) => ({
        field: `llm.${field}`,
        message: `is set by LLM_${field === "model" ? "MODEL" : "BASE_URL"} in the environment, and cannot be changed by a request`,
      })),
    ]);
    const added = await change({ llm: { apiKey: SECRET } }, { at: fixed });
    expect(added.json).toMatchObject({
      llm: { source: "environment", apiKey: "sk-l…", setBy: { baseUrl: "LLM_BASE_URL", apiKey: null } },
    });
    expect(engines.llm.models).toEqual(["m"]);
  });

  it.each<[object, string]>([
    [{ llm: { baseUrl: "ftp://x", model: "m" } }, "llm.baseUrl"],
    [{ llm: { baseUrl: "http://me:secret@127.0.0.1/v1", model: "m" } }, "llm.baseUrl"],
    [{ llm: { baseUrl: "http://127.0.0.1/v1?key=1", model: "m" } }, "llm.baseUrl"],
    [{ llm: { baseUrl: "http://127.0.0.1/v1" } }, "llm.model"],
    [{ llm: { model: "gpt-5" } }, "llm.apiKey"],
    [{ llm: { baseUrl: "http://127.0.0.1/v1", model: "a b" } }, "llm.model"],
    [{ llm: { baseUrl: "http://127.0.0.1/v1", model: "m", apiKey: "a\nb" } }, "llm.apiKey"],
    [{ llm: { baseUrl: "http://127.0.0.1/v1", model: "m", voice: "v" } }, "llm.voice"],
    [{ stt: 5 }, "stt"],
  ])("are not changed by %j", async (body, field) => {
    const { status, json } = await change(body);
    const [first] = json["errors"] as { readonly field: string }[];
    expect([status, first?.field]).toEqual([400, field]);
    expect(await readEngineSettings(current().db)).toEqual({});
  });

  it("are not changed so that an alias points to nothing", async () => {
    const { server: aliased } = await open({ MODEL_ALIASES: "large=slow" });
    const { status, json } = await change({ llm: llm() }, { at: aliased });
    expect([status, (json["errors"] as { readonly field: string }[])[0]?.field]).toEqual([400, "llm.model"]);
  });

  it("are changed with the operator key only, and the change and the refusal are in the audit log", async () => {
    for (const [operator, detail] of [
      [undefined, /Send the operator key/],
      ["wrong-key-wrong-key-wrong-key", /is not right/],
      [`${OPERATOR_KEY}x`, /is not right/],
    ] as const) {
      const { status, json } = await request("PATCH", PATH, {
        body: { llm: llm() },
        ...(operator === undefined ? {} : { operator }),
      });
      expect([status, json["code"]]).toEqual([403, "forbidden"]);
      expect(json["detail"]).toMatch(detail);
    }
    expect(await readEngineSettings(current().db)).toEqual({});
    await change({ llm: llm() });
    const { json } = await request("GET", "/api/audit_log?operation=updateEngines");
    const [done] = json["results"] as Record<string, unknown>[];
    expect(done).toMatchObject({ result: "done", targetId: "llm", via: "api" });
    expect(JSON.stringify(json)).not.toContain(SECRET);
    const refused = await request("GET", "/api/audit_log?operation=updateEngines&result=refused");
    expect(refused.json["results"]).not.toEqual([]);
  });

  it("cannot be changed in a deployment without an operator key", async () => {
    const { server: closed } = await open({}, null);
    const { status, json } = await change({ llm: llm() }, { at: closed });
    expect([status, json["code"]]).toEqual([501, "not_available"]);
    expect((await request("GET", PATH, { at: closed })).json).toMatchObject({ canChange: false });
  });

  it("limit the attempts of an address with wrong operator keys", async () => {
    const { server: limited } = await open({}, OPERATOR_KEY, { nowMs: () => 5_000_000 });
    const attempt = async (operator: string, from: string): Promise<number> =>
      (await request("PATCH", PATH, { body: {}, operator, from, at: limited })).status;
    for (let i = 0; i < FAILED_AUTHENTICATIONS_PER_SECOND; i += 1) {
      expect(await attempt("wrong-key-wrong-key-wrong-key", "192.0.2.1")).toBe(403);
    }
    expect(await attempt(OPERATOR_KEY, "192.0.2.1")).toBe(429);
    expect(await attempt(OPERATOR_KEY, "192.0.2.2")).toBe(200);
  });

  it("show their servers to the first account and to the operator only", async () => {
    await change({ llm: llm() });
    const seen = await customer.get(PATH);
    expect(seen.json).toMatchObject({
      isOperator: false,
      llm: { source: "stored", model: "m", baseUrl: null, apiKey: null },
    });
    expect(seen.text).not.toContain("127.0.0.1");
    expect((await request("GET", PATH, { key: customer.key, operator: OPERATOR_KEY })).json).toMatchObject({
      isOperator: true,
      llm: { baseUrl: model.baseUrl },
    });
    for (const reply of [
      await customer.get("/api/deployment/local_servers"),
      await customer.post(`${PATH}/test`, { engine: "llm" }),
    ]) {
      expect([reply.status, reply.json["code"]]).toEqual([404, "not_found"]);
    }
    expect((await request("GET", "/api/deployment/local_servers")).status).toBe(200);
  });

  it("are tested by one use, and their failure has the words of the server", async () => {
    await change({ llm: llm(), stt: llm(), tts: { ...llm(), voice: "v" } });
    const tests = `${PATH}/test`;
    const good = await request("POST", tests, { body: { engine: "llm" } });
    expect(good.json).toEqual({
      works: true,
      latencyMs: expect.any(Number),
      detail: "It answered: “Yes.”",
    });
    const bad = await request("POST", tests, { body: { engine: "tts" } });
    expect(bad.json).toMatchObject({ works: false, detail: expect.stringMatching(/^The voice server /) });
    expect(bad.text).not.toContain(SECRET);
  });
});
