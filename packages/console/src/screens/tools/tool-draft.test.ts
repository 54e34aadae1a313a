import { expect, test } from "vitest";
import { kindOf, readValue, schemaOf, simpleSchemaOf, valueText, withKind } from "./tool-draft.ts";

test("a fixed value survives being written and read", () => {
  for (const value of ["plain", "5", 5, true, null, "true", '"quoted"', "", " 7 ", { a: [1] }, "a, b"]) {
    expect(readValue(valueText(value))).toEqual(value);
  }
});

test("another kind keeps the parameters, and only http keeps where they go", () => {
  const http = {
    http: { baseUrlPattern: "https://shop.example/{id}" },
    dynamicParameters: [{ name: "id", location: "PARAMETER_LOCATION_PATH" as const, required: true }],
  };
  const client = withKind(http, "client");
  expect(kindOf(client)).toBe("client");
  expect(client.http).toBeUndefined();
  expect(client.dynamicParameters).toEqual([{ name: "id", location: undefined, required: true }]);
});

test("a fixed answer beside an implementation does not make it the kind", () => {
  expect(kindOf({ client: {}, staticResponse: { responseText: "done" } })).toBe("client");
  expect(kindOf({ staticResponse: {} })).toBe("staticResponse");
});

test("schemas that say more than the form shows are left to the JSON view", () => {
  expect(simpleSchemaOf({ type: "string", pattern: "^a" })).toBeNull();
  expect(simpleSchemaOf({ type: "array", items: { type: "string" } })).toBeNull();
  expect(simpleSchemaOf({ type: ["string", "null"] })).toBeNull();
  expect(simpleSchemaOf({ type: "string", enum: ["a", "b,c"] })).toBeNull();
  const schema = { type: "string", description: "Which door.", enum: ["front", "back"] };
  const simple = simpleSchemaOf(schema);
  expect(simple).not.toBeNull();
  expect(simple === null ? null : schemaOf(simple)).toEqual(schema);
});
