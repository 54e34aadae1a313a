import { expect, it } from "vitest";
import { stringify } from "yaml";
import { toolsOfOpenApi } from "./openapi-tools.ts";

const shop30 = {
  openapi: "3.0.3",
  info: { title: "Shop", version: "1" },
  servers: [{ url: "https://{region}.shop.example/v1/", variables: { region: { default: "eu" } } }],
  security: [{ key: [] }, { cookie: [] }],
  paths: {
    "/orders/{id}": {
      parameters: [{ $ref: "#/components/parameters/Id" }],
      get: {
        operationId: "getOrder",
        summary: "Reads an order",
        parameters: [
          { name: "fields", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "X-Trace", in: "header", description: "For us.", schema: { type: "string" } },
          { name: "Authorization", in: "header", schema: { type: "string" } },
        ],
      },
      patch: {
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Change" } } },
        },
        servers: [{ url: "https://write.shop.example" }],
        security: [],
      },
    },
  },
  components: {
    parameters: { Id: { name: "id", in: "path", required: true, schema: { type: "integer" } } },
    schemas: {
      Change: {
        type: "object",
        required: ["state"],
        properties: {
          state: { $ref: "#/components/schemas/State" },
          note: { type: "string", nullable: true },
          share: { type: "number", minimum: 0, exclusiveMinimum: true },
          parent: { $ref: "#/components/schemas/Change" },
        },
      },
      State: { type: "string", enum: ["open", "closed"] },
    },
    securitySchemes: {
      key: { type: "apiKey", in: "query", name: "api_key" },
      cookie: { type: "apiKey", in: "cookie", name: "c" },
    },
  },
};

const weather31 = {
  openapi: "3.1.0",
  info: { title: "Weather", version: "1" },
  servers: [{ url: "https://weather.example" }],
  paths: {
    "/forecast": {
      get: {
        operationId: "a very long operation id that no record can hold",
        description: "Tells the weather.",
        parameters: [{ name: "city", in: "query", required: true, schema: { type: ["string", "null"] } }],
        security: [{ bearer: [], tenant: [] }, { login: ["read"] }, {}],
      },
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer" },
      tenant: { type: "apiKey", in: "header", name: "X-Tenant" },
      login: { type: "oauth2", flows: {} },
    },
  },
};

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const errorsOf = (value: unknown) => {
  const read = toolsOfOpenApi(bytes(value));
  return "errors" in read ? read.errors.map(({ field }) => field) : [];
};
const messageOf = (value: unknown) => {
  const read = toolsOfOpenApi(bytes(value));
  return "errors" in read ? read.errors.map(({ field, message }) => `${field} ${message}`).join("\n") : "";
};
const at = (location: string) => `PARAMETER_LOCATION_${location}`;

it("makes a tool of each operation of a 3.0 document", () => {
  expect(toolsOfOpenApi(bytes(shop30))).toEqual({
    tools: [
      {
        name: "getOrder",
        definition: {
          modelToolName: "getOrder",
          description: "Reads an order",
          dynamicParameters: [
            { name: "id", location: at("PATH"), schema: { type: "integer" }, required: true },
            {
              name: "fields",
              location: at("QUERY"),
              schema: { type: "array", items: { type: "string" } },
              required: false,
            },
            {
              name: "X-Trace",
              location: at("HEADER"),
              schema: { type: "string", description: "For us." },
              required: false,
            },
          ],
          requirements: {
            httpSecurityOptions: {
              options: [{ requirements: { key: { queryApiKey: { name: "api_key" } } } }],
            },
          },
          http: { baseUrlPattern: "https://eu.shop.example/v1/orders/{id}", httpMethod: "GET" },
        },
      },
      {
        name: "patch_orders_id",
        definition: {
          modelToolName: "patch_orders_id",
          dynamicParameters: [
            { name: "id", location: at("PATH"), schema: { type: "integer" }, required: true },
            {
              name: "state",
              location: at("BODY"),
              schema: { type: "string", enum: ["open", "closed"] },
              required: true,
            },
            { name: "note", location: at("BODY"), schema: { type: ["string", "null"] }, required: false },
            {
              name: "share",
              location: at("BODY"),
              schema: { type: "number", exclusiveMinimum: 0 },
              required: false,
            },
            { name: "parent", location: at("BODY"), schema: {}, required: false },
          ],
          http: { baseUrlPattern: "https://write.shop.example/orders/{id}", httpMethod: "PATCH" },
        },
      },
    ],
  });
});

it("reads a 3.1 document, as YAML too, with every alternative of its security", () => {
  const read = toolsOfOpenApi(bytes(weather31));
  expect(read).toMatchObject({
    tools: [
      {
        name: "a_very_long_operation_id_that_no_record_",
        definition: {
          description: "Tells the weather.",
          dynamicParameters: [{ name: "city", schema: { type: ["string", "null"] }, required: true }],
          requirements: {
            httpSecurityOptions: {
              options: [
                {
                  requirements: {
                    bearer: { httpAuth: { scheme: "Bearer" } },
                    tenant: { headerApiKey: { name: "X-Tenant" } },
                  },
                },
                { requirements: { login: { httpAuth: { scheme: "Bearer" } } } },
                { requirements: {} },
              ],
            },
          },
        },
      },
    ],
  });
  expect(toolsOfOpenApi(bytes(stringify(weather31)))).toEqual(read);
});

it("gives every fault with its place, and then no tool", () => {
  const { get } = weather31.paths["/forecast"];
  const withGet = (changes: object) => ({ ...weather31, paths: { "/f": { get: { ...get, ...changes } } } });
  expect(errorsOf("only text")).toEqual(["file"]);
  expect(errorsOf("[]")).toEqual(["file"]);
  expect(errorsOf({ swagger: "2.0" })).toEqual(["openapi"]);
  expect(errorsOf({ ...weather31, paths: {} })).toEqual(["paths"]);
  expect(errorsOf({ ...weather31, servers: [{ url: "/relative" }] })).toEqual(["paths./forecast.get"]);
  const far = [{ $ref: "https://other.example/x" }];
  expect(errorsOf(withGet({ parameters: far }))).toEqual(["paths./f.get.parameters.0"]);
  const loop = { ...withGet({ parameters: [{ $ref: "#/x" }] }), x: { $ref: "#/x" } };
  expect(errorsOf(loop)).toEqual(["paths./f.get.parameters.0"]);
  const cookie = [{ name: "basket", in: "cookie", required: true }];
  expect(errorsOf(withGet({ parameters: cookie }))).toEqual(["paths./f.get.parameters.0"]);
  expect(errorsOf(withGet({ security: [{ nobody: [] }] }))).toEqual(["paths./f.get.security.0.nobody"]);
  const list = { content: { "application/json": { schema: { type: "array" } } } };
  const body = "paths./f.get.requestBody";
  expect(errorsOf(withGet({ requestBody: list }))).toEqual([`${body}.content.application/json.schema`]);
  expect(errorsOf(withGet({ requestBody: { required: true, content: { "text/plain": {} } } }))).toEqual([
    body,
  ]);
  const two = {
    ...weather31,
    paths: { "/a": { get: { security: [{ x: [] }] } }, "/b": { get: { parameters: far } } },
  };
  expect(errorsOf(two)).toEqual(["paths./a.get.security.0.x", "paths./b.get.parameters.0"]);
});

it("bounds documents that multiply themselves", () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 11 }, (_, index) => [
      `S${index}`,
      {
        properties: Object.fromEntries(
          ["a", "b", "c"].map((name) => [name, { $ref: `#/components/schemas/S${index + 1}` }]),
        ),
      },
    ]),
  );
  const requestBody = { content: { "application/json": { schema: { $ref: "#/components/schemas/S0" } } } };
  const bomb = {
    ...weather31,
    paths: { "/f": { post: { requestBody } } },
    components: { schemas: { ...schemas, S11: { type: "string" } } },
  };
  expect(errorsOf(bomb)).toHaveLength(1);
});

const withParameter = (schema: object, more: object = {}) => ({
  ...weather31,
  paths: { "/f": { get: { parameters: [{ name: "p", in: "query", schema }] } } },
  ...more,
});
const parameter = "paths./f.get.parameters.0";

it("refuses YAML that would hold the main thread", () => {
  const large = `${stringify(weather31)}x:\n${"  - 1\n".repeat(9_000)}`;
  expect(messageOf(large)).toMatch(/^file .*at most 49152 bytes: send larger documents as JSON$/);
  expect(messageOf("? ".repeat(20_000))).toMatch(/^file takes too long .*JSON$/);
  const twice = `${stringify(weather31)}info: {title: Again}\n`;
  expect(messageOf(twice)).toBe("");
  const merged = `%YAML 1.1\n---\n${stringify(weather31)}a: &a {b: 1}\nopenapi: {<<: *a}\n`;
  expect(messageOf(merged)).toMatch(/^openapi /);
});

it("refuses a version that is no text", () => {
  expect(errorsOf({ ...weather31, openapi: { toString: null } })).toEqual(["openapi"]);
});

it("bounds the length of the schema of one parameter", () => {
  const S = { type: "string", description: "d".repeat(10_000) };
  const properties = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { $ref: "#/S" }]));
  expect(messageOf(withParameter({ properties: properties(6) }, { S }))).toBe("");
  expect(messageOf(withParameter({ properties: properties(7) }, { S }))).toBe(
    `${parameter} needs a schema of more than 65536 characters`,
  );
  const body = (schema: object) => ({
    ...weather31,
    paths: { "/f": { post: { requestBody: { content: { "application/json": { schema } } } } } },
    S,
  });
  expect(messageOf(body({ properties: properties(7) }))).toBe("");
  expect(messageOf(body({ properties: { a: { properties: properties(7) } } }))).toBe(
    "paths./f.post.requestBody.content.application/json.schema.properties.a needs a schema of more than 65536 characters",
  );
});

it.each([
  ["description", "d".repeat(60_000)],
  ["enum", ["e".repeat(60_000)]],
  ["default", { ["k".repeat(60_000)]: 1 }],
])("bounds the length of all schemas of an import: %s", (key, value) => {
  const parameters = [{ name: "p", in: "query", schema: { $ref: "#/S" } }];
  const paths = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`/f${index}`, { get: { parameters } }]));
  const document = (count: number) => ({ ...weather31, paths: paths(count), S: { [key]: value } });
  expect(messageOf(document(69))).toBe("");
  // One fault: nothing is read after it.
  expect(messageOf(document(150))).toBe(
    "paths./f69.get.parameters.0 makes the schemas of all operations longer than 4194304 characters",
  );
});

it("refuses values that contain themselves or nest too deep", () => {
  const yaml = (schema: string) =>
    `openapi: 3.1.0\nservers: [{url: "https://a.example"}]\npaths: {/f: {get: {parameters: [{name: p, in: query, schema: ${schema}}]}}}`;
  for (const schema of ["{enum: &e [*e]}", "{default: &d {a: *d}}", "{const: &c [[*c]]}"]) {
    expect(messageOf(yaml(schema))).toBe(`${parameter} has a value that contains itself`);
  }
  // The same value twice is no circle.
  expect(messageOf(yaml("{enum: [&a [1], *a]}"))).toBe("");
  const nested = (depth: number) =>
    JSON.stringify(withParameter({ default: "DEEP" })).replace(
      '"DEEP"',
      `${"[".repeat(depth)}${"]".repeat(depth)}`,
    );
  expect(messageOf(nested(32))).toBe("");
  for (const depth of [33, 20_000]) {
    expect(messageOf(nested(depth))).toBe(`${parameter} has a value with more than 32 levels`);
  }
});
