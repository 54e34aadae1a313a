/**
 * With API_NAMES=vendor every operation and every response is that of the public service: the description in this folder
 * is written by hand from its tables, and knows nothing of our own schemas.
 */

import { ROUTE_NAMES, type RouteName, routeOf } from "@parley/schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpServer } from "../../src/http/deps.ts";
import { type Client, newClient, type Reply, send, testDeps } from "../../src/http/testing/http-fixture.ts";
import { makeSamples, type SampleIds, VALID_BODIES } from "../../src/http/testing/samples/samples.ts";
import { buildServer } from "../../src/http/server.ts";
import { intendDial } from "../../src/store/telephony/carrier-dials.ts";
import { describeOnBothDatabases } from "../../src/store/testing/databases.ts";
import { ACCOUNT_SCHEMAS } from "./account-schemas.ts";
import { record, responseSchema } from "./notation.ts";
import { OPERATIONS } from "./operations.ts";
import { CALL_SCHEMAS } from "./schemas.ts";

const $defs = Object.fromEntries(
  Object.entries({ ...CALL_SCHEMAS, ...ACCOUNT_SCHEMAS }).map(([name, fields]) => [name, record(fields)]),
);
const ajv = new Ajv2020({ allowUnionTypes: true, allErrors: true });

/** What is wrong with an answer; empty when it is as described. */
function faults(type: string, answer: unknown): string[] {
  const validate = ajv.compile({ ...responseSchema(type), $defs });
  if (validate(answer)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message ?? "", JSON.stringify(params)].join(" "),
  );
}

/** The routes, as `GET /api/calls`. */
const ROUTES: ReadonlyMap<string, RouteName> = new Map(
  ROUTE_NAMES.map((name) => {
    const { method, path } = routeOf(name);
    return [`${method} ${path}`, name] as const;
  }),
);

describe("the description", () => {
  it("has the operations of the service, with their successful responses", () => {
    const routes = [...ROUTES].map(([operation, name]) => {
      const statuses = Object.entries(routeOf(name).responses).map(([status, { schema }]) => [
        Number(status),
        schema !== null,
      ]);
      return [operation, Object.fromEntries(statuses) as object] as const;
    });
    const described = Object.entries(OPERATIONS).map(([operation, responses]) => {
      const statuses = Object.entries(responses).map(([status, schema]) => [Number(status), schema !== null]);
      return [operation, Object.fromEntries(statuses) as object] as const;
    });
    expect(Object.fromEntries(routes)).toEqual(Object.fromEntries(described));
  });

  it("notices a neutral name, null where it is not allowed, and a missing field", () => {
    const agent = { agentId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11", name: "A" };
    expect(faults("AgentBasic", agent)).toEqual([]);
    expect(faults("CallMedium", { twilio: {} })).toEqual([]);
    expect(faults("CallMedium", { telephony1: {} })[0]).toContain("telephony1");
    expect(faults("AgentBasic", { ...agent, name: null })[0]).toContain("/name");
    expect(faults("AgentBasic", { name: "A" })[0]).toContain("agentId");
    expect(faults("CallTemplate", { retentionPolicy: "retain" })[0]).toContain("/retentionPolicy");
  });
});

/** With every field that has a spelling or a null of its own. */
const TEMPLATE = {
  medium: {
    twilio: { dtmfHandling: { userTextMessage: { text: "The caller has pressed keys." } } },
  },
  voice: "Mark",
  voiceOverrides: { elevenLabs: { speed: 1.1 } },
  retentionPolicy: "CALL_RETENTION_POLICY_AUTO_DELETE",
  firstSpeakerSettings: { agent: { text: "Hello {{name}}." } },
  vadSettings: { turnEndpointDelay: "0.384s" },
  inactivityMessages: [{ duration: "30s", message: "Hello?", endBehavior: "END_BEHAVIOR_HANG_UP_SOFT" }],
  dataConnection: { websocketUrl: "wss://shop.example", audioConfig: { channelMode: "CHANNEL_MODE_MIXED" } },
  selectedTools: [
    {
      temporaryTool: {
        modelToolName: "book",
        description: "Books.",
        dynamicParameters: [
          { name: "beds", location: "PARAMETER_LOCATION_BODY", schema: { type: "integer" } },
        ],
        automaticParameters: [
          { name: "call", location: "PARAMETER_LOCATION_HEADER", knownValue: "KNOWN_PARAM_CALL_ID" },
        ],
        requirements: {
          httpSecurityOptions: { options: [{ ultravoxCallTokenRequirement: { scopes: ["book"] } }] },
        },
        http: { baseUrlPattern: "https://shop.example/book", httpMethod: "POST" },
        defaultReaction: "AGENT_REACTION_LISTENS",
      },
    },
  ],
};

/** Operations of this fixture that are always refused: what they need does not run here. */
const REFUSED = new Set([
  "GET /api/calls/{call_id}/recording",
  "POST /api/calls/{call_id}/send_data_message",
  "GET /api/calls/{call_id}/sip_logs",
  "GET /api/calls/{call_id}/stages/{call_stage_id}/messages/{call_stage_message_index}/audio",
  "GET /api/calls/{call_id}/event_log",
  // A call of this fixture never ends.
  "DELETE /api/calls/{call_id}",
  // A call of this fixture is not live.
  "DELETE /api/calls/{call_id}/dial",
  "GET /api/deleted_calls/{call_id}",
  "POST /api/agents/{agent_id}/telephony_xml",
  "POST /api/accounts/{account_id}/telephony_xml",
  "POST /api/telephony_configs/{carrier}/check",
  // The agent of the sample does not exist.
  "POST /api/phone_numbers",
  "POST /api/tools/{tool_id}/test",
  "GET /api/voices/{voice_id}/preview",
  "POST /api/voice_preview",
  // They are for the operator.
  "PATCH /api/deployment/engines",
  "POST /api/deployment/engines/test",
  "GET /api/deployment/local_servers",
  // Nothing loads documents in this fixture.
  "GET /api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}",
  "GET /api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}/chunks",
]);

/** Bodies and path values that differ from those of the samples. */
const OWN_BODIES: Readonly<Record<string, object>> = {
  "POST /api/tools": { name: "ring", definition: { client: {} } },
  "POST /api/telephony_configs/{carrier}": { authId: "MA0123", authToken: "0123456789" },
};
const OWN_IDS: Readonly<Record<string, SampleIds>> = {
  "POST /api/telephony_configs/{carrier}": { carrier: "plivo" },
};

/** How the reply differs from the description; empty when it does not. */
function deviations(operation: string, { status, json, text }: Reply): string[] {
  if (REFUSED.has(operation)) return status < 400 ? [`is answered with ${status}`] : faults("Problem", json);
  const schema = OPERATIONS[operation]?.[status];
  if (schema === undefined) return [`is answered with ${status}: ${text}`];
  if (schema === null) return text === "" ? [] : [`has the body ${text}`];
  return faults(schema, json);
}

describeOnBothDatabases("with the names of the public service", (current) => {
  let server: HttpServer;
  let owner: Client;
  let ids: SampleIds = {};

  beforeAll(async () => {
    const base = testDeps(current());
    server = await buildServer({ ...base, settings: { ...base.settings, apiNames: "vendor" } });
    owner = await newClient(server, current().db);
    ids = await makeSamples(owner);
    const agent = await owner.post("/api/agents", { name: "B", callTemplate: TEMPLATE });
    ids = { ...ids, agent_id: String(agent.json["agentId"]), batch_id: await newBatch(agent) };
    await owner.post("/api/calls", TEMPLATE);
    const dial = { callId: ids["call_id"] ?? "", carrier: "telephony1", number: "+4930123456" } as const;
    await intendDial(current().db, owner.accountId, dial);
    const delivery = await owner.post(`/api/webhooks/${ids["webhook_id"] ?? ""}/test`);
    ids = { ...ids, delivery_id: String(delivery.json["deliveryId"]) };
    await owner.patch("/api/accounts/me/tts_api_keys", { elevenLabs: "sk_0123456789abcdef" });
  });
  afterAll(() => server.close());

  async function newBatch({ json }: Reply): Promise<string> {
    const outgoing = { to: "+4930123456", from: "+4930654321" };
    const path = `/api/agents/${String(json["agentId"])}/scheduled_batches`;
    const batch = await owner.post(path, { calls: [{ medium: { twilio: { outgoing } } }] });
    return String(batch.json["batchId"]);
  }

  function answerOf(operation: string): Promise<Reply> {
    const [method = "", path = ""] = operation.split(" ");
    const name = ROUTES.get(operation);
    const own = { ...ids, ...OWN_IDS[operation] };
    const url = path.replaceAll(/\{([a-z_]+)\}/g, (_, id: string) => own[id] ?? "");
    const takesBody = name !== undefined && routeOf(name).request !== null;
    const body = takesBody ? (OWN_BODIES[operation] ?? VALID_BODIES[name] ?? {}) : undefined;
    return send(server, method, url, { headers: { "x-api-key": owner.key }, body });
  }

  // Records are deleted last, those inside others first.
  const depth = (operation: string) =>
    operation.startsWith("DELETE") ? 100 - operation.split("/").length : 0;
  const order = Object.keys(OPERATIONS).toSorted((a, b) => depth(a) - depth(b));

  it.each(order)("%s", async (operation) => {
    expect(deviations(operation, await answerOf(operation))).toEqual([]);
  });

  it("answers a stored template with the spellings of its values", async () => {
    const agent = await owner.post("/api/agents", { callTemplate: TEMPLATE });
    expect(agent.json["callTemplate"]).toMatchObject(TEMPLATE);
    const call = await owner.post("/api/calls", {});
    for (const field of ["externalVoice", "voiceOverrides", "dataConnectionConfig", "callbacks"]) {
      expect(call.json).not.toHaveProperty(field);
    }
    expect(call.json).toMatchObject({ agent: null, retentionPolicy: "retain" });
  });
});
