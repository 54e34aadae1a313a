/** The parameters of a tool: who gives each value, where it goes, and what the model sees of it (D139). */

import type { BaseToolDefinition, CallTool } from "@parley/schema";
import type { FixedParameter, ParameterLocation, ParameterPlace } from "./tool-plan.ts";

type WireKnownValue = NonNullable<BaseToolDefinition["automaticParameters"]>[number]["knownValue"];
type WireLocation = NonNullable<NonNullable<BaseToolDefinition["dynamicParameters"]>[number]["location"]>;

export type Parameter = {
  readonly name: string;
  /** Null: where the tool puts what has no place of its own. */
  readonly location: ParameterLocation | null;
} & (
  | { readonly kind: "dynamic"; readonly schema: JsonObject; readonly required: boolean }
  /** Without a value (undefined) it is left out unless it is overridden. */
  | { readonly kind: "static"; readonly value: unknown }
  | { readonly kind: "automatic"; readonly known: WireKnownValue }
);

type JsonObject = Readonly<Record<string, unknown>>;

export interface PlacedParameters {
  /** JSON Schema of what the model gives. */
  readonly schema: JsonObject;
  readonly dynamic: readonly (ParameterPlace & { readonly schema: JsonObject; readonly required: boolean })[];
  readonly fixed: readonly FixedParameter[];
  readonly automatic: readonly (ParameterPlace & { readonly known: WireKnownValue })[];
  readonly listed: Pick<
    CallTool["definition"],
    "dynamicParameters" | "staticParameters" | "automaticParameters"
  >;
}

const LOCATIONS: Readonly<Record<WireLocation, ParameterLocation>> = {
  PARAMETER_LOCATION_QUERY: "query",
  PARAMETER_LOCATION_PATH: "path",
  PARAMETER_LOCATION_HEADER: "header",
  PARAMETER_LOCATION_BODY: "body",
};

const WIRE_LOCATIONS: Readonly<Record<ParameterLocation, WireLocation>> = {
  query: "PARAMETER_LOCATION_QUERY",
  path: "PARAMETER_LOCATION_PATH",
  header: "PARAMETER_LOCATION_HEADER",
  body: "PARAMETER_LOCATION_BODY",
};

/** What a dynamic parameter without a schema takes. */
const ANY_TEXT: JsonObject = { type: "string" };

/** Stands in listings for a fixed header, which is where a tool without authTokens carries its key. */
const HIDDEN_VALUE = "…";

/** Where a schema holds what its parts refer to, now and in older versions. */
const DEFINITIONS = ["$defs", "definitions"] as const;

function keyed(key: string, value: unknown): [string, unknown][] {
  return value === undefined ? [] : [[key, value]];
}

/** @param serverSchema of the arguments, where an MCP server gives it; the definition's parameters go before it */
export function parametersOf(definition: BaseToolDefinition, serverSchema: JsonObject | null): Parameter[] {
  const { dynamicParameters = [], staticParameters = [], automaticParameters = [] } = definition;
  const own: Parameter[] = [
    ...dynamicParameters.map(({ name, location, schema = ANY_TEXT, required = false }) => ({
      kind: "dynamic" as const,
      name,
      location: placeOf(location),
      schema,
      required,
    })),
    ...staticParameters.map(({ name, location, value }) => ({
      kind: "static" as const,
      name,
      location: placeOf(location),
      value,
    })),
    ...automaticParameters.map(({ name, location, knownValue }) => ({
      kind: "automatic" as const,
      name,
      location: placeOf(location),
      known: knownValue,
    })),
  ];
  const named = new Set(own.map(({ name }) => name));
  return [...own, ...serverParameters(serverSchema).filter(({ name }) => !named.has(name))];
}

function placeOf(location: WireLocation | undefined): ParameterLocation | null {
  return location === undefined ? null : LOCATIONS[location];
}

function serverParameters(schema: JsonObject | null): Parameter[] {
  const required = Array.isArray(schema?.["required"]) ? (schema["required"] as readonly unknown[]) : [];
  return Object.entries(asObject(schema?.["properties"])).map(([name, property]) => ({
    kind: "dynamic",
    name,
    location: "body",
    schema: asObject(property),
    required: required.includes(name),
  }));
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Each parameter in its place; an override of any kind is fixed, and the model does not see it. */
export function placedParameters(
  parameters: readonly Parameter[],
  definition: BaseToolDefinition,
  overrides: JsonObject,
  method: string | null,
  serverSchema: JsonObject | null,
): PlacedParameters {
  // The method of a GET or HEAD request leaves nothing but the query for what has no place of its own.
  const unplaced: ParameterLocation = method === "GET" || method === "HEAD" ? "query" : "body";
  const named = new Set(parameters.map(({ name }) => name));
  const required = definition.requirements?.requiredParameterOverrides ?? [];
  // A tool may demand an override of what it lists nowhere.
  const extra: Parameter[] = [...new Set(required)]
    .filter((name) => !named.has(name))
    .map((name) => ({ kind: "static", name, location: null, value: undefined }));
  const fixed: FixedParameter[] = [];
  const dynamic: PlacedParameters["dynamic"][number][] = [];
  const automatic: PlacedParameters["automatic"][number][] = [];
  for (const parameter of [...parameters, ...extra]) {
    const place = { name: parameter.name, location: parameter.location ?? unplaced };
    const override = Object.hasOwn(overrides, parameter.name) ? overrides[parameter.name] : undefined;
    if (override !== undefined) fixed.push({ ...place, value: override });
    else if (parameter.kind === "static") {
      if (parameter.value !== undefined) fixed.push({ ...place, value: parameter.value });
    } else if (parameter.kind === "automatic") automatic.push({ ...place, known: parameter.known });
    else dynamic.push({ ...place, schema: parameter.schema, required: parameter.required });
  }
  const demanded = dynamic.filter(({ required: isRequired }) => isRequired).map(({ name }) => name);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(dynamic.map(({ name, schema }) => [name, schema])),
      ...(demanded.length === 0 ? {} : { required: demanded }),
      // What the server's own parameters refer to.
      ...Object.fromEntries(DEFINITIONS.flatMap((key) => keyed(key, serverSchema?.[key]))),
    },
    dynamic,
    fixed,
    automatic,
    listed: listedParameters(dynamic, fixed, automatic),
  };
}

function listedParameters(
  dynamic: PlacedParameters["dynamic"],
  fixed: PlacedParameters["fixed"],
  automatic: PlacedParameters["automatic"],
): PlacedParameters["listed"] {
  return {
    dynamicParameters: dynamic.map(({ name, location, schema, required }) => ({
      name,
      location: WIRE_LOCATIONS[location],
      schema,
      required,
    })),
    staticParameters: fixed.map(({ name, location, value }) => ({
      name,
      location: WIRE_LOCATIONS[location],
      value: location === "header" && value !== null ? HIDDEN_VALUE : value,
    })),
    automaticParameters: automatic.map(({ name, location, known }) => ({
      name,
      location: WIRE_LOCATIONS[location],
      knownValue: known,
    })),
  };
}

/** Names of overrides that no parameter has. */
export function unknownOverrides(
  parameters: readonly Parameter[],
  definition: BaseToolDefinition,
  overrides: JsonObject,
): string[] {
  const known = new Set(parameters.map(({ name }) => name));
  for (const name of definition.requirements?.requiredParameterOverrides ?? []) known.add(name);
  return Object.keys(overrides).filter((name) => !known.has(name));
}
