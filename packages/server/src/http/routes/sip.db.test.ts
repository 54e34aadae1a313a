import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { SipCheck } from "@parley/schema";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdRegistrations, noteRegistration } from "../../store/telephony/held-registrations.ts";
import { setSipEnabled } from "../../store/telephony/sip-accounts.ts";
import { changeSipConfig } from "../../store/telephony/sip-configs.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

interface Registration {
  readonly registrationId: string;
  readonly created: string;
  readonly [field: string]: unknown;
}

interface Page {
  readonly results: readonly Registration[];
  readonly next: string | null;
  readonly total: number;
}

interface Config {
  readonly allowedAgents: readonly { readonly agentId: string }[];
  readonly fallbackHandler: { readonly url: string; readonly secrets: readonly string[] } | null;
}

const registration = { username: "1000", password: "sip-password", proxy: "sip.carrier.example" };
const list = "/api/sip/registrations";

describeOnBothDatabases("the SIP configuration of the interface", (current) => {
  let server: HttpServer;
  let client: Client;

  beforeEach(async () => {
    server = await openTestServer(current(), {
      refusedTarget: (url) => (url.includes("127.0.0.1") ? "address not allowed" : null),
    });
    client = await newClient(server, current().db);
  });
  afterEach(async () => {
    await server.close();
  });

  const newAgent = async (): Promise<string> =>
    String((await client.post("/api/agents", {})).json["agentId"]);

  it("has rules for calls, which are refused and encrypted unless the account says so", async () => {
    const path = "/api/sip/rules";
    const defaults = { incomingRefer: "refuse", dialledSrtp: "required" };
    expect((await client.get(path)).json).toEqual(defaults);
    const follow = { ...defaults, incomingRefer: "follow" };
    expect((await client.patch(path, { incomingRefer: "follow" })).json).toEqual(follow);
    const both = { incomingRefer: "follow", dialledSrtp: "preferred" };
    expect((await client.patch(path, { dialledSrtp: "preferred" })).json).toEqual(both);
    expect((await client.get(path)).json).toEqual(both);
    const other = await newClient(server, current().db);
    expect((await other.get(path)).json).toEqual(defaults);
    expect((await client.patch(path, { incomingRefer: null })).json).toEqual({
      ...defaults,
      dialledSrtp: "preferred",
    });
    for (const body of [{ incomingRefer: "yes" }, { dialledSrtp: "allowed" }, { other: 1 }])
      expect((await client.patch(path, body)).status).toBe(400);
  });

  it("has defaults, and a domain of the account", async () => {
    const defaults = {
      allowedCidrRanges: [],
      allowAllAgents: false,
      allowedAgents: [],
      fallbackHandler: null,
      domain: `${client.accountId}.sip.example`,
      enabled: false,
    };
    expect((await client.get("/api/sip")).json).toEqual(defaults);
    expect((await client.patch("/api/sip", {})).json).toEqual(defaults);
  });

  it("changes what is given, keeps the rest and clears with null", async () => {
    const agentId = await newAgent();
    const handler = { url: "https://shop.example/sip", secrets: ["one", "two"] };
    const given = {
      allowedCidrRanges: ["203.0.113.77/24", "198.51.100.1"],
      allowedAgents: [{ agentId, toUserPattern: "\\+49\\d+" }, { agentId }],
      fallbackHandler: handler,
    };
    const changed = await client.patch("/api/sip", given);
    expect([changed.status, changed.json]).toEqual([
      200,
      {
        ...given,
        allowedCidrRanges: ["203.0.113.0/24", "198.51.100.1/32"],
        allowAllAgents: false,
        domain: `${client.accountId}.sip.example`,
        enabled: false,
      },
    ]);
    const more = await client.patch("/api/sip", { allowAllAgents: true, allowedCidrRanges: null });
    expect(more.json).toEqual({ ...changed.json, allowAllAgents: true, allowedCidrRanges: [] });
    expect((await client.get("/api/sip")).json).toEqual(more.json);
    const cleared = await client.patch("/api/sip", {
      allowAllAgents: null,
      allowedAgents: null,
      fallbackHandler: null,
    });
    expect(cleared.json).toMatchObject({ allowAllAgents: false, allowedAgents: [], fallbackHandler: null });
  });

  it("makes a secret for a handler without one, keeps it with another address, and stores it sealed", async () => {
    const made = await client.patch<Config>("/api/sip", { fallbackHandler: { url: "https://a.example" } });
    const secrets = made.json.fallbackHandler?.secrets ?? [];
    expect(secrets).toEqual([expect.stringMatching(/^whsec_[\w+/]{43}=$/)]);
    const moved = await client.patch<Config>("/api/sip", { fallbackHandler: { url: "https://b.example" } });
    expect(moved.json.fallbackHandler).toEqual({ url: "https://b.example", secrets });
    const stored = await sql`select * from sip_configs where account_id = ${client.accountId}`.execute(
      current().db.query,
    );
    expect(stored.rows).toHaveLength(1);
    expect(JSON.stringify(stored.rows)).not.toContain(secrets[0]);
    expect((await client.get<Config>("/api/sip")).json.fallbackHandler?.secrets).toEqual(secrets);
  });

  it("refuses a handler at an address that is not allowed", async () => {
    const refused = await client.patch("/api/sip", { fallbackHandler: { url: "http://127.0.0.1/x" } });
    expect(refused.json["errors"]).toEqual([
      { field: "fallbackHandler.url", message: "is not allowed: address not allowed" },
    ]);
  });

  it("takes agents of the account only, and forgets deleted ones", async () => {
    const [one, two] = [await newAgent(), await newAgent()];
    const stranger = await newClient(server, current().db);
    const strange = String((await stranger.post("/api/agents", {})).json["agentId"]);
    const refused = await client.patch("/api/sip", {
      allowedAgents: [{ agentId: one }, { agentId: strange }, { agentId: randomUUID() }],
    });
    expect(refused.json["errors"]).toEqual([
      { field: "allowedAgents.1.agentId", message: "is not an agent of this account" },
      { field: "allowedAgents.2.agentId", message: "is not an agent of this account" },
    ]);
    const allowedAgents = [{ agentId: one, toUserPattern: "a" }, { agentId: two }, { agentId: one }];
    await client.patch("/api/sip", { allowedAgents });
    await client.delete(`/api/agents/${one}`);
    expect((await client.get("/api/sip")).json["allowedAgents"]).toEqual([{ agentId: two }]);
    await client.delete(`/api/agents/${two}`);
    expect((await client.get("/api/sip")).json["allowedAgents"]).toEqual([]);
  });

  it("does not bring back an agent that is deleted while the configuration is written", async () => {
    const agentId = await newAgent();
    await client.patch("/api/sip", { allowedAgents: [{ agentId }] });
    const { db } = current();
    await Promise.all([
      client.delete(`/api/agents/${agentId}`),
      ...[1, 2, 3].map((bits) =>
        changeSipConfig(db, client.accountId, { allowedCidrRanges: [`0.0.0.0/${bits}`] }),
      ),
    ]);
    expect((await client.get("/api/sip")).json["allowedAgents"]).toEqual([]);
  });

  it("keeps registrations with sealed passwords", async () => {
    const made = await client.post<Registration>(list, { ...registration, successful: true });
    const { registrationId, created } = made.json;
    const shown = {
      registrationId,
      created,
      username: "1000",
      proxy: "sip.carrier.example",
      outboundProxy: null,
      authUser: null,
      successful: null,
      lastStatus: null,
      lastReason: null,
      lastAttempt: null,
      nextAttempt: null,
    };
    expect([made.status, made.json]).toEqual([201, shown]);
    const url = `${list}/${registrationId}`;
    expect(made.headers["location"]).toBe(`https://voice.example${url}`);
    const stored = await sql<{ sealed_password: string }>`
      select * from sip_registrations where id = ${registrationId}`.execute(current().db.query);
    expect(JSON.stringify(stored.rows)).not.toContain("sip-password");
    const changed = await client.patch(url, {
      authUser: "auth",
      outboundProxy: "out.example:5060",
      password: "new",
    });
    expect(changed.json).toEqual({ ...shown, authUser: "auth", outboundProxy: "out.example:5060" });
    const after = await sql<{ sealed_password: string }>`
      select * from sip_registrations where id = ${registrationId}`.execute(current().db.query);
    const sealed = after.rows[0]?.sealed_password ?? "";
    expect(current().db.sealer.open(sealed, `sip_registrations:${registrationId}`)).toBe("new");
    const cleared = await client.patch(url, { authUser: null, outboundProxy: null });
    expect(cleared.json).toEqual(shown);
    expect((await client.get(url)).json).toEqual(shown);
    expect((await client.patch(url, { proxy: null })).status).toBe(400);
    expect((await client.delete(url)).status).toBe(204);
    for (const reply of [await client.get(url), await client.patch(url, {}), await client.delete(url)]) {
      expect(reply.status).toBe(404);
    }
  });

  it("shows how the last attempt ended, until the registration is changed", async () => {
    const { db } = current();
    const made = await client.post<Registration>(list, registration);
    const { registrationId } = made.json;
    await setSipEnabled(db, client.accountId, true);
    expect((await client.get("/api/sip")).json["enabled"]).toBe(true);
    await holdRegistrations(db, "node", 60_000);
    const attempt = { isSuccessful: false, status: 403, reason: "Forbidden\u0000", nextInMs: 30_000 };
    await noteRegistration(db, "another node", registrationId, { ...attempt, status: 404 });
    await noteRegistration(db, "node", registrationId, attempt);
    const url = `${list}/${registrationId}`;
    const { json } = await client.get<Registration>(url);
    expect(json).toMatchObject({ successful: false, lastStatus: 403, lastReason: "Forbidden\ufffd" });
    const waitMs = Date.parse(String(json["nextAttempt"])) - Date.parse(String(json["lastAttempt"]));
    expect(waitMs).toBe(30_000);
    expect((await client.patch(url, {})).json).toEqual(json);
    expect((await client.patch(url, { proxy: "other.example" })).json).toMatchObject({
      successful: null,
      lastStatus: null,
      lastReason: null,
      lastAttempt: null,
      nextAttempt: null,
    });
    await noteRegistration(db, "node", registrationId, { ...attempt, nextInMs: null });
    expect((await client.get(url)).json).toMatchObject({ lastStatus: 403, nextAttempt: null });
    await client.delete(url);
  });

  it("refuses a third check of an account while two are running, and targets that are no addresses", async () => {
    const finished = Promise.withResolvers<SipCheck>();
    const asked: (string | null)[] = [];
    const slow = await openTestServer(current(), {
      sipChecks: {
        check: (_accountId, to) => {
          asked.push(to);
          return finished.promise;
        },
        checkRegistration: () => Promise.resolve(null),
      },
    });
    const one = await newClient(slow, current().db);
    const running = [
      one.post("/api/sip/check", { to: "sip:trunk.example;transport=tcp" }),
      one.post("/api/sip/check", {}),
    ];
    await vi.waitFor(() => expect(asked).toHaveLength(2), { timeout: 30_000 });
    expect((await one.post("/api/sip/check", {})).status).toBe(429);
    const other = await newClient(slow, current().db);
    expect((await other.post(`${list}/${randomUUID()}/check`, {})).status).toBe(404);
    for (const to of ["", "trunk example", "http://trunk.example", "sip:a@b@c", "x".repeat(201), "sip:<a>"]) {
      expect([to, (await other.post("/api/sip/check", { to })).status]).toEqual([to, 400]);
    }
    finished.resolve({ ok: true, findings: [], answers: [] });
    for (const answer of await Promise.all(running)) {
      expect([answer.status, answer.json]).toEqual([200, { ok: true, findings: [], answers: [] }]);
    }
    expect(new Set(asked)).toEqual(new Set([null, "sip:trunk.example;transport=tcp"]));
    await slow.close();
  });

  it("lists registrations by pages, newest first", async () => {
    const made: string[] = [];
    for (const username of ["a", "b", "c"]) {
      made.unshift(
        (await client.post<Registration>(list, { ...registration, username })).json.registrationId,
      );
    }
    await (await newClient(server, current().db)).post(list, registration);
    const page = await client.get<Page>(`${list}?pageSize=2`);
    const rest = await client.get<Page>(page.json.next ?? "");
    const seen = [...page.json.results, ...rest.json.results].map(({ registrationId }) => registrationId);
    expect([page.json.total, [...seen].sort()]).toEqual([3, [...made].sort()]);
    expect(page.text + rest.text).not.toContain("sip-password");
  });
});
