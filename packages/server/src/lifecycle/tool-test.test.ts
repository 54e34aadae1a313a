import type { BaseToolDefinition } from "@parley/schema";
import { describe, expect, it } from "vitest";
import { createToolTest, prepareToolTest } from "./tool-test.ts";

const http = { baseUrlPattern: "https://tools.example/{id}" };

const definition: BaseToolDefinition = {
  http,
  dynamicParameters: [
    { name: "seats", required: true, schema: { type: "integer" } },
    { name: "note" },
    { name: "id", location: "PARAMETER_LOCATION_PATH", required: true },
  ],
  staticParameters: [
    { name: "lang", value: "de" },
    { name: "discount", value: null },
  ],
  automaticParameters: [
    { name: "rate", location: "PARAMETER_LOCATION_QUERY", knownValue: "KNOWN_PARAM_OUTPUT_SAMPLE_RATE" },
    { name: "history", knownValue: "KNOWN_PARAM_CONVERSATION_HISTORY" },
  ],
};

const secured: BaseToolDefinition = {
  http: { baseUrlPattern: "https://tools.example", httpMethod: "GET" },
  requirements: {
    httpSecurityOptions: {
      options: [
        { requirements: { key: { headerApiKey: { name: "X-Key" } } } },
        { requirements: { user: { queryApiKey: { name: "user" } } }, serviceCallTokenRequirement: {} },
      ],
    },
  },
};

function prepared(tool: BaseToolDefinition, body: Record<string, unknown>) {
  const test = prepareToolTest(tool, body, "call-token");
  if ("errors" in test) throw new Error(JSON.stringify(test.errors));
  return test;
}

const namesAndValues = (tool: BaseToolDefinition, body: Record<string, unknown>) =>
  prepared(tool, body).values.map(({ name, location, value }) => [name, location, value]);

describe("the test of a tool", () => {
  it("sends given, fixed and sample values, nulls as well", () => {
    expect(namesAndValues(definition, { seats: 4, id: "a b" })).toEqual([
      ["seats", "body", 4],
      ["id", "path", "a b"],
      ["lang", "body", "de"],
      ["discount", "body", null],
      ["rate", "query", 48_000],
      ["history", "body", []],
    ]);
  });

  it("sends the given values instead of those of the tool", () => {
    const values = namesAndValues(definition, { seats: null, id: "1", lang: "fr", rate: 8_000 });
    expect(values).toContainEqual(["seats", "body", null]);
    expect(values).toContainEqual(["lang", "body", "fr"]);
    expect(values).toContainEqual(["rate", "query", 8_000]);
    expect(values).toHaveLength(6);
  });

  it.each<[string, BaseToolDefinition, Record<string, unknown>, string, string]>([
    [
      "a parameter that it has not",
      definition,
      { seats: 1, id: "1", x: 1 },
      "x",
      "is not a parameter of the tool",
    ],
    ["a missing parameter", definition, { seats: 1 }, "id", "is required"],
    [
      "a missing override",
      {
        http: { baseUrlPattern: "https://a.example" },
        requirements: { requiredParameterOverrides: ["hotel"] },
      },
      {},
      "hotel",
      "is required",
    ],
    ["missing tokens", secured, {}, "authTokens", "must meet one of the tool's httpSecurityOptions"],
    [
      "tokens that are no texts",
      secured,
      { authTokens: { key: 5 } },
      "authTokens",
      "must be an object of texts",
    ],
    ["tokens in a list", secured, { authTokens: ["key"] }, "authTokens", "must be an object of texts"],
  ])("is refused with %s", (_what, tool, body, field, message) => {
    expect(prepareToolTest(tool, body, "t")).toEqual({ errors: [{ field, message }] });
  });

  it("is refused with a token that a header cannot carry, without showing it", () => {
    const test = prepareToolTest(secured, { authTokens: { key: "one\ntwo" } }, "t");
    expect(test).toMatchObject({ errors: [{ field: "authTokens.key" }] });
    expect(JSON.stringify(test)).not.toContain("one");
  });

  it("authenticates with the tokens of its body", () => {
    const { target, values } = prepared(secured, { authTokens: { key: "k-1" } });
    expect(target).toMatchObject({
      credentials: [{ place: "header", name: "X-Key", value: "k-1" }],
      callToken: null,
    });
    expect(values).toEqual([]);
    expect(prepared(secured, { authTokens: { user: "ada" } }).target).toMatchObject({
      credentials: [{ place: "query", name: "user", value: "ada" }],
      callToken: "call-token",
    });
  });

  it("takes authTokens as a value where the tool has a parameter of that name", () => {
    const tool = {
      http: { baseUrlPattern: "https://a.example" },
      dynamicParameters: [{ name: "authTokens" }],
    };
    expect(namesAndValues(tool, { authTokens: "x" })).toEqual([["authTokens", "body", "x"]]);
  });

  it("sends what it prepared, and nothing where it is refused", async () => {
    const sent: unknown[] = [];
    const test = createToolTest((request) => {
      sent.push(request);
      return Promise.resolve("sent");
    });
    expect(await test(secured, { authTokens: { key: "k-1" } })).toBe("sent");
    expect(await test(secured, {})).toMatchObject({ kind: "refused" });
    expect(sent).toMatchObject([{ timeoutMs: 2_500, target: { method: "GET" } }]);
  });
});
