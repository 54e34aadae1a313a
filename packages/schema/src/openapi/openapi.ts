/** The OpenAPI 3.1 document of the REST API, made from the routes and the schemas. */

import type { z } from "zod";
import { type ErrorCode, Problem, statusOfCode, titleOfCode } from "../values/errors.ts";
import { joinPaths } from "../calls/join-paths.ts";
import { exampleOf, type ExampleOf } from "./openapi-examples.ts";
import { type ApiNames, toVendorName } from "../names/names.ts";
import { type JsonObject, type JsonValue, SchemaPrinter } from "./openapi-schemas.ts";
import type { Route, RouteUpload } from "../routes/route.ts";
import { ROUTE_NAMES, routeOf } from "../routes/routes.ts";
import { viewOf } from "../values/walk.ts";

export interface DescriptionOptions {
  /** Base of all paths, without a trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
  readonly names?: ApiNames;
}

/** Errors that every operation can return. */
const COMMON_ERRORS = [
  "validation_failed",
  "payload_too_large",
  "rate_limited",
  "internal",
  "no_capacity",
] as const satisfies readonly ErrorCode[];

/** The whole document. Equal options give equal documents. */
export function openApiDocument({ baseUrl, version, names = "neutral" }: DescriptionOptions): JsonObject {
  const generator = new SchemaPrinter(names);
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
        "refused unless the deployment is configured otherwise. Responses may gain fields at any time.",
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
          description:
            "An API key is for one account. It may do everything there, unless it was created with scopes: `read` " +
            "reads, `calls` also creates and controls calls, `admin` may do everything. Each operation names the scope " +
            "that it needs in `security` and in `x-required-scope`.",
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
  { name: "calls", description: "Calls, their messages and events." },
  { name: "stages", description: "The parts of a call." },
  { name: "tools", description: "What agents can do besides talking." },
  { name: "voices", description: "Voices of agents, and API keys of voice providers." },
  { name: "corpora", description: "Documents that agents can search." },
  { name: "batches", description: "Calls that the service makes on schedule." },
  { name: "throttles", description: "Limits on how many calls may be created in a time." },
  { name: "webhooks", description: "Addresses that receive events of calls." },
  { name: "telephony", description: "Your accounts with telephony carriers." },
  { name: "sip", description: "Calls over SIP." },
  { name: "account", description: "The account of the API key, its usage and its API keys." },
  {
    name: "join",
    description: "Where clients and carriers connect. No API key: the path contains the credential.",
  },
  { name: "deployment", description: "The engines that all accounts of the service use." },
  { name: "service", description: "The service itself." },
];

function describeRoute(operationId: string, route: Route, generator: SchemaPrinter): JsonObject {
  const errors = new Set<ErrorCode>([
    ...COMMON_ERRORS,
    ...(route.authenticated ? (["unauthenticated", "forbidden"] as const) : []),
    ...(route.request === null ? [] : (["unsupported_media_type"] as const)),
    ...(route.idempotent ? (["conflict"] as const) : []),
    ...route.errors,
  ]);
  const responses: JsonObject = {};
  for (const [status, { description, schema, contentType, headers }] of Object.entries(route.responses)) {
    const named = {
      ...headers,
      ...(route.idempotent ? REPLAYED_HEADER : {}),
      ...(isPaged(route) ? TOTAL_HEADER : {}),
    };
    responses[status] = {
      description,
      ...(Object.keys(named).length === 0 ? {} : { headers: describeHeaders(named) }),
      ...(contentType === null ? {} : { content: { [contentType]: described(schema, "answer", generator) } }),
    };
  }
  for (const code of [...errors].sort((a, b) => statusOfCode(a) - statusOfCode(b))) {
    responses[statusOfCode(code)] = { $ref: `#/components/responses/${code}` };
  }
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.scope === null
      ? { security: [] }
      : { security: [{ apiKeyAuth: [route.scope] }], "x-required-scope": route.scope }),
    parameters: [
      ...parameters(route.params, "path", generator),
      ...parameters(route.query, "query", generator),
      ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
      ...(route.takesTraceParent ? [TRACE_PARENT] : []),
      ...(route.takesOperatorKey ? [OPERATOR_KEY] : []),
    ],
    ...(route.request === null
      ? {}
      : {
          requestBody: {
            required: !acceptsNothing(route.request),
            content: {
              "application/json": described(route.request, "body", generator),
              ...(route.upload === null
                ? {}
                : { "multipart/form-data": { schema: formSchema(route.upload, generator) } }),
            },
          },
        }),
    responses,
  };
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A unique text for this request. A request with the same key and body within 24 hours gets the first response and " +
    "is not executed again. With another body, or while the first request is running, the response is 409.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const TRACE_PARENT: JsonObject = {
  name: "traceparent",
  in: "header",
  required: false,
  description:
    "W3C Trace Context. With traces switched on, the spans of the call belong to this trace. A value that is not valid " +
    "is ignored.",
  schema: { type: "string", maxLength: 255 },
};

const OPERATOR_KEY: JsonObject = {
  name: "X-Operator-Key",
  in: "header",
  required: false,
  description:
    "The key of the deployment's operator (`OPERATOR_KEY`), besides the API key. Changes need it. Requests that read or " +
    "test need it for accounts other than the first one of the deployment.",
  schema: { type: "string" },
};

const TOTAL_HEADER: Readonly<Record<string, string>> = {
  "Total-Relation": "`at-least` if there may be more matches than `total`; absent if `total` is exact.",
};

function isPaged({ query }: Route): boolean {
  const { structure } = viewOf(query);
  return structure.kind === "object" && structure.fields.has("cursor");
}

const REPLAYED_HEADER: Readonly<Record<string, string>> = {
  "Idempotent-Replayed": "`true` if this is the stored first response for the `Idempotency-Key`.",
};

function describeHeaders(headers: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function formSchema({ field, description, texts }: RouteUpload, generator: SchemaPrinter): JsonObject {
  const file = { type: "string", contentMediaType: "application/octet-stream", description };
  const { properties = {}, required = [] } = texts === undefined ? {} : generator.printInPlace(texts);
  return {
    type: "object",
    required: [field, ...(required as string[])],
    properties: { [field]: file, ...(properties as JsonObject) },
  };
}

/** A body or a response with an example. Bodies that are not JSON have no example. */
function described(schema: z.ZodType | null, of: ExampleOf, generator: SchemaPrinter): JsonObject {
  if (schema === null) return { schema: { type: "string", format: "binary" } };
  const printed = generator.print(schema);
  return { schema: printed, example: exampleOf(printed, generator.printed, of) };
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

/** All codes of a status: an operation has one description for each status. */
function describeCodes(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `${titleOfCode(code)} (\`${code}\`)`).join("; or: ");
}

function problemResponses(): JsonObject {
  const codes = Problem.shape.code.options;
  const retrying: readonly ErrorCode[] = ["too_early", "rate_limited", "no_capacity", "call_elsewhere"];
  const retryAfter = {
    "Retry-After": { description: "Whole seconds to wait.", schema: { type: "integer" } },
  };
  return Object.fromEntries(
    codes.map((code) => [
      code,
      {
        description: `${describeCodes(codes.filter((other) => statusOfCode(other) === statusOfCode(code)))}.`,
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
