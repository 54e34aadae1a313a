import { BaseToolDefinition, SelectedTool } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { openJsonSchema } from "../providers/json-schema/json-schema.ts";
import { compileTool, parameterSchema } from "./compile-tools.ts";
import type { FoundTool } from "./compile-tools.ts";

const { checkSchema } = openJsonSchema();
const schemaFaults = (tool: FoundTool) => checkSchema(parameterSchema(tool));

function compile(definition: object, selection: object = {}) {
  const tool = {
    selection: SelectedTool.parse({ toolName: "book", ...selection }),
    field: "selectedTools.3",
    definition: BaseToolDefinition.parse(definition),
    toolId: "t",
    recordName: "book",
    builtIn: null,
    mcpTool: null,
  };
  const newId = () => "4d8e3c9a-92f2-4f5e-8b4b-0d5f2f6b1c11";
  const result = compileTool(tool, { callToken: "token", newId, schemaFaults });
  return "compiled" in result ? { ...result.compiled, errors: [] } : result;
}

const http = { http: { baseUrlPattern: "https://example.com/book", httpMethod: "POST" } };

describe("what every object has", () => {
  test.each(["constructor", "toString"])("does not meet a requirement called %s", (name) => {
    const options = [{ requirements: { [name]: { headerApiKey: { name: "X-Pass" } } } }];
    const definition = { ...http, requirements: { httpSecurityOptions: { options } } };
    expect(compile(definition)).toEqual({
      errors: [
        {
          field: "selectedTools.3.authTokens",
          message: "must meet one of the tool's httpSecurityOptions",
        },
      ],
    });
    expect(compile(definition, { authTokens: { [name]: "2" } })).toMatchObject({
      plan: { implementation: { credentials: [{ name: "X-Pass", value: "2" }] } },
    });
  });

  test.each(["constructor", "toString", "__proto__"])("is no override of %s", (name) => {
    const definition = { client: {}, requirements: { requiredParameterOverrides: [name] } };
    expect(compile(definition)).toEqual({
      errors: [
        {
          field: "selectedTools.3.parameterOverrides",
          message: `must give ${name}, because the tool requires it`,
        },
      ],
    });
  });
});

test("listings hide what is fixed in a header, by whichever list, and nothing else", () => {
  const inHeader = { location: "PARAMETER_LOCATION_HEADER" };
  const definition = {
    ...http,
    dynamicParameters: [{ name: "x-dynamic", ...inHeader }],
    staticParameters: [
      { name: "x-static", ...inHeader, value: "very-secret-1" },
      { name: "open", value: "seen" },
    ],
    automaticParameters: [{ name: "x-call", ...inHeader, knownValue: "KNOWN_PARAM_CALL_ID" }],
  };
  const parameterOverrides = { "x-dynamic": "very-secret-2", "x-call": 123_456_789 };
  expect(compile(definition, { parameterOverrides })).toMatchObject({
    plan: {
      fixed: [
        { name: "x-dynamic", location: "header", value: "very-secret-2" },
        { name: "x-static", location: "header", value: "very-secret-1" },
        { name: "open", location: "body", value: "seen" },
        { name: "x-call", location: "header", value: 123_456_789 },
      ],
    },
    listed: {
      definition: {
        staticParameters: [
          { name: "x-dynamic", ...inHeader, value: "…" },
          { name: "x-static", ...inHeader, value: "…" },
          { name: "open", location: "PARAMETER_LOCATION_BODY", value: "seen" },
          { name: "x-call", ...inHeader, value: "…" },
        ],
      },
    },
  });
});
