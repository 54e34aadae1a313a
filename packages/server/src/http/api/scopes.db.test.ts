/** What each scope of API keys allows and shows, for every route of the table. */

import { allows, ROUTE_NAMES, routeOf, type RouteName, type Scope, SCOPES } from "@parley/schema";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApiKey } from "../../store/accounts/api-keys.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, type Reply, send } from "../testing/http-fixture.ts";
import { makeSamples, type SampleIds } from "../testing/samples/samples.ts";

/** Stated here as well, so that a route cannot change its scope by accident. Other GETs need `read`. */
const NEEDED: Partial<Record<RouteName, Scope>> = {
  createAgentCall: "calls",
  createCall: "calls",
  sendDataMessage: "calls",
  createScheduledBatch: "calls",
  updateScheduledBatch: "calls",
  deleteScheduledBatch: "calls",
  addDoNotCall: "calls",
  testTool: "calls",
  checkTelephonyConfig: "calls",
  cancelCallDial: "calls",
  previewVoice: "calls",
  testEngine: "calls",
  queryCorpus: "read",
  checkSip: "calls",
  checkSipRegistration: "calls",
  listAuditLog: "admin",
};

const closed = ROUTE_NAMES.filter((name) => routeOf(name).authenticated);
const KINDS = [...SCOPES, "everything"] as const;
type Kind = (typeof KINDS)[number];

describeOnBothDatabases("scopes", (current) => {
  let server: HttpServer;
  let owner: Client;
  let ids: SampleIds = {};
  /** Keys of the owner, and of another account. */
  const own = new Map<Kind, string>();
  const strange = new Map<Kind, string>();

  beforeAll(async () => {
    server = await openTestServer(current());
    const { db } = current();
    owner = await newClient(server, db);
    ids = await makeSamples(owner);
    const stranger = await newClient(server, db);
    for (const kind of KINDS) {
      const key = { name: kind, creator: null, expiryDate: null };
      const scopes = kind === "everything" ? null : [kind];
      own.set(kind, (await createApiKey(db, owner.accountId, { ...key, scopes })).secret);
      strange.set(kind, (await createApiKey(db, stranger.accountId, { ...key, scopes })).secret);
    }
  });
  afterAll(async () => {
    await server.close();
  });

  async function request(name: RouteName, key: string | undefined, body?: object): Promise<Reply> {
    const { method, path, request: taken } = routeOf(name);
    const url = path.replaceAll(/\{([a-z_]+)\}/g, (_, id: string) => ids[id] ?? "");
    const sent = body ?? (taken === null ? undefined : {});
    return send(server, method, url, {
      headers: { "x-api-key": key ?? "" },
      ...(sent === undefined ? {} : { body: sent }),
    });
  }

  it.each(closed)("%s is allowed by the scopes that the table says, and by no other", async (name) => {
    const { method, scope } = routeOf(name);
    const needed = NEEDED[name] ?? (method === "GET" ? "read" : "admin");
    expect(scope).toBe(needed);
    const isAllowed = (kind: Kind): boolean => allows(kind === "everything" ? null : [kind], needed);
    for (const kind of KINDS.filter(isAllowed)) {
      const { status, json } = await request(name, strange.get(kind));
      expect([kind, status === 401, json["code"] === "missing_scope"]).toEqual([kind, false, false]);
    }
    for (const kind of KINDS.filter((each) => !isAllowed(each))) {
      const { status, json } = await request(name, strange.get(kind));
      const { requestId: _, ...problem } = json;
      expect([status, problem]).toEqual([
        403,
        {
          type: "https://voice.example/problems/missing_scope",
          title: "The API key lacks a scope",
          status: 403,
          detail: `This operation needs an API key with the scope ${needed}; this key has only ${kind}.`,
          code: "missing_scope",
          requiredScope: needed,
        },
      ]);
    }
  });

  it("are needed for every operation with a key, and for no other", () => {
    for (const name of ROUTE_NAMES) expect(routeOf(name).scope === null).toBe(!routeOf(name).authenticated);
  });

  it("are checked before the body is read", async () => {
    const reply = await send(server, "POST", "/api/agents", {
      headers: { "x-api-key": own.get("read") ?? "", "content-type": "text/plain" },
      body: "not JSON",
    });
    expect(reply.json["code"]).toBe("missing_scope");
  });

  const seenBy = async (name: RouteName, kind: Kind): Promise<Record<string, unknown>> =>
    (await request(name, own.get(kind))).json;

  it("show secrets that sign requests only to keys that may set them", async () => {
    await owner.patch("/api/sip", {
      fallbackHandler: { url: "https://hooks.example/sip", secrets: ["sip-secret-123456"] },
    });
    await owner.put(`/api/webhooks/${ids["webhook_id"]}`, {
      url: "https://hooks.example/calls",
      events: ["call.ended"],
      secrets: ["webhook-secret-1"],
    });
    for (const kind of ["read", "calls"] as const) {
      expect((await seenBy("getWebhook", kind))["secrets"]).toEqual(["webh…"]);
      expect(JSON.stringify(await seenBy("listWebhooks", kind))).not.toContain("webhook-secret-1");
      expect((await seenBy("getSipConfig", kind))["fallbackHandler"]).toMatchObject({ secrets: ["sip-…"] });
    }
    for (const kind of ["admin", "everything"] as const) {
      expect((await seenBy("getWebhook", kind))["secrets"]).toEqual(["webhook-secret-1"]);
      expect((await seenBy("getSipConfig", kind))["fallbackHandler"]).toMatchObject({
        secrets: ["sip-secret-123456"],
      });
    }
    expect((await seenBy("getScheduledBatch", "read"))["webhookSecret"]).toBeNull();
  });

  it("show where to join a call only to keys that may create calls", async () => {
    for (const name of ["getCall", "listCalls"] as const) {
      const joinUrl = /server_web_socket\//;
      expect(JSON.stringify(await seenBy(name, "read"))).not.toMatch(joinUrl);
      expect(JSON.stringify(await seenBy(name, "calls"))).toMatch(joinUrl);
    }
  });

  it("show secrets of callbacks only to keys that may create calls", async () => {
    const callbacks = { ended: { url: "https://hooks.example/ended", secrets: ["callback-secret-1"] } };
    const made = await request("createCall", own.get("calls"), { callbacks });
    expect([made.status, made.json["callbacks"]]).toEqual([201, callbacks]);
    const path = `/api/calls/${String(made.json["callId"])}`;
    const read = await send(server, "GET", path, { headers: { "x-api-key": own.get("read") ?? "" } });
    expect(read.json["callbacks"]).toEqual({
      ended: { url: "https://hooks.example/ended", secrets: ["call…"] },
    });
    expect(JSON.stringify(await seenBy("listCalls", "read"))).not.toContain("callback-secret-1");
    expect(JSON.stringify(await seenBy("listCalls", "calls"))).toContain("callback-secret-1");
  });

  it("show batches with their secret to keys that may create them", async () => {
    const body = {
      calls: [{}],
      webhookUrl: "https://hooks.example/batch",
      webhookSecret: "batch-secret-1",
    };
    const made = await request("createScheduledBatch", own.get("calls"), body);
    expect([made.status, made.json["webhookSecret"]]).toEqual([201, "batch-secret-1"]);
    const list = JSON.stringify(await seenBy("listScheduledBatches", "read"));
    expect([list.includes("hooks.example/batch"), list.includes("batch-secret-1")]).toEqual([true, false]);
  });
});
