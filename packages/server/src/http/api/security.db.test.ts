/** Checks every route of the table: what must be refused, and how. */

import { ROUTE_NAMES, routeOf, type RouteName } from "@parley/schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey, revokeApiKey } from "../../store/accounts/api-keys.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { FAILED_AUTHENTICATIONS_PER_SECOND } from "./auth.ts";
import type { HttpServer } from "../deps.ts";
import { MAX_BODY_BYTES } from "./json-body.ts";
import {
  type Client,
  newClient,
  openTestServer,
  PUBLIC_URL,
  type Reply,
  send,
  testDeps,
} from "../testing/http-fixture.ts";
import { makeSamples, type SampleIds, VALID_BODIES } from "../testing/samples/samples.ts";
import { buildServer } from "../server.ts";

const closed = ROUTE_NAMES.filter((name) => routeOf(name).authenticated);
const withIds = closed.filter((name) => routeOf(name).path.includes("{"));
const withBody = closed.filter((name) => routeOf(name).request !== null);

function problemOf({ json }: Reply): Record<string, unknown> {
  const { requestId, ...rest } = json;
  expect(requestId).toMatch(/^[\w.:-]+$/);
  return rest;
}

describeOnBothDatabases("every route", (current) => {
  let server: HttpServer;
  let owner: Client;
  let stranger: Client;
  let ids: SampleIds = {};
  let address = 0;

  beforeAll(async () => {
    server = await openTestServer(current());
    const { db } = current();
    owner = await newClient(server, db);
    stranger = await newClient(server, db);
    ids = await makeSamples(owner);
  });
  afterAll(async () => {
    await server.close();
  });

  function urlOf(name: RouteName): string {
    return routeOf(name).path.replaceAll(/\{([a-z_]+)\}/g, (_, id: string) => ids[id] ?? "");
  }

  /** Every request has its own address, so that failed authentications do not add up. */
  async function request(name: RouteName, headers: Record<string, string>, body?: string): Promise<Reply> {
    const { method, request: taken } = routeOf(name);
    address += 1;
    const from = `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`;
    const sent = body ?? (taken === null ? undefined : "{}");
    return send(server, method, urlOf(name), {
      headers,
      from,
      ...(sent === undefined ? {} : { body: sent }),
    });
  }

  describe.each(closed)("%s", (name) => {
    it("refuses every key that does not work with one and the same answer", async () => {
      const { db } = current();
      const accountId = await newAccount(db);
      const spare = { name: "spare", creator: null, expiryDate: null };
      await createApiKey(db, accountId, spare);
      const revoked = await createApiKey(db, accountId, spare);
      await revokeApiKey(db, accountId, revoked.prefix);
      const expired = await createApiKey(db, accountId, { ...spare, expiryDate: "2020-01-01T00:00:00Z" });
      const wrongSecret = `${owner.prefix}.${"a".repeat(32)}`;
      const headers: Record<string, string>[] = [
        {},
        { "x-api-key": "" },
        { "x-api-key": "nonsense" },
        { "x-api-key": `${owner.key}x` },
        { "x-api-key": `ABCDEFGH.${"a".repeat(32)}` },
        { "x-api-key": wrongSecret },
        { "x-unsafe-api-key": wrongSecret },
        { "x-api-key": revoked.secret },
        { "x-api-key": expired.secret },
        { authorization: `Bearer ${owner.key}` },
      ];
      const replies = await Promise.all(headers.map((one) => request(name, one)));
      for (const reply of replies) {
        expect(reply.status).toBe(401);
        expect(reply.headers["www-authenticate"]).toBe("ApiKey");
        expect(reply.headers["content-type"]).toBe("application/problem+json");
        expect(problemOf(reply)).toEqual({
          type: `${PUBLIC_URL}/problems/unauthenticated`,
          title: "A valid API key is needed",
          status: 401,
          detail: "Send a valid API key in the X-API-Key header.",
          code: "unauthenticated",
        });
      }
    });

    it("takes the key in either header", async () => {
      for (const header of ["X-API-Key", "x-unsafe-api-key"]) {
        const { status } = await request(name, { [header]: stranger.key });
        expect([401, 403]).not.toContain(status);
      }
    });

    it("answers an unknown method with 405 and what is allowed", async () => {
      const { method, path } = routeOf(name);
      const known = ROUTE_NAMES.map(routeOf).filter((route) => route.path === path);
      const other = (["PUT", "PATCH", "DELETE", "POST"] as const).find((each) =>
        known.every((route) => route.method !== each),
      );
      expect(other).toBeDefined();
      const reply = await send(server, other ?? "PUT", urlOf(name), { headers: { "x-api-key": owner.key } });
      expect([reply.status, reply.json["code"]]).toEqual([405, "method_not_allowed"]);
      const allowed = String(reply.headers["allow"]).split(", ");
      expect(allowed).toContain(method);
      expect(allowed).not.toContain(other);
    });

    it("refuses unknown query parameters", async () => {
      const { method, request: taken } = routeOf(name);
      const reply = await send(server, method, `${urlOf(name)}?colour=red`, {
        headers: { "x-api-key": stranger.key },
        ...(taken === null ? {} : { body: {} }),
      });
      expect(reply.status).toBe(400);
      expect(reply.json["errors"]).toEqual([{ field: "colour", message: "is not a known field" }]);
    });

    it("answers a browser's preflight", async () => {
      const reply = await send(server, "OPTIONS", urlOf(name), {
        headers: { origin: "https://any.example", "access-control-request-method": routeOf(name).method },
      });
      expect(reply.status).toBe(204);
      expect(reply.headers["access-control-allow-origin"]).toBe("*");
      expect(String(reply.headers["access-control-allow-methods"])).toContain(routeOf(name).method);
      expect(reply.headers["access-control-allow-headers"]).not.toMatch(/(^|, )X-API-Key/);
    });
  });

  // A carrier has no owner: it is in the path before it is configured.
  const named = withIds.filter((name) => name !== "createTelephonyConfig");

  it.each(named)("%s does not know another account's resources", async (name) => {
    const strange = await request(
      name,
      { "x-api-key": stranger.key },
      VALID_BODIES[name] && JSON.stringify(VALID_BODIES[name]),
    );
    expect([strange.status, strange.json["code"]]).toEqual([404, "not_found"]);
    // The owner's resource was not harmed by the attempt.
    for (const url of [`/api/agents/${ids["agent_id"]}`, `/api/calls/${ids["call_id"]}`]) {
      expect((await owner.get(url)).status).toBe(200);
    }
  });

  it.each(withIds)("%s answers a malformed id with 404", async (name) => {
    const { method, path, request: taken } = routeOf(name);
    for (const bad of ["x", "..%2f..%2fetc", "%00", "1'--", "x".repeat(300), "%zz"]) {
      const url = path.replaceAll(/\{[a-z_]+\}/g, bad);
      const body = taken === null ? {} : { body: {} };
      const reply = await send(server, method, url, { headers: { "x-api-key": owner.key }, ...body });
      expect([reply.status, reply.json["code"]]).toEqual([404, "not_found"]);
      expect(reply.headers["content-type"]).toBe("application/problem+json");
    }
  });

  describe.each(withBody)("%s", (name) => {
    const key = (): Record<string, string> => ({ "x-api-key": owner.key });

    it.each([
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "nonsense",
    ])("refuses a body of the type %s", async (type) => {
      // Routes that also take files describe a problem with one in their own words.
      if (routeOf(name).upload !== null && type.startsWith("multipart")) return;
      const reply = await request(name, { ...key(), "content-type": type });
      expect([reply.status, reply.json["code"]]).toEqual([415, "unsupported_media_type"]);
    });

    it("refuses a compressed body", async () => {
      const reply = await request(name, { ...key(), "content-encoding": "gzip" });
      expect(reply.status).toBe(415);
    });

    it("takes any JSON type with any charset parameter", async () => {
      for (const type of ["application/json; charset=latin1", "application/merge-patch+json"]) {
        const reply = await request(name, { ...key(), "content-type": type }, '{"colour":1}');
        expect(reply.status).toBe(400);
      }
    });

    it("refuses a body above the limit without reading it", async () => {
      const limit = routeOf(name).longList?.maxBytes ?? MAX_BODY_BYTES;
      const large = JSON.stringify({ name: "x".repeat(limit) });
      const reply = await request(name, key(), large);
      expect([reply.status, reply.json["code"]]).toEqual([413, "payload_too_large"]);
    });

    it.each([
      ["malformed", '{"name":', "validation_failed"],
      ["cut in half", '{"na', "validation_failed"],
      ["not an object", "[]", "validation_failed"],
      ["null", "null", "validation_failed"],
      ["a text", '"x"', "validation_failed"],
      ["nested too deeply", `{"name":${"[".repeat(65)}${"]".repeat(65)}}`, "payload_too_large"],
      ["setting a prototype", '{"__proto__":{"x":1}}', "validation_failed"],
      ["holding NUL", '{"name":"a\\u0000b"}', "validation_failed"],
      ["holding half a surrogate pair", '{"name":"\\ud800"}', "validation_failed"],
    ])("refuses a body that is %s", async (_, body, code) => {
      const reply = await request(name, key(), body);
      expect([reply.json["code"], reply.status]).toEqual([code, code === "validation_failed" ? 400 : 413]);
      expect(reply.json["detail"]).not.toBe("");
    });
  });

  // A tool accepts any values in a trial.
  it.each(withBody.filter((name) => name !== "testTool"))("%s refuses an unknown field", async (name) => {
    const isAgent = name === "createAgent" || name === "updateAgent";
    const isCall = name === "createCall" || name === "createAgentCall";
    const [wrong, right] = isAgent
      ? [{ systemPrompt: "x" }, "callTemplate.systemPrompt"]
      : isCall
        ? [{ maxDurations: "5s" }, "maxDuration"]
        : [{ ...VALID_BODIES[name], colour: "red" }, null];
    const reply = await request(name, { "x-api-key": owner.key }, JSON.stringify(wrong));
    expect(reply.status).toBe(400);
    const hint = right === null ? "" : ` here; did you mean ${right}?`;
    expect(reply.json["errors"]).toContainEqual({
      field: Object.keys(wrong).at(-1),
      message: `is not a known field${hint}`,
    });
  });

  it("does not read the body of a request without a key", async () => {
    const reply = await request("createAgent", {}, "x".repeat(MAX_BODY_BYTES * 2));
    expect(reply.status).toBe(401);
  });

  it("ignores unknown fields where the deployment says so", async () => {
    const base = testDeps(current());
    const lenient = await buildServer({ ...base, settings: { ...base.settings, ignoreUnknownFields: true } });
    const client = await newClient(lenient, current().db);
    const made = await client.post("/api/agents", { name: "A", colour: "red", callTemplate: { size: 1 } });
    expect([made.status, made.json["name"]]).toEqual([201, "A"]);
    await lenient.close();
  });

  it("prints vendor names where the deployment says so, and takes both", async () => {
    const base = testDeps(current());
    const vendor = await buildServer({ ...base, settings: { ...base.settings, apiNames: "vendor" } });
    const client = await newClient(vendor, current().db);
    for (const key of ["telephony1", "twilio"]) {
      const made = await client.post("/api/agents", { callTemplate: { medium: { [key]: {} } } });
      expect(made.json["callTemplate"]).toMatchObject({ medium: { twilio: {} } });
    }
    expect((await client.get("/api/agents?limit=5&offset=0&pageSize=1")).status).toBe(200);
    expect((await client.get("/api/agents?pageSize=0")).status).toBe(400);
    const call = await client.post("/api/calls", { medium: { telephony2: {} } });
    expect(call.json["joinUrl"]).toContain("/telnyx/");
    const refused = await client.post("/api/agents", {
      callTemplate: { medium: { twilio: { dialled: 1 }, telephony2: {} } },
    });
    expect(refused.json["errors"]).toContainEqual({
      field: "callTemplate.medium.twilio.dialled",
      message: "is not a known field",
    });
    expect(refused.text).not.toMatch(/telephony[12]/);
    expect((await vendor.inject({ method: "GET", url: "/api/schema/" })).body).toContain('"twilio"');
    await vendor.close();
  });

  describe("rates", () => {
    it("answer 429 beyond the key's rate, and let it continue a moment later", async () => {
      let nowMs = 1_000_000;
      const base = testDeps(current());
      const settings = { ...base.settings, rateLimitPerKey: 3, rateLimitPerAccount: 5 };
      const limited = await buildServer({ ...base, settings, nowMs: () => nowMs });
      const client = await newClient(limited, current().db);
      const statuses: number[] = [];
      for (let i = 0; i < 4; i += 1) statuses.push((await client.get("/api/agents")).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
      const refused = await client.get("/api/models");
      expect(refused.json["code"]).toBe("rate_limited");
      expect(refused.headers["retry-after"]).toBe("1");
      const second = await createApiKey(current().db, client.accountId, {
        name: "second",
        creator: null,
        expiryDate: null,
      });
      const bySecond: number[] = [];
      for (let i = 0; i < 3; i += 1) {
        const reply = await send(limited, "GET", "/api/agents", { headers: { "x-api-key": second.secret } });
        bySecond.push(reply.status);
      }
      expect(bySecond).toEqual([200, 200, 429]);
      nowMs += 1000;
      expect((await client.get("/api/agents")).status).toBe(200);
      await limited.close();
    });

    it("limit failed authentication by address, but not keys that work", async () => {
      const limited = await buildServer({ ...testDeps(current()), nowMs: () => 5_000_000 });
      const client = await newClient(limited, current().db);
      const late = await newClient(limited, current().db);
      const attempt = async (key: string, from: string): Promise<number> =>
        (await send(limited, "GET", "/api/agents", { headers: { "x-api-key": key }, from })).status;
      expect(await attempt(client.key, "192.0.2.1")).toBe(200);
      for (let i = 0; i < FAILED_AUTHENTICATIONS_PER_SECOND; i += 1) {
        expect(await attempt("wrong", "192.0.2.1")).toBe(401);
      }
      expect(await attempt("wrong", "192.0.2.1")).toBe(429);
      expect(await attempt(client.key, "192.0.2.1")).toBe(200);
      expect(await attempt(late.key, "192.0.2.1")).toBe(429);
      expect(await attempt(late.key, "192.0.2.2")).toBe(200);
      expect(await attempt("wrong", "192.0.2.2")).toBe(401);
      await limited.close();
    });
  });
});
