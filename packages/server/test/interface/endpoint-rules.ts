/** Rows about operations. */

import assert from "node:assert/strict";
import type { RunningService } from "../running-service.ts";
import { ask, assertHolds, assertRefused, made, type Rules } from "./rules.ts";

type Json = Readonly<Record<string, unknown>>;

const UNKNOWN = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";
const MEDIUM = { serverWebSocket: { inputSampleRate: 8000 } };

/** 404 for an id that does not exist, for one that is malformed, and for a record of another account. */
async function assertUnknown(
  service: RunningService,
  method: string,
  path: (id: string) => string,
  id: string,
): Promise<void> {
  for (const wrong of [UNKNOWN, "x"]) {
    const reply = await ask(service, method, path(wrong));
    assert.deepEqual([reply.status, reply.body["code"]], [404, "not_found"], path(wrong));
  }
  const foreign = await service.ask<Json>(method, path(id), undefined, service.otherKey);
  assert.deepEqual([foreign.status, foreign.body["code"]], [404, "not_found"]);
}

async function assertPage(service: RunningService, path: string, count: number): Promise<void> {
  const { status, body } = await ask(service, "GET", `${path}?pageSize=100`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body).sort(), ["next", "previous", "results", "total"]);
  assert.ok((body["results"] as readonly unknown[]).length >= count);
}

async function newId(service: RunningService, path: string, body: Json, name: string): Promise<string> {
  return String((await made(service, path, body))[name]);
}

/** A call that has ended and is billed, so that it may be deleted. */
async function endedCall(service: RunningService, settings: Json = {}): Promise<string> {
  const record = await service.makeCall({ medium: MEDIUM, joinTimeout: "1s", ...settings });
  await service.ended(record.callId);
  return record.callId;
}

async function assertDeletes(
  service: RunningService,
  path: (id: string) => string,
  id: string,
): Promise<void> {
  await assertUnknown(service, "DELETE", path, id);
  assert.equal((await ask(service, "DELETE", path(id))).status, 204);
  assert.equal((await ask(service, "DELETE", path(id))).status, 404);
}

const twoCalls = {
  calls: [{ medium: { telephony1: { outgoing: { to: "+14155550123", from: "+14155550100" } } } }],
};

export const endpointRules: Rules<
  | "PATCH /api/agents/{agent_id}"
  | "POST /api/agents"
  | "GET /api/agents/{agent_id}/scheduled_batches"
  | "GET /api/agents/{agent_id}/scheduled_batches/{batch_id}/scheduled_calls"
  | "GET /api/corpora"
  | "GET /api/calls/{call_id}/stages/{call_stage_id}/tools"
  | "GET /api/accounts/me/telephony_config"
  | "GET /api/deleted_calls/{call_id}"
  | "GET /api/voices/{voice_id}/preview"
  | "DELETE /api/voices/{voice_id}"
  | "DELETE /api/calls/{call_id}"
  | "DELETE /api/tools/{tool_id}"
  | "POST /api/webhooks"
> = {
  "PATCH /api/agents/{agent_id}": [
    async (service) => {
      const id = await newId(service, "/api/agents", { name: "before" }, "agentId");
      const path = (agent: string): string => `/api/agents/${agent}`;
      await assertUnknown(service, "PATCH", path, id);
      const changed = await ask(service, "PATCH", path(id), {
        name: "after",
        agentId: UNKNOWN,
        statistics: 5,
      });
      assert.equal(changed.status, 200);
      assertHolds(changed.body, { agentId: id, name: "after" });
      assertRefused(await ask(service, "PATCH", path(id), { systemPrompt: "x" }), "systemPrompt");
    },
  ],
  "POST /api/agents": [
    async (service) => {
      const reply = await ask(service, "POST", "/api/agents", { name: "a", callTemplate: {} });
      assert.equal(reply.status, 201);
      assert.match(String(reply.headers["location"]), /\/api\/agents\/[0-9a-f-]{36}$/);
    },
  ],
  "GET /api/agents/{agent_id}/scheduled_batches": [
    async (service) => {
      const agent = await newId(service, "/api/agents", {}, "agentId");
      const path = (id: string): string => `/api/agents/${id}/scheduled_batches`;
      await assertUnknown(service, "GET", path, agent);
      await made(service, path(agent), twoCalls);
      await assertPage(service, path(agent), 1);
    },
  ],
  "GET /api/agents/{agent_id}/scheduled_batches/{batch_id}/scheduled_calls": [
    async (service) => {
      const agent = await newId(service, "/api/agents", {}, "agentId");
      const batch = await newId(service, `/api/agents/${agent}/scheduled_batches`, twoCalls, "batchId");
      const path = (id: string): string => `/api/agents/${agent}/scheduled_batches/${id}/scheduled_calls`;
      await assertUnknown(service, "GET", path, batch);
      await assertPage(service, path(batch), 1);
    },
  ],
  "GET /api/corpora": [
    async (service) => {
      await made(service, "/api/corpora", { name: "a" });
      await assertPage(service, "/api/corpora", 1);
    },
  ],
  "GET /api/calls/{call_id}/stages/{call_stage_id}/tools": [
    async (service) => {
      const call = await newId(
        service,
        "/api/calls",
        { medium: MEDIUM, selectedTools: [{ toolName: "hangUp" }] },
        "callId",
      );
      const stages = await ask(service, "GET", `/api/calls/${call}/stages`);
      const [stage] = stages.body["results"] as readonly Json[];
      const path = (id: string): string => `/api/calls/${call}/stages/${id}/tools`;
      await assertUnknown(service, "GET", path, String(stage?.["callStageId"]));
      const { body } = await ask(service, "GET", path(String(stage?.["callStageId"])));
      assert.ok(Array.isArray(body) && body.length === 1, "a bare array, not a page");
    },
  ],
  "GET /api/accounts/me/telephony_config": [
    async (service) => {
      const mine = await service.ask<Json>(
        "GET",
        "/api/accounts/me/telephony_config",
        undefined,
        service.otherKey,
      );
      assert.deepEqual([mine.status, mine.body], [200, {}]);
    },
  ],
  "GET /api/deleted_calls/{call_id}": [
    async (service) => {
      const id = await endedCall(service, { metadata: { secret: "words" } });
      const path = (call: string): string => `/api/deleted_calls/${call}`;
      assert.equal((await ask(service, "GET", path(id))).status, 404, "not deleted yet");
      assert.equal((await ask(service, "DELETE", `/api/calls/${id}`)).status, 204);
      await assertUnknown(service, "GET", path, id);
      const { body } = await ask(service, "GET", path(id));
      assert.deepEqual(Object.keys(body).sort(), [
        "accountId",
        "callId",
        "created",
        "deletionTime",
        "endReason",
        "ended",
        "hadSummary",
        "joined",
        "maxDuration",
        "recordingEnabled",
      ]);
      assertHolds(body, {
        callId: id,
        endReason: "unjoined",
        recordingEnabled: false,
        hadSummary: false,
        joined: null,
        maxDuration: "3600s",
      });
    },
  ],
  "GET /api/voices/{voice_id}/preview": [
    async (service) => {
      const list = await ask(service, "GET", "/api/voices?ownership=public");
      const [voice] = list.body["results"] as readonly Json[];
      const id = String(voice?.["voiceId"]);
      const preview = await service.ask("GET", `/api/voices/${id}/preview`);
      assert.equal(preview.status, 200);
      assert.match(String(preview.headers["content-type"]), /^audio\/wav/);
      assert.equal(preview.bytes.subarray(0, 4).toString(), "RIFF");
      assert.equal((await ask(service, "GET", `/api/voices/${UNKNOWN}/preview`)).status, 404);
    },
  ],
  "DELETE /api/voices/{voice_id}": [
    async (service) => {
      const definition = { provider1: { voiceId: "v" } };
      const id = await newId(service, "/api/voices", { name: "Mine", definition }, "voiceId");
      await assertDeletes(service, (voice) => `/api/voices/${voice}`, id);
      const list = await ask(service, "GET", "/api/voices?ownership=public");
      const [everybodys] = list.body["results"] as readonly Json[];
      const refused = await ask(service, "DELETE", `/api/voices/${String(everybodys?.["voiceId"])}`);
      assert.deepEqual([refused.status, refused.body["code"]], [403, "forbidden"]);
    },
  ],
  "DELETE /api/calls/{call_id}": [
    async (service) => {
      const running = await service.makeCall();
      const early = await ask(service, "DELETE", `/api/calls/${running.callId}`);
      assert.deepEqual([early.status, early.body["code"]], [425, "too_early"]);
      assert.ok(Number(early.headers["retry-after"]) >= 1);
      const id = await endedCall(service);
      await assertDeletes(service, (call) => `/api/calls/${call}`, id);
      assert.equal((await ask(service, "GET", `/api/calls/${id}`)).status, 404);
    },
  ],
  "DELETE /api/tools/{tool_id}": [
    async (service) => {
      const id = await newId(service, "/api/tools", { name: "mine", definition: { client: {} } }, "toolId");
      await assertDeletes(service, (tool) => `/api/tools/${tool}`, id);
      const refused = await ask(service, "DELETE", "/api/tools/56294126-5a7d-4948-b67d-3b7e13d55ea7");
      assert.deepEqual([refused.status, refused.body["code"]], [403, "forbidden"]);
    },
  ],
  "POST /api/webhooks": [
    async (service) => {
      const reply = await ask(service, "POST", "/api/webhooks", {
        url: "https://hook.example",
        events: ["call.started"],
        agentId: null,
        secrets: ["one"],
      });
      assert.equal(reply.status, 201);
      assertRefused(await ask(service, "POST", "/api/webhooks", { events: ["call.started"] }), "url");
      assertRefused(await ask(service, "POST", "/api/webhooks", { url: "https://hook.example" }), "events");
    },
  ],
};
