/** Rows about the common behaviour of all operations. */

import assert from "node:assert/strict";
import type { RunningService } from "../running-service.ts";
import { ask, assertHolds, assertRefused, fieldsOf, made, type Proof, type Rules } from "./rules.ts";

type Json = Readonly<Record<string, unknown>>;

/** Every page of a list by its links, as a client follows them. */
async function walk(service: RunningService, path: string): Promise<{ pages: Json[]; names: unknown[] }> {
  const pages: Json[] = [];
  for (let next: string | null = path; next !== null && pages.length < 20;) {
    const { status, body } = await ask(service, "GET", next);
    assert.equal(status, 200, JSON.stringify(body));
    pages.push(body);
    next = body["next"] === null ? null : (body["next"] as string).replace(service.url, "");
  }
  return {
    pages,
    names: pages.flatMap((page) => (page["results"] as readonly Json[]).map((row) => row["name"])),
  };
}

const anyKey =
  (key: string): Proof =>
  async (service) => {
    const reply = await service.ask<Json>("GET", "/api/agents", undefined, key);
    assert.deepEqual([reply.status, reply.body["code"]], [401, "unauthenticated"]);
    assert.equal(reply.headers["www-authenticate"], "ApiKey");
  };

export const commonRules: Rules<
  | "pages"
  | "cursor"
  | "page size"
  | "X-API-Key"
  | "scope of a key"
  | "keys are issued and revoked"
  | "failures"
  | "unknown fields"
  | "read-only fields"
  | "null and unspecified"
  | "spellings"
  | "data messages"
  | "webhook events"
> = {
  pages: [
    async (service) => {
      for (const name of ["walk-1", "walk-2", "walk-3"]) await made(service, "/api/agents", { name });
      const { pages, names } = await walk(service, "/api/agents?search=walk-&sort=name&pageSize=2");
      assert.deepEqual(names, ["walk-1", "walk-2", "walk-3"]);
      assert.ok(pages.every((page) => page["total"] === 3));
      assert.match(String(pages[0]?.["next"]), new RegExp(`^${service.url}/api/agents\\?.*cursor=`));
      assert.equal(pages[0]?.["previous"], null);
      assert.equal(pages.at(-1)?.["next"], null);
      const back = await ask(service, "GET", String(pages.at(-1)?.["previous"]).replace(service.url, ""));
      assert.deepEqual(back.body["results"], pages[0]?.["results"]);
    },
  ],
  cursor: [
    async (service) => {
      assertRefused(await ask(service, "GET", "/api/agents?cursor=nonsense"), "cursor");
      const { body } = await ask(service, "GET", "/api/agents?pageSize=1");
      const cursor = new URL(String(body["next"])).searchParams.get("cursor") ?? "";
      assertRefused(await ask(service, "GET", `/api/calls?cursor=${cursor}`), "cursor");
    },
  ],
  "page size": [
    async (service) => {
      assert.equal((await ask(service, "GET", "/api/agents?pageSize=1000")).status, 200);
      for (const size of ["0", "-1", "1.5", "many"]) {
        assertRefused(await ask(service, "GET", `/api/agents?pageSize=${size}`), "pageSize");
      }
    },
  ],
  "X-API-Key": [anyKey(""), anyKey("nonsense"), anyKey(`abcdefgh.${"a".repeat(32)}`)],
  "scope of a key": [
    async (service) => {
      const id = String((await made(service, "/api/agents", { name: "secret" }))["agentId"]);
      const foreign = await service.ask<Json>("GET", `/api/agents/${id}`, undefined, service.otherKey);
      assert.equal(foreign.status, 404);
      const list = await service.ask<Json>("GET", "/api/agents", undefined, service.otherKey);
      assert.equal(list.body["total"], 0);
    },
    async (service) => {
      const reader = await made(service, "/api/api_keys", { name: "reader", scopes: ["read"] });
      const use = async (method: string): Promise<readonly unknown[]> => {
        const body = method === "POST" ? {} : undefined;
        const reply = await service.ask<Json>(method, "/api/agents", body, String(reader["secret"]));
        return [reply.status, reply.body["code"], reply.body["requiredScope"]];
      };
      assert.deepEqual(await use("GET"), [200, undefined, undefined]);
      assert.deepEqual(await use("POST"), [403, "missing_scope", "admin"]);
    },
  ],
  "keys are issued and revoked": [
    async (service) => {
      const key = await made(service, "/api/api_keys", { name: "short-lived" });
      const use = async (): Promise<number> =>
        (await service.ask("GET", "/api/agents", undefined, String(key["secret"]))).status;
      assert.equal(await use(), 200);
      const path = `/api/api_keys/${String(key["prefix"])}`;
      assert.ok(!JSON.stringify((await ask(service, "GET", path)).body).includes(String(key["secret"])));
      assert.equal((await ask(service, "PATCH", path, { revoked: true })).status, 200);
      assert.equal(await use(), 401);
    },
  ],
  failures: [
    async (service) => {
      const reply = await ask(service, "POST", "/api/agents", { name: "", callTemplate: { temperature: 2 } });
      assert.equal(reply.headers["content-type"], "application/problem+json");
      assert.deepEqual(Object.keys(reply.body).sort(), [
        "code",
        "detail",
        "errors",
        "requestId",
        "status",
        "title",
        "type",
      ]);
      assert.deepEqual(fieldsOf(reply).sort(), ["callTemplate.temperature", "name"]);
      assert.equal(reply.headers["x-request-id"], reply.body["requestId"]);
      assert.equal((await ask(service, "GET", "/api/nothing")).status, 404);
      assert.equal((await ask(service, "PUT", "/api/agents", {})).status, 405);
    },
  ],
  "unknown fields": [
    async (service) => {
      const reply = await ask(service, "POST", "/api/agents", { callTemplate: { maxDurations: "5s" } });
      assertRefused(reply, "callTemplate.maxDurations");
      assert.match(String(reply.body["detail"]), /maxDuration\b/);
    },
  ],
  "read-only fields": [
    async (service) => {
      const agent = await made(service, "/api/agents", {
        name: "again",
        callTemplate: { systemPrompt: "x" },
      });
      const path = `/api/agents/${String(agent["agentId"])}`;
      const sentBack = await ask(service, "PATCH", path, agent);
      assert.deepEqual([sentBack.status, sentBack.body], [200, agent]);
    },
  ],
  "null and unspecified": [
    async (service) => {
      const agent = await made(service, "/api/agents", {
        name: null,
        callTemplate: { systemPrompt: null, initialOutputMedium: "MESSAGE_MEDIUM_UNSPECIFIED" },
      });
      const template = agent["callTemplate"] as Json;
      assert.deepEqual([template["systemPrompt"], template["initialOutputMedium"]], [undefined, undefined]);
    },
  ],
  spellings: [
    async (service) => {
      const agent = await made(service, "/api/agents", {
        call_template: { system_prompt: "x", medium: { twilio: {} } },
      });
      assertHolds(agent, { callTemplate: { systemPrompt: "x", medium: { telephony1: {} } } });
      const twice = { callTemplate: { systemPrompt: "x", system_prompt: "y" } };
      assertRefused(await ask(service, "POST", "/api/agents", twice), "callTemplate.systemPrompt");
    },
  ],
  "data messages": [],
  "webhook events": [
    async (service) => {
      const events = ["call.started", "call.joined", "call.ended", "call.billed"];
      await made(service, "/api/webhooks", { url: "https://hook.example", events });
    },
  ],
};
