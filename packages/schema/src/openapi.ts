/** The description of the REST interface (OpenAPI 3.1), made from the routes and the schemas. */

import type { z } from "zod";
import { type ErrorCode, Problem, statusOfCode, titleOfCode } from "./errors.ts";
import { joinPaths } from "./join-paths.ts";
import { type ApiNames, toVendorName } from "./names.ts";
import { type JsonObject, type JsonValue, SchemaPrinter } from "./openapi-schemas.ts";
import type { Route, RouteUpload } from "./route.ts";
import { ROUTE_NAMES, routeOf } from "./routes.ts";

export interface DescriptionOptions {
  /** Base of all paths, without a trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
  readonly names?: ApiNames;
}

/** Failures that every operation has. */
const COMMON_ERRORS = [
  "validation_failed",
  "payload_too_large",
  "rate_limited",
  "internal",
  "no_capacity",
] as const satisfies readonly ErrorCode[];

/** The whole document. It depends on nothing but the options, so equal options give equal documents. */
export function openApiDocument({ baseUrl, version, names = "neutral" }: DescriptionOptions): JsonObject {
  const generator = new SchemaPrinter();
  const paths: { [path: string]: JsonObject } = {};
  for (const name of ROUTE_NAMES) {
    const route = routeOf(name);
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = describeRoute(name, route, generator);
  }
  const document: JsonObject = {
    openapi: "3.1.0",
    info: {
      title: "Parley",
      version,
      description:
        "An open, self-hosted service that runs conversational voice agents. Unknown fields of a request body are " +
        "refused unless the deployment says otherwise; answers may gain fields at any time.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKeyAuth: [] }],
    tags: TAGS,
    paths: { ...paths, ...joinPaths() },
    components: {
      securitySchemes: {
        apiKeyAuth: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "The key stands for its account and may do everything in it.",
        },
      },
      responses: problemResponses(),
      schemas: generator.components(),
    },
  };
  return names === "vendor" ? (renameProperties(document) as JsonObject) : document;
}

const TAGS: JsonValue[] = [
  { name: "agents", description: "Agents and their calls." },
  { name: "calls", description: "Calls, what was said in them and what happened." },
  { name: "stages", description: "The parts of a call." },
  { name: "tools", description: "What agents can do besides talking." },
  { name: "join", description: "Where clients and carriers connect. No key: the path holds the credential." },
  { name: "service", description: "The service itself." },
];

function describeRoute(operationId: string, route: Route, generator: SchemaPrinter): JsonObject {
  const errors = new Set<ErrorCode>([
    ...COMMON_ERRORS,
    ...(route.authenticated ? (["unauthenticated", "forbidden"] as const) : []),
    ...(route.request === null ? [] : (["unsupported_media_type"] as const)),
    ...route.errors,
  ]);
  const responses: JsonObject = {};
  for (const [status, { description, schema, contentType, headers }] of Object.entries(route.responses)) {
    responses[status] = {
      description,
      ...(headers === undefined ? {} : { headers: describeHeaders(headers) }),
      ...(contentType === null
        ? {}
        : { content: { [contentType]: { schema: bodySchema(schema, generator) } } }),
    };
  }
  for (const code of [...errors].sort((a, b) => statusOfCode(a) - statusOfCode(b))) {
    responses[statusOfCode(code)] = { $ref: `#/components/responses/${code}` };
  }
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.authenticated ? {} : { security: [] }),
    parameters: [
      ...parameters(route.params, "path", generator),
      ...parameters(route.query, "query", generator),
    ],
    ...(route.request === null
      ? {}
      : {
          requestBody: {
            required: !acceptsNothing(route.request),
            content: {
              "application/json": { schema: generator.print(route.request) },
              ...(route.upload === null
                ? {}
                : { "multipart/form-data": { schema: formSchema(route.upload) } }),
            },
          },
        }),
    responses,
  };
}

function describeHeaders(headers: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function formSchema({ field, description }: RouteUpload): JsonObject {
  const file = { type: "string", contentMediaType: "application/octet-stream", description };
  return { type: "object", required: [field], properties: { [field]: file } };
}

function bodySchema(schema: z.ZodType | null, generator: SchemaPrinter): JsonObject {
  return schema === null ? { type: "string", format: "binary" } : generator.print(schema);
}

/** An empty body is an empty object where all fields are optional. */
function acceptsNothing(request: z.ZodType): boolean {
  return request.safeParse({}).success;
}

function parameters(schema: z.ZodType, place: "path" | "query", generator: SchemaPrinter): JsonObject[] {
  const { properties = {}, required = [] } = generator.printInPlace(schema);
  const needed = required as string[];
  return Object.entries(properties as { [name: string]: JsonObject }).map(([name, printed]) => {
    const { description, ...field } = printed;
    const isMap = field["additionalProperties"] !== undefined;
    return {
      name,
      in: place,
      required: place === "path" || needed.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(field["type"] === "array" ? { style: "form", explode: true } : {}),
      ...(isMap ? { style: "deepObject", explode: true } : {}),
      schema: field,
    };
  });
}

function problemResponses(): JsonObject {
  const codes = Problem.shape.code.options;
  const retrying: readonly ErrorCode[] = ["too_early", "rate_limited", "no_capacity"];
  const retryAfter = {
    "Retry-After": { description: "Whole seconds to wait.", schema: { type: "integer" } },
  };
  return Object.fromEntries(
    codes.map((code) => [
      code,
      {
        description: `${titleOfCode(code)} (\`${code}\`).`,
        ...(retrying.includes(code) ? { headers: retryAfter } : {}),
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}

/** A copy with vendor spellings for the names of properties. */
function renameProperties(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(renameProperties);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]): [string, JsonValue] => {
      if (key === "properties" && typeof item === "object" && item !== null && !Array.isArray(item)) {
        const renamed = Object.entries(item).map(([name, schema]) => [
          toVendorName(name),
          renameProperties(schema),
        ]);
        return [key, Object.fromEntries(renamed) as JsonObject];
      }
      if (key === "required" && Array.isArray(item)) {
        return [key, item.map((name) => (typeof name === "string" ? toVendorName(name) : name))];
      }
      return [key, renameProperties(item)];
    }),
  );
}
