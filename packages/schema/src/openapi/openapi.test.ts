import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../values/errors.ts";
import { MARK_NAMES } from "../values/fields.ts";
import type { JsonObject, JsonValue } from "./openapi-schemas.ts";
import { openApiDocument } from "./openapi.ts";
import { parseBody } from "../values/parse-body.ts";
import { ROUTE_NAMES, routeOf } from "../routes/routes.ts";

const options = { baseUrl: "https://calls.example", version: "0.1.0" };
const document = openApiDocument(options);

type Visit = (value: JsonValue, path: readonly string[]) => void;

function walk(value: JsonValue, visit: Visit, path: readonly string[] = []): void {
  visit(value, path);
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) walk(item, visit, [...path, key]);
}

function at(path: readonly string[], from: JsonValue = document): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, key) =>
      typeof value === "object" && value !== null && !Array.isArray(value) ? value[key] : undefined,
    from,
  );
}

function operations(): { path: string; method: string; operation: JsonObject }[] {
  return Object.entries(document["paths"] as { [path: string]: { [method: string]: JsonObject } }).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

describe("the description", () => {
  it("has an operation for every route and for joining", () => {
    expect(
      operations()
        .map(({ path, method }) => `${method} ${path}`)
        .sort(),
    ).toEqual(
      [
        ...ROUTE_NAMES.map((name) => `${routeOf(name).method.toLowerCase()} ${routeOf(name).path}`),
        "get /calls/{call_id}/{medium}/{token}",
        "post /calls/{call_id}/web_rtc/{token}",
        "patch /calls/{call_id}/web_rtc/{token}/{connection_id}",
        "delete /calls/{call_id}/web_rtc/{token}/{connection_id}",
      ].sort(),
    );
  });

  it("resolves every reference", () => {
    const references: string[] = [];
    walk(document, (value, path) => {
      if (path.at(-1) === "$ref" && typeof value === "string") references.push(value);
    });
    expect(references.length).toBeGreaterThan(100);
    expect(
      references.filter((reference) => at(reference.replace(/^#\//, "").split("/")) === undefined),
    ).toEqual([]);
  });

  it("uses every component", () => {
    const text = JSON.stringify(document);
    const apart = ["ClientDataMessage", "ServerDataMessage"];
    const unused = Object.keys(at(["components", "schemas"]) as JsonObject).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    expect(unused).toEqual(apart);
  });

  it("gives each operation an id of its own, a tag that is declared, a summary and answers", () => {
    const ids = operations().map(({ operation }) => operation["operationId"]);
    expect(ids.every((id) => typeof id === "string" && /^[a-z][a-zA-Z]+$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (document["tags"] as JsonObject[]).map(({ name }) => name);
    for (const { method, path, operation } of operations()) {
      expect(tags).toEqual(expect.arrayContaining(operation["tags"] as string[]));
      expect(operation["summary"]).toEqual(expect.stringMatching(/^[A-Z].*[^.]$/));
      const statuses = Object.keys(operation["responses"] as JsonObject);
      // A restart has a response body, candidates have none.
      const isRestart = method === "patch" && path.startsWith("/calls/");
      // A recording is returned, or the response redirects to it.
      const many = isRestart || path.endsWith("/recording") ? 2 : 1;
      expect(statuses.filter((status) => status < "400")).toHaveLength(many);
    }
  });

  it("declares exactly the parameters of each path", () => {
    for (const { path, operation } of operations()) {
      const declared = (operation["parameters"] as JsonObject[]).filter(
        (parameter) => parameter["in"] === "path",
      );
      expect(declared.map(({ name }) => name)).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      );
      expect(declared.every(({ required }) => required === true)).toBe(true);
    }
  });

  it("describes bodies by the components of their routes", () => {
    expect(
      at(["paths", "/api/agents", "post", "requestBody", "content", "application/json", "schema"]),
    ).toEqual({
      $ref: "#/components/schemas/AgentWrite",
    });
    expect(
      at(["paths", "/api/calls", "get", "responses", "200", "content", "application/json", "schema"]),
    ).toEqual({
      $ref: "#/components/schemas/CallPage",
    });
    const tools = "/api/calls/{call_id}/stages/{call_stage_id}/tools";
    expect(at(["paths", tools, "get", "responses", "200", "content", "application/json", "schema"])).toEqual({
      type: "array",
      items: { $ref: "#/components/schemas/CallTool" },
    });
  });

  it("has a problem for every failure, and failures for every operation", () => {
    expect(Object.keys(at(["components", "responses"]) as JsonObject).sort()).toEqual(
      [...ERROR_CODES].sort(),
    );
    for (const name of ROUTE_NAMES) {
      const { path, method, authenticated } = routeOf(name);
      const responses = at(["paths", path, method.toLowerCase(), "responses"]) as JsonObject;
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(["400", "429", "500"]));
      expect([name, Object.hasOwn(responses, "401")]).toEqual([name, authenticated]);
    }
    expect(at(["components", "securitySchemes", "apiKeyAuth"])).toMatchObject({
      type: "apiKey",
      in: "header",
      name: "X-API-Key",
    });
    expect(at(["paths", "/api/schema/", "get", "security"])).toEqual([]);
  });

  it("says which fields come and go", () => {
    const schemas = at(["components", "schemas"]) as {
      [name: string]: { properties: { [name: string]: JsonObject } };
    };
    expect(schemas["CallTemplate"]?.properties["created"]).toMatchObject({ readOnly: true });
    expect(schemas["CallTemplate"]?.properties["sharedSecrets"]).toMatchObject({ writeOnly: true });
    expect(schemas["SelectedTool"]?.properties["authTokens"]).toMatchObject({ writeOnly: true });
    expect(schemas["CallMedium"]).toMatchObject({ maxProperties: 1 });
    expect(schemas["ExternalVoice"]).toMatchObject({ minProperties: 1, maxProperties: 1 });
  });

  it("forbids unknown fields in requests and lets answers grow", () => {
    expect(at(["components", "schemas", "AgentWrite"])).toMatchObject({ additionalProperties: false });
    expect(at(["components", "schemas", "StartCallRequest"])).toMatchObject({ additionalProperties: false });
    for (const name of ["Agent", "CallPage", "CallTemplate", "Problem"]) {
      expect(at(["components", "schemas", name])).not.toHaveProperty("additionalProperties");
    }
  });

  const exampleAt = (...path: readonly string[]): JsonValue | undefined =>
    at(["paths", ...path, "content", "application/json", "example"]);

  it.each(ROUTE_NAMES.filter((name) => routeOf(name).request !== null))(
    "shows an example of a body that %s takes",
    (name) => {
      const { path, method, request, partial } = routeOf(name);
      const body = exampleAt(path, method.toLowerCase(), "requestBody");
      expect(body).toBeDefined();
      expect(request === null ? null : parseBody(request, body, { partial })).toBeTypeOf("object");
    },
  );

  it.each(ROUTE_NAMES)("shows examples of what %s answers", (name) => {
    const { path, method, responses } = routeOf(name);
    for (const [status, { schema }] of Object.entries(responses)) {
      const answer = exampleAt(path, method.toLowerCase(), "responses", status);
      expect(schema?.safeParse(answer).error).toBeUndefined();
    }
  });

  it("keeps no mark of our own", () => {
    const marks = new Set<string>(MARK_NAMES);
    const found: string[] = [];
    walk(document, (_, path) => {
      if (marks.has(path.at(-1) ?? "") && path.at(-2) !== "properties" && !path.includes("example"))
        found.push(path.join("."));
    });
    expect(found).toEqual([]);
  });

  it("is plain JSON and always the same", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(JSON.stringify(openApiDocument(options))).toBe(JSON.stringify(document));
  });

  it("can use vendor names, for properties only", () => {
    const vendor = openApiDocument({ ...options, names: "vendor" });
    const media = Object.keys(
      at(["components", "schemas", "CallMedium", "properties"], vendor) as JsonObject,
    );
    expect(media).toEqual(["webRtc", "twilio", "serverWebSocket", "telnyx", "plivo", "exotel", "sip"]);
    expect(Object.keys(vendor["paths"] as JsonObject)).toEqual(Object.keys(document["paths"] as JsonObject));
  });
});
