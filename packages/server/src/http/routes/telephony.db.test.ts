import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { changeTelephonyConfigs, readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { WRONG_OF_ONE_PER_SECOND } from "../telephony/wrong-signatures.ts";
import { type Client, newClient, openTestServer, send, testDeps } from "../testing/http-fixture.ts";

const first = { accountSid: "AC0123", authToken: "first-secret-token" };
const second = {
  accountSid: "acc",
  apiKey: "KEY-second-secret",
  publicKey: "PUB-second-secret",
  applicationSid: "app",
};
const url = "/api/telephony_configs/telephony1";
const whole = "/api/accounts/me/telephony_config";

const shownFirst = {
  accountSid: "AC0123",
  authTokenPrefix: { prefix: "firs" },
  callCreationAllowedAgentIds: [],
  callCreationAllowAllAgents: false,
  requestContextMapping: {},
};
const shownSecond = {
  accountSid: "acc",
  apiKeyPrefix: { prefix: "KEY-" },
  publicKeyPrefix: { prefix: "PUB-" },
  applicationSid: "app",
  callCreationAllowedAgentIds: [],
  callCreationAllowAllAgents: false,
  requestContextMapping: {},
};

describeOnBothDatabases("the telephony configuration of the interface", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
  });
  afterEach(async () => {
    await server.close();
  });

  const newAgent = async (owner = client): Promise<string> =>
    String((await owner.post("/api/agents", {})).json["agentId"]);

  it("is made once, read, changed and removed, in every spelling of the carrier", async () => {
    expect((await client.get(url)).json["code"]).toBe("not_found");
    const made = await client.post("/api/telephony_configs/twilio", first);
    expect([made.status, made.json]).toEqual([201, shownFirst]);
    expect(made.headers["location"]).toBe("https://voice.example/api/telephony_configs/telephony1");
    const again = await client.post(url, first);
    expect([again.status, again.json["code"]]).toEqual([409, "conflict"]);
    const changed = await client.patch(url, { authToken: "other-secret-token" });
    const shown = { ...shownFirst, authTokenPrefix: { prefix: "othe" } };
    expect([changed.status, changed.json]).toEqual([200, shown]);
    for (const spelling of ["telephony1", "twilio"]) {
      expect((await client.get(`/api/telephony_configs/${spelling}`)).json).toEqual(shown);
    }
    expect((await client.delete("/api/telephony_configs/twilio")).status).toBe(204);
    for (const reply of [await client.get(url), await client.patch(url, {}), await client.delete(url)]) {
      expect([reply.status, reply.json["code"]]).toEqual([404, "not_found"]);
    }
  });

  it("is not there for other carriers", async () => {
    for (const carrier of ["telephony4", "exotel", "telephony5"]) {
      const at = `/api/telephony_configs/${carrier}`;
      for (const reply of [await client.get(at), await client.post(at, first), await client.delete(at)]) {
        expect(reply.status).toBe(404);
      }
    }
  });

  it("checks a body by its carrier", async () => {
    const wrong = await client.post("/api/telephony_configs/telnyx", { ...first, applicationSid: "" });
    expect(wrong.status).toBe(400);
    const fields = (wrong.json["errors"] as { field: string }[]).map(({ field }) => field).sort();
    expect(fields).toEqual(["apiKey", "applicationSid", "authToken", "publicKey"]);
    expect((await client.post("/api/telephony_configs/telephony2", second)).json).toEqual(shownSecond);
    const third = await client.post("/api/telephony_configs/telephony3", {
      authId: "MA",
      authToken: "short",
    });
    expect(third.json).toMatchObject({ authId: "MA", authTokenPrefix: { prefix: "" } });
  });

  it("keeps secrets sealed, and gives them to the service alone", async () => {
    await client.post(url, first);
    const { db } = current();
    const stored = await sql`select * from telephony_configs where account_id = ${client.accountId}`.execute(
      db.query,
    );
    expect(JSON.stringify(stored.rows)).not.toContain("first-secret");
    const opened = await readTelephonyConfigs(db, client.accountId);
    expect(opened.telephony1?.secrets).toEqual({ authToken: "first-secret-token" });
  });

  it("takes agents of the account only, and forgets deleted ones", async () => {
    const [one, two] = [await newAgent(), await newAgent()];
    const stranger = await newClient(server, current().db);
    const strange = await newAgent(stranger);
    const refused = await client.post(url, {
      ...first,
      callCreationAllowedAgentIds: [one, strange, randomUUID()],
    });
    expect(refused.json["errors"]).toEqual([
      { field: "callCreationAllowedAgentIds.1", message: "is not an agent of this account" },
      { field: "callCreationAllowedAgentIds.2", message: "is not an agent of this account" },
    ]);
    expect((await client.get(url)).status).toBe(404);
    const ids = [one, two, one];
    const made = await client.post(url, { ...first, callCreationAllowedAgentIds: ids });
    expect(made.json["callCreationAllowedAgentIds"]).toEqual([one, two]);
    await client.delete(`/api/agents/${one}`);
    expect((await client.get(url)).json["callCreationAllowedAgentIds"]).toEqual([two]);
    const all = await client.patch(url, { callCreationAllowAllAgents: true });
    expect(all.json["errors"]).toEqual([
      { field: "callCreationAllowAllAgents", message: "must not be true beside callCreationAllowedAgentIds" },
    ]);
    const cleared = { callCreationAllowAllAgents: true, callCreationAllowedAgentIds: null };
    expect((await client.patch(url, cleared)).json).toMatchObject({
      callCreationAllowAllAgents: true,
      callCreationAllowedAgentIds: [],
    });
  });

  it("does not bring back an agent that is deleted while the configuration is written", async () => {
    const { db } = current();
    const agentId = await newAgent();
    await client.post(url, { ...first, callCreationAllowedAgentIds: [agentId] });
    let deletion: Promise<unknown> = Promise.resolve();
    await changeTelephonyConfigs(db, client.accountId, ({ telephony1 }) => {
      deletion = client.delete(`/api/agents/${agentId}`);
      return telephony1 === undefined ? {} : { telephony1 };
    });
    await deletion;
    expect((await client.get(url)).json["callCreationAllowedAgentIds"]).toEqual([]);
  });

  it("maps fields of the request, and clears the mapping", async () => {
    const requestContextMapping = { From: "user.phone_number", "a.b": "c" };
    expect((await client.post(url, { ...first, requestContextMapping })).json).toMatchObject({
      requestContextMapping,
    });
    const conflict = await client.patch(url, { requestContextMapping: { From: "a", To: "a.b" } });
    expect(conflict.status).toBe(400);
    expect((await client.patch(url, { requestContextMapping: null })).json["requestContextMapping"]).toEqual(
      {},
    );
  });

  it("is the same data in the older form", async () => {
    expect((await client.get(whole)).json).toEqual({});
    const made = await client.patch(whole, { telephony1: first, telnyx: second });
    expect([made.status, made.json]).toEqual([200, { telephony1: shownFirst, telephony2: shownSecond }]);
    const missing = await client.patch(whole, { telephony3: { authId: "MA" }, telephony1: null });
    expect(missing.json["errors"]).toEqual([{ field: "telephony3.authToken", message: "is required" }]);
    const strange = randomUUID();
    const unknown = await client.patch(whole, { telephony2: { callCreationAllowedAgentIds: [strange] } });
    expect(unknown.json["errors"]).toEqual([
      { field: "telephony2.callCreationAllowedAgentIds.0", message: "is not an agent of this account" },
    ]);
    expect((await client.get(whole)).json).toEqual(made.json);
    const changed = await client.patch(whole, { telephony1: null, telephony2: { applicationSid: "new" } });
    expect(changed.json).toEqual({ telephony2: { ...shownSecond, applicationSid: "new" } });
    expect((await client.get(url)).status).toBe(404);
    expect((await client.get("/api/telephony_configs/telephony2")).json).toEqual(changed.json["telephony2"]);
  });

  it("prints vendor names where the deployment says so", async () => {
    const base = testDeps(current());
    const vendor = await openTestServer(current(), { settings: { ...base.settings, apiNames: "vendor" } });
    const owner = await newClient(vendor, current().db);
    const made = await owner.post("/api/telephony_configs/telnyx", second);
    expect(made.headers["location"]).toBe("https://voice.example/api/telephony_configs/telnyx");
    expect(Object.keys((await owner.get(whole)).json)).toEqual(["telnyx"]);
    await vendor.close();
  });

  it("belongs to its account", async () => {
    await client.post(url, first);
    const stranger = await newClient(server, current().db);
    expect((await stranger.get(url)).status).toBe(404);
    expect((await stranger.get(whole)).json).toEqual({});
    expect((await stranger.post(url, { ...first, accountSid: "other" })).status).toBe(201);
    expect((await client.get(url)).json["accountSid"]).toBe("AC0123");
  });

  it("lets one of many at once configure a carrier", async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => client.post(url, first)));
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409]);
  });

  it("answers a carrier's webhook without a key alike, whether the agent exists or not", async () => {
    const agentId = await newAgent();
    const deleted = await newAgent();
    await client.delete(`/api/agents/${deleted}`);
    const bodies = [
      ["application/x-www-form-urlencoded", "From=%2B49&To=%2B50"],
      ["application/json", '{"data":{}}'],
    ] as const;
    for (const [type, body] of bodies) {
      const answers = await Promise.all(
        [agentId, deleted, randomUUID()].map(async (id) => {
          const headers = { "content-type": type, "x-request-id": "same" };
          const reply = await send(server, "POST", `/api/agents/${id}/telephony_xml`, { headers, body });
          const { date: _date, ...shown } = reply.headers;
          return { status: reply.status, headers: shown, text: reply.text };
        }),
      );
      expect(answers[0]?.status).toBe(403);
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    }
  });

  it("slows down webhooks without a signature, alike whether the agent exists or not", async () => {
    const atMs = Date.now();
    for (const id of [await newAgent(), randomUUID()]) {
      const own = await openTestServer(current(), { nowMs: () => atMs });
      const path = `/api/agents/${id}/telephony_xml`;
      const statuses: number[] = [];
      for (let n = 0; n < WRONG_OF_ONE_PER_SECOND; n += 1)
        statuses.push((await send(own, "POST", path)).status);
      expect(new Set(statuses)).toEqual(new Set([403]));
      const refused = await send(own, "POST", path);
      expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
      // Right ones for others come from the same address.
      for (const others of ["agents", "accounts"])
        expect((await send(own, "POST", `/api/${others}/${randomUUID()}/telephony_xml`)).status).toBe(403);
      expect((await send(own, "POST", path, { from: "192.0.2.9" })).status).toBe(403);
      await own.close();
    }
  });
});
