/** Rows about the records other than agents: batches, corpora, carriers, deleted calls, webhooks. */

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { RunningService } from "../running-service.ts";
import { ask, assertHolds, assertRefused, made, type Proof, type Reply, type Rules } from "./rules.ts";

type Json = Readonly<Record<string, unknown>>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function agentPath(service: RunningService): Promise<string> {
  const agent = await made(service, "/api/agents", {
    callTemplate: { medium: { telephony1: { outgoing: { to: "+14155550123", from: "+14155550100" } } } },
  });
  return `/api/agents/${String(agent["agentId"])}`;
}

const dialled = { medium: { telephony1: { outgoing: { to: "+14155550123", from: "+14155550100" } } } };
const joined = { medium: { serverWebSocket: { inputSampleRate: 8000 } } };
/** Paused: no event is delivered, because the receiver is not on this machine. */
const joinedCalls = { calls: [joined], paused: true };

async function batch(service: RunningService, body: Json): Promise<Reply> {
  return ask(service, "POST", `${await agentPath(service)}/scheduled_batches`, body);
}

function batchTakes(body: Json, answer: Json): Proof {
  return async (service) => {
    const reply = await batch(service, { calls: [dialled], ...body });
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    assertHolds(reply.body, answer);
  };
}

function batchRefuses(body: Json, field: string): Proof {
  return async (service) => assertRefused(await batch(service, { calls: [dialled], ...body }), field);
}

const shows =
  (name: string, isRight: (value: unknown) => boolean): Proof =>
  async (service) => {
    const { body } = await batch(service, { calls: [dialled] });
    assert.ok(isRight(body[name]), `${name}: ${JSON.stringify(body)}`);
  };

const matches = (pattern: RegExp) => (value: unknown) => typeof value === "string" && pattern.test(value);

export const batchRules: Rules<
  | "batchId"
  | "created"
  | "totalCount"
  | "completedCount"
  | "endedAt"
  | "windowStart"
  | "windowEnd"
  | "webhookUrl"
  | "webhookSecret"
  | "paused"
> = {
  batchId: [shows("batchId", matches(UUID))],
  created: [shows("created", matches(MOMENT))],
  totalCount: [
    batchTakes({ calls: [dialled, dialled, dialled] }, { totalCount: 3 }),
    batchRefuses({ calls: [] }, "calls"),
  ],
  completedCount: [shows("completedCount", (value) => value === 0)],
  endedAt: [shows("endedAt", (value) => value === null)],
  windowStart: [
    batchTakes({ windowStart: "2099-01-01T00:00:00" }, { windowStart: "2099-01-01T00:00:00.000Z" }),
    batchTakes({}, { windowStart: null }),
    batchRefuses({ windowStart: "tomorrow" }, "windowStart"),
  ],
  windowEnd: [
    batchTakes({ windowEnd: "2099-01-01T00:00:00Z" }, { windowEnd: "2099-01-01T00:00:00.000Z" }),
    batchRefuses({ windowEnd: "2000-01-01T00:00:00Z" }, "windowEnd"),
    batchRefuses({ windowStart: "2099-01-02T00:00:00Z", windowEnd: "2099-01-01T00:00:00Z" }, "windowEnd"),
  ],
  webhookUrl: [
    batchTakes(
      { ...joinedCalls, webhookUrl: "https://hook.example" },
      { webhookUrl: "https://hook.example" },
    ),
    batchRefuses({ calls: [joined] }, "webhookUrl"),
    batchRefuses({ webhookUrl: "https://hook.example" }, "webhookUrl"),
    batchRefuses({ calls: [joined], webhookUrl: "nowhere" }, "webhookUrl"),
    batchRefuses({ calls: [joined], webhookUrl: `https://hook.example/${"x".repeat(200)}` }, "webhookUrl"),
  ],
  webhookSecret: [
    batchTakes(
      { ...joinedCalls, webhookUrl: "https://hook.example", webhookSecret: "x".repeat(120) },
      { webhookSecret: "x".repeat(120) },
    ),
    batchRefuses(
      { calls: [joined], webhookUrl: "https://hook.example", webhookSecret: "x".repeat(121) },
      "webhookSecret",
    ),
  ],
  paused: [
    batchTakes({ paused: true }, { paused: true }),
    batchTakes({}, { paused: false }),
    batchRefuses({ paused: "no" }, "paused"),
  ],
};

/** The first scheduled call of a batch with that one call. */
async function scheduled(service: RunningService, call: Json): Promise<Json> {
  const agent = await agentPath(service);
  const made_ = await made(service, `${agent}/scheduled_batches`, { calls: [call], paused: true });
  const list = await ask(
    service,
    "GET",
    `${agent}/scheduled_batches/${String(made_["batchId"])}/scheduled_calls`,
  );
  assert.equal(list.status, 200);
  const [first] = list.body["results"] as readonly Json[];
  assert.ok(first !== undefined);
  assert.equal(first["batchId"], made_["batchId"]);
  return first;
}

function scheduledShows(call: Json, answer: Json): Proof {
  return async (service) => assertHolds(await scheduled(service, { ...dialled, ...call }), answer);
}

export const scheduledCallRules: Rules<
  | "status"
  | "batchId"
  | "callId"
  | "error"
  | "medium"
  | "metadata"
  | "templateContext"
  | "experimentalSettings"
> = {
  status: [
    scheduledShows({}, { status: "FUTURE" }),
    async (service) => {
      const agent = await agentPath(service);
      const { batchId } = await made(service, `${agent}/scheduled_batches`, {
        calls: [dialled],
        paused: true,
      });
      const path = `${agent}/scheduled_batches/${String(batchId)}/scheduled_calls`;
      for (const status of ["FUTURE", "PENDING", "SUCCESS", "EXPIRED", "ERROR"]) {
        const { body } = await ask(service, "GET", `${path}?status=${status}`);
        assert.equal(body["total"], status === "FUTURE" ? 1 : 0);
      }
      assertRefused(await ask(service, "GET", `${path}?status=`), "status");
      assertRefused(await ask(service, "GET", `${path}?status=LATER`), "status");
    },
  ],
  batchId: [scheduledShows({}, {})],
  callId: [scheduledShows({}, { callId: null })],
  error: [
    scheduledShows({}, { error: null }),
    async (service) => {
      const agent = await agentPath(service);
      const outgoing = { to: "+14155550199", from: "+14155550100" };
      await made(service, "/api/do_not_call", { number: outgoing.to });
      const calls = [{ medium: { telephony1: { outgoing } } }];
      const { batchId } = await made(service, `${agent}/scheduled_batches`, { calls });
      const path = `${agent}/scheduled_batches/${String(batchId)}`;
      for (let looks = 0; looks < 100; looks += 1) {
        if ((await ask(service, "GET", path)).body["endedAt"] !== null) break;
        await wait(50);
      }
      const [call] = (await ask(service, "GET", `${path}/scheduled_calls`)).body[
        "results"
      ] as readonly Json[];
      assert.match(String(call?.["error"]), /do-not-call list/);
    },
  ],
  medium: [
    scheduledShows({}, dialled),
    batchRefuses({ calls: [dialled, { medium: { fax: {} } }] }, "calls.1.medium.fax"),
  ],
  metadata: [
    scheduledShows({ metadata: { room: "12" } }, { metadata: { room: "12" } }),
    batchRefuses({ calls: [{ ...dialled, metadata: { room: 12 } }] }, "calls.0.metadata.room"),
  ],
  templateContext: [
    scheduledShows({ templateContext: { guest: "Ada" } }, { templateContext: { guest: "Ada" } }),
    async (service) => {
      const agent = await made(service, "/api/agents", {
        callTemplate: { ...dialled, systemPrompt: "Guest {{guest}}" },
      });
      const path = `/api/agents/${String(agent["agentId"])}/scheduled_batches`;
      const reply = await ask(service, "POST", path, { calls: [{ ...dialled, templateContext: {} }] });
      assertRefused(reply, "calls.0.templateContext.guest");
    },
  ],
  experimentalSettings: [
    scheduledShows({ experimentalSettings: { a: 1 } }, { experimentalSettings: { a: 1 } }),
    scheduledShows({}, { experimentalSettings: null }),
  ],
};

export const corpusRules: Rules<"corpusId" | "created" | "name" | "description" | "stats"> = {
  corpusId: [
    async (service) => {
      const corpus = await made(service, "/api/corpora", { name: "Handbook" });
      assert.match(String(corpus["corpusId"]), UUID);
      const read = await ask(service, "GET", `/api/corpora/${String(corpus["corpusId"])}`);
      assert.deepEqual(read.body, corpus);
    },
  ],
  created: [
    async (service) =>
      assert.match(String((await made(service, "/api/corpora", { name: "a" }))["created"]), MOMENT),
  ],
  name: [
    async (service) => {
      const name = "x".repeat(200);
      assert.equal((await made(service, "/api/corpora", { name }))["name"], name);
      assertRefused(await ask(service, "POST", "/api/corpora", { name: "x".repeat(201) }), "name");
      assertRefused(await ask(service, "POST", "/api/corpora", { name: "" }), "name");
    },
  ],
  description: [
    async (service) => {
      const corpus = await made(service, "/api/corpora", { name: "a", description: "b" });
      assert.equal(corpus["description"], "b");
      const long = { name: "a", description: "x".repeat(2001) };
      assertRefused(await ask(service, "POST", "/api/corpora", long), "description");
    },
  ],
  stats: [
    async (service) => {
      const corpus = await made(service, "/api/corpora", { name: "a", stats: { status: "nonsense" } });
      assertHolds(corpus, {
        stats: { status: "CORPUS_STATUS_EMPTY", numChunks: 0, numDocs: 0, numVectors: 0 },
      });
    },
  ],
};

const CARRIERS = {
  telephony1: { accountSid: "AC1", authToken: "token-of-one" },
  telephony2: { accountSid: "AC2", apiKey: "key-of-two", publicKey: "public-of-two", applicationSid: "app" },
  telephony3: { authId: "MA3", authToken: "token-of-three" },
} as const;

/** Configures the carrier again, and reads the account's configuration of it. */
async function configured(
  service: RunningService,
  carrier: keyof typeof CARRIERS,
  more: Json = {},
): Promise<Json> {
  const path = `/api/telephony_configs/${carrier}`;
  await ask(service, "DELETE", path);
  await made(service, path, { ...CARRIERS[carrier], ...more });
  const read = await ask(service, "GET", "/api/accounts/me/telephony_config");
  assert.equal(read.status, 200);
  for (const [name, secret] of Object.entries({ ...CARRIERS[carrier] })) {
    if (/Token|Key/.test(name)) assert.ok(!JSON.stringify(read.body).includes(secret), `${name} is told`);
  }
  return read.body[carrier] as Json;
}

export const telephonyRules: Rules<"telephony1" | "telephony2" | "telephony3" | "prefixes of secrets"> = {
  telephony1: [
    async (service) => {
      const agent = await made(service, "/api/agents", {});
      const config = await configured(service, "telephony1", {
        callCreationAllowedAgentIds: [agent["agentId"]],
        requestContextMapping: { From: "user.phone_number" },
      });
      assertHolds(config, {
        accountSid: "AC1",
        authTokenPrefix: { prefix: "toke" },
        callCreationAllowedAgentIds: [agent["agentId"]],
        callCreationAllowAllAgents: false,
        requestContextMapping: { From: "user.phone_number" },
      });
    },
    async (service) => {
      const path = "/api/telephony_configs/telephony1";
      const again = await ask(service, "POST", path, CARRIERS.telephony1);
      assert.equal(again.status, 409);
      await ask(service, "DELETE", path);
      assertRefused(await ask(service, "POST", path, { accountSid: "AC1" }), "authToken");
      const both = { callCreationAllowAllAgents: true, callCreationAllowedAgentIds: [crypto.randomUUID()] };
      const refused = await ask(service, "POST", path, { ...CARRIERS.telephony1, ...both });
      assert.equal(refused.status, 400);
    },
  ],
  telephony2: [
    async (service) =>
      assertHolds(await configured(service, "telephony2"), {
        accountSid: "AC2",
        apiKeyPrefix: { prefix: "key-" },
        publicKeyPrefix: { prefix: "publ" },
        applicationSid: "app",
      }),
  ],
  telephony3: [
    async (service) =>
      assertHolds(await configured(service, "telephony3", { callCreationAllowAllAgents: true }), {
        authId: "MA3",
        authTokenPrefix: { prefix: "toke" },
        callCreationAllowAllAgents: true,
      }),
  ],
  "prefixes of secrets": [
    async (service) => {
      await configured(service, "telephony1");
      const path = "/api/telephony_configs/telephony1";
      const changed = await ask(service, "PATCH", path, { authToken: "other-token" });
      assertHolds(changed.body, { authTokenPrefix: { prefix: "othe" }, authToken: undefined });
    },
  ],
};

const WEBHOOK = { url: "https://hook.example/calls", events: ["call.ended"] };

function webhookTakes(body: Json, answer: Json): Proof {
  return async (service) =>
    assertHolds(await made(service, "/api/webhooks", { ...WEBHOOK, ...body }), answer);
}

function webhookRefuses(body: Json, field: string): Proof {
  return async (service) =>
    assertRefused(await ask(service, "POST", "/api/webhooks", { ...WEBHOOK, ...body }), field);
}

const webhookShows =
  (name: string, isRight: (value: unknown) => boolean): Proof =>
  async (service) => {
    const webhook = await made(service, "/api/webhooks", { ...WEBHOOK, [name]: "nonsense" });
    assert.ok(isRight(webhook[name]), `${name}: ${JSON.stringify(webhook)}`);
  };

export const webhookRules: Rules<
  | "webhookId"
  | "created"
  | "url"
  | "events"
  | "status"
  | "lastStatusChange"
  | "recentFailures"
  | "agentId"
  | "secrets"
> = {
  webhookId: [webhookShows("webhookId", matches(UUID))],
  created: [webhookShows("created", matches(MOMENT))],
  url: [
    webhookTakes({ url: `https://hook.example/${"x".repeat(179)}` }, {}),
    ...[`https://hook.example/${"x".repeat(180)}`, "ftp://hook.example", "hook.example", "", 5].map((url) =>
      webhookRefuses({ url }, "url"),
    ),
    webhookRefuses({ url: undefined }, "url"),
    webhookRefuses({ url: "http://127.0.0.1/x" }, "url"),
  ],
  events: [
    webhookTakes(
      { events: ["call.started", "call.joined", "call.ended", "call.billed", "call.ended"] },
      { events: ["call.started", "call.joined", "call.ended", "call.billed"] },
    ),
    webhookRefuses({ events: [] }, "events"),
    webhookRefuses({ events: undefined }, "events"),
    webhookRefuses({ events: ["call.answered"] }, "events.0"),
  ],
  status: [webhookTakes({}, { status: "normal" })],
  lastStatusChange: [webhookShows("lastStatusChange", (value) => value === null)],
  recentFailures: [webhookShows("recentFailures", (value) => Array.isArray(value) && value.length === 0)],
  agentId: [
    async (service) => {
      const { agentId } = await made(service, "/api/agents", {});
      const webhook = await made(service, "/api/webhooks", { ...WEBHOOK, agentId });
      assert.equal(webhook["agentId"], agentId);
      const list = await ask(service, "GET", `/api/webhooks?agentId=${String(agentId)}`);
      assert.equal(list.body["total"], 1);
    },
    webhookTakes({ agentId: null }, { agentId: null }),
    webhookRefuses({ agentId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" }, "agentId"),
    webhookRefuses({ agentId: "x" }, "agentId"),
  ],
  secrets: [
    webhookTakes({ secrets: ["x".repeat(120), "b"] }, { secrets: ["x".repeat(120), "b"] }),
    webhookRefuses({ secrets: ["x".repeat(121)] }, "secrets.0"),
    webhookRefuses({ secrets: [""] }, "secrets.0"),
    async (service) => {
      const { secrets } = await made(service, "/api/webhooks", WEBHOOK);
      assert.equal((secrets as readonly string[]).length, 1);
      assert.match((secrets as readonly string[])[0] ?? "", /^whsec_/);
    },
  ],
};
