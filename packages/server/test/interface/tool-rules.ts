/** Rows about the tools of a call. */

import assert from "node:assert/strict";
import { ask, assertHolds, made, type Proof, type Rules, settingRefuses, template } from "./rules.ts";

const OTHER_ID = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

type Json = Readonly<Record<string, unknown>>;

const selected = (tool: Json): Json => ({ selectedTools: [tool] });
const inPlace = (definition: Json): Json =>
  selected({ temporaryTool: { modelToolName: "t", ...definition } });

function selectionRefused(tool: Json, field: string): readonly Proof[] {
  return settingRefuses(selected(tool), `selectedTools.0${field}`);
}

function definitionTaken(definition: Json, readAs: Json = definition): Proof {
  return template.accepts(inPlace(definition), inPlace(readAs));
}

function definitionRefused(definition: Json, field: string): readonly Proof[] {
  return settingRefuses(inPlace(definition), `selectedTools.0.temporaryTool${field}`);
}

const http = { baseUrlPattern: "https://tools.example/rooms/{room}", httpMethod: "POST" };
const room = {
  name: "room",
  location: "PARAMETER_LOCATION_PATH",
  schema: { type: "string" },
  required: true,
};

export const selectedToolRules: Rules<
  | "exactly one of toolId, toolName, temporaryTool"
  | "toolId"
  | "toolName"
  | "temporaryTool"
  | "nameOverride"
  | "descriptionOverride"
  | "authTokens"
  | "parameterOverrides"
  | "transitionId"
> = {
  "exactly one of toolId, toolName, temporaryTool": [
    ...selectionRefused({}, ""),
    ...selectionRefused({ toolId: OTHER_ID, toolName: "x" }, ""),
    ...selectionRefused({ toolName: "x", temporaryTool: { modelToolName: "t", client: {} } }, ""),
  ],
  toolId: [
    template.accepts(selected({ toolId: OTHER_ID })),
    ...selectionRefused({ toolId: "hangUp" }, ".toolId"),
    async (service) => {
      const stored = await Promise.all(
        ["first", "second"].map((description) =>
          made(service, "/api/tools", { name: "namesakes", definition: { description, client: {} } }),
        ),
      );
      const call = await made(service, "/api/calls", {
        medium: { serverWebSocket: { inputSampleRate: 8000 } },
        ...selected({ toolId: String(stored[1]?.["toolId"]).toUpperCase() }),
      });
      const tools = await ask(service, "GET", `/api/calls/${String(call["callId"])}/tools`);
      assertHolds(tools.body, [{ toolId: stored[1]?.["toolId"], definition: { description: "second" } }]);
    },
  ],
  toolName: [
    template.accepts(selected({ toolName: "hangUp" })),
    ...selectionRefused({ toolName: "" }, ".toolName"),
    async (service) => {
      const twins = await Promise.all(
        [1, 2].map(() => made(service, "/api/tools", { name: "twins", definition: { client: {} } })),
      );
      const medium = { serverWebSocket: { inputSampleRate: 8000 } };
      const reply = await ask(service, "POST", "/api/calls", { medium, ...selected({ toolName: "twins" }) });
      assert.equal(reply.status, 400, JSON.stringify(reply.body));
      const byId = selected({ toolId: twins[0]?.["toolId"] });
      await made(service, "/api/calls", { medium, ...byId });
    },
  ],
  temporaryTool: [
    definitionTaken({ client: {} }),
    ...definitionRefused({}, ""),
    ...definitionRefused({ client: {}, dataConnection: {} }, ""),
  ],
  nameOverride: [
    listed({ client: {} }, { name: "other" }, { nameOverride: "other" }),
    template.accepts(selected({ toolName: "hangUp", nameOverride: "end_call-1" })),
    ...["a b", "", "x".repeat(65), "é"].flatMap((nameOverride) =>
      selectionRefused({ toolName: "hangUp", nameOverride }, ".nameOverride"),
    ),
    ...settingRefuses(
      {
        selectedTools: [
          { toolName: "a", nameOverride: "same" },
          { toolName: "b", nameOverride: "same" },
        ],
      },
      "selectedTools.1.nameOverride",
    ),
  ],
  descriptionOverride: [
    template.accepts(selected({ toolName: "a", descriptionOverride: "Ends {{what}}." })),
    ...selectionRefused({ toolName: "a", descriptionOverride: 5 }, ".descriptionOverride"),
  ],
  authTokens: [
    // These are write-only.
    template.accepts(
      selected({ toolName: "a", authTokens: { key: "secret" } }),
      selected({ authTokens: undefined }),
    ),
    ...selectionRefused({ toolName: "a", authTokens: { key: 5 } }, ".authTokens.key"),
  ],
  parameterOverrides: [
    // Where the name indicates a secret, only the beginning of a text is returned.
    template.accepts(
      selected({
        toolName: "a",
        parameterOverrides: { list: [1], text: "Room {{no}}", "X-Key": "Bearer {{no}}" },
      }),
      selected({ parameterOverrides: { list: [1], text: "Room {{no}}", "X-Key": "Bear…" } }),
    ),
    ...selectionRefused({ toolName: "a", parameterOverrides: [] }, ".parameterOverrides"),
  ],
  transitionId: [
    template.accepts(selected({ toolName: "a", transitionId: "next" })),
    ...selectionRefused({ toolName: "a", transitionId: 5 }, ".transitionId"),
  ],
};

const wantsHotel = {
  modelToolName: "t",
  client: {},
  staticParameters: [{ name: "hotel" }],
  requirements: { requiredParameterOverrides: ["hotel"] },
};

export const toolDefinitionRules: Rules<
  | "modelToolName"
  | "description"
  | "dynamicParameters"
  | "staticParameters"
  | "automaticParameters"
  | "requirements"
  | "timeout"
  | "precomputable"
  | "http"
  | "client"
  | "dataConnection"
  | "staticResponse"
> = {
  modelToolName: [
    definitionTaken({ modelToolName: "x".repeat(64), client: {} }),
    ...definitionRefused({ modelToolName: "open door", client: {} }, ".modelToolName"),
  ],
  description: [
    definitionTaken({ description: "Opens the door of {{guest}}.", client: {} }),
    ...definitionRefused({ description: {}, client: {} }, ".description"),
  ],
  dynamicParameters: [
    definitionTaken({ dynamicParameters: [room], http }),
    ...definitionRefused(
      { dynamicParameters: [{ ...room, location: "PATH" }], http },
      ".dynamicParameters.0.location",
    ),
    ...definitionRefused(
      { dynamicParameters: [{ required: true }], client: {} },
      ".dynamicParameters.0.name",
    ),
  ],
  staticParameters: [
    definitionTaken({ staticParameters: [{ name: "kind", value: { deep: [1] } }], client: {} }),
    definitionTaken({ staticParameters: [{ name: "kind", value: null }], client: {} }),
    ...definitionRefused({ staticParameters: [{ value: 1 }], client: {} }, ".staticParameters.0.name"),
  ],
  automaticParameters: [
    definitionTaken({ automaticParameters: [{ name: "id", knownValue: "KNOWN_PARAM_CALL_ID" }], client: {} }),
    ...definitionRefused(
      { automaticParameters: [{ name: "id", knownValue: "CALL_ID" }], client: {} },
      ".automaticParameters.0.knownValue",
    ),
  ],
  requirements: [
    definitionTaken({
      http: { baseUrlPattern: "https://tools.example" },
      requirements: {
        httpSecurityOptions: {
          options: [
            { requirements: { key: { headerApiKey: { name: "X-Key" } } } },
            { serviceCallTokenRequirement: { scopes: ["a"] } },
          ],
        },
      },
    }),
    template.accepts(selected({ temporaryTool: wantsHotel, parameterOverrides: { hotel: "Bellevue" } })),
    ...selectionRefused({ temporaryTool: wantsHotel }, ".parameterOverrides"),
    ...definitionRefused(
      {
        client: {},
        requirements: { httpSecurityOptions: { options: [{ requirements: { key: {} } }] } },
      },
      ".requirements.httpSecurityOptions.options.0.requirements.key",
    ),
  ],
  timeout: [
    definitionTaken({ timeout: "40s", client: {} }),
    ...["0s", "40.1s", "-1s", 5].flatMap((timeout) => definitionRefused({ timeout, client: {} }, ".timeout")),
  ],
  precomputable: [
    definitionTaken({ precomputable: true, client: {} }),
    ...definitionRefused({ precomputable: "yes", client: {} }, ".precomputable"),
  ],
  http: [
    ...["get", "Post", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((httpMethod) =>
      definitionTaken(
        { http: { baseUrlPattern: "https://tools.example", httpMethod } },
        { http: { baseUrlPattern: "https://tools.example", httpMethod: httpMethod.toUpperCase() } },
      ),
    ),
    ...definitionRefused(
      { http: { baseUrlPattern: "https://tools.example", httpMethod: "TRACE" } },
      ".http.httpMethod",
    ),
    ...definitionRefused({ http: { baseUrlPattern: "ftp://tools.example" } }, ".http.baseUrlPattern"),
    ...definitionRefused({ http: { baseUrlPattern: "https://127.0.0.1/x" } }, ".http.baseUrlPattern").slice(
      0,
      1,
    ),
    ...definitionRefused({ http: {} }, ".http.baseUrlPattern"),
  ],
  client: [definitionTaken({ client: {} }), ...definitionRefused({ client: { url: "x" } }, ".client.url")],
  dataConnection: [definitionTaken({ dataConnection: {} })],
  staticResponse: [
    definitionTaken({ staticResponse: { responseText: "Done." } }),
    definitionTaken({ client: {}, staticResponse: { responseText: "Done." } }),
    ...definitionRefused({ staticResponse: { responseText: 5 } }, ".staticResponse.responseText"),
  ],
};

/** The tools of a created call, in the listing of its stage. */
function listed(definition: Json, seen: Json, selection: Json = {}): Proof {
  return async (service) => {
    const call = await made(service, "/api/calls", {
      medium: { serverWebSocket: { inputSampleRate: 8000 } },
      selectedTools: [{ temporaryTool: { modelToolName: "t", ...definition }, ...selection }],
    });
    const path = `/api/calls/${String(call["callId"])}/stages`;
    const stages = (await ask(service, "GET", path)).body["results"] as readonly Json[];
    const tools = await ask(service, "GET", `${path}/${String(stages[0]?.["callStageId"])}/tools`);
    assert.equal(tools.status, 200);
    const list = tools.body as unknown as readonly Json[];
    assert.equal(list.length, 1, "a bare array with the tool");
    assertHolds(list[0], seen);
  };
}

const authenticated = {
  http: { baseUrlPattern: "https://tools.example", httpMethod: "GET" },
  requirements: {
    httpSecurityOptions: { options: [{ requirements: { key: { headerApiKey: { name: "X-Key" } } } }] },
  },
};

export const callToolRules: Rules<
  "callToolId" | "toolId" | "name" | "definition" | "definition.http" | "enumerations"
> = {
  callToolId: [
    async (service) => {
      const call = await made(service, "/api/calls", {
        medium: { serverWebSocket: { inputSampleRate: 8000 } },
        selectedTools: [{ toolName: "hangUp" }],
      });
      const reply = await ask(service, "GET", `/api/calls/${String(call["callId"])}/tools`);
      const [tool] = reply.body as unknown as readonly Json[];
      assert.match(String(tool?.["callToolId"]), /^[0-9a-f-]{36}$/);
      assert.equal(tool?.["toolId"], "56294126-5a7d-4948-b67d-3b7e13d55ea7");
    },
  ],
  toolId: [listed({ client: {} }, { toolId: null })],
  name: [
    listed({ client: {} }, { name: "t" }),
    listed({ client: {} }, { name: "other" }, { nameOverride: "other" }),
  ],
  definition: [
    listed(
      {
        description: "d",
        dynamicParameters: [{ ...room, location: undefined }],
        timeout: "3s",
        precomputable: true,
        client: {},
      },
      {
        definition: {
          description: "d",
          timeout: "3s",
          precomputable: true,
          client: {},
          dynamicParameters: [{ name: "room" }],
        },
      },
    ),
    listed(
      { staticResponse: { responseText: "Done." } },
      { definition: { staticResponse: { responseText: "Done." } } },
    ),
    listed({ dataConnection: {} }, { definition: { dataConnection: {} } }),
  ],
  "definition.http": [
    listed(
      authenticated,
      {
        definition: {
          http: { baseUrlPattern: "https://tools.example", httpMethod: "GET", authHeaders: ["X-Key"] },
        },
      },
      { authTokens: { key: "very-secret" } },
    ),
  ],
  enumerations: [
    definitionTaken({ defaultReaction: "AGENT_REACTION_LISTENS", client: {} }),
    definitionTaken(
      { defaultReaction: "AGENT_REACTION_UNSPECIFIED", client: {} },
      { defaultReaction: undefined },
    ),
    definitionTaken(
      { dynamicParameters: [{ name: "a", location: "PARAMETER_LOCATION_UNSPECIFIED" }], client: {} },
      { dynamicParameters: [{ name: "a", location: undefined }] },
    ),
    ...definitionRefused({ defaultReaction: "SPEAKS", client: {} }, ".defaultReaction"),
  ],
};
