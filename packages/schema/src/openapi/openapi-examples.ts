/** Examples for the OpenAPI document, made from the schemas, so that none is missing or out of date. */

import { codePoints } from "../values/fields.ts";
import type { JsonObject, JsonValue } from "./openapi-schemas.ts";

/** Depth to which an example shows all fields; deeper objects have only required fields. */
const MAX_SHOWN_DEPTH = 3;
/** Recursive references end here. */
const MAX_DEPTH = 12;

const UUID = "3f2b6c1e-8a4d-4c57-9b1a-6d0e2f7a8c90";
const MOMENT = "2026-01-02T03:04:05.678Z";

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: UUID,
  "date-time": MOMENT,
  date: "2026-01-02",
  uri: "https://example.com/parley",
  duration: "30s",
};

/** Values for fields of these names; other values are made from the type. */
const BY_NAME: Readonly<Record<string, JsonValue>> = {
  name: "Concierge",
  systemPrompt: "You are the concierge of a small hotel. Answer in one or two sentences.",
  description: "Answers the telephone of a hotel.",
  languageHint: "en",
  languageLabel: "English",
  language: "en",
  primaryLanguage: "en",
  model: "default",
  voice: "default",
  timeExceededMessage: "Our time is up. Goodbye!",
  message: "Are you still there?",
  text: "Good evening. What can I do for you?",
  shortSummary: "A guest booked a table.",
  summary: "A guest booked a table for two at eight and asked for a quiet corner.",
  joinUrl: `wss://voice.example/calls/${UUID}/server_web_socket/9sX…`,
  joinTimeout: "30s",
  maxDuration: "3600s",
  duration: "30s",
  delay: "1s",
  timeout: "2.5s",
  billedDuration: "42s",
  callTimestamp: "4.1s",
  wallClockTimestamp: "4.2s",
  start: "0.4s",
  end: "2.1s",
  turnEndpointDelay: "0.384s",
  minimumTurnDuration: "0s",
  minimumInterruptionDuration: "0.09s",
  type: "turn.completed",
  detail: "callTemplate.temperature must be at most 1",
  field: "callTemplate.temperature",
  clientVersion: "caller/1.0",
  prefix: "Ab12Cd34",
  secret: "Ab12Cd34.0123456789abcdefghijklmnopqrstuv",
  to: "+14155550123",
  from: "+14155550100",
  timeZone: "Europe/Zurich",
  websocketUrl: "wss://data.example/calls",
  baseUrlPattern: "https://tools.example/doors",
  next: "https://voice.example/api/calls?cursor=…",
  total: 1,
};

const CALL_TEMPLATE = {
  systemPrompt: "You are the concierge of a small hotel. The guest is called {{guest}}.",
  medium: { serverWebSocket: { inputSampleRate: 16_000 } },
  firstSpeakerSettings: { agent: { text: "Good evening. What can I do for you?" } },
  recordingEnabled: true,
} as const;

/** Values for components whose fields depend on each other in ways that the schema does not express. */
const BY_COMPONENT: Readonly<Record<string, JsonValue>> = {
  BaseToolDefinition: {
    modelToolName: "openDoor",
    description: "Opens the door of the guest's room.",
    dynamicParameters: [
      { name: "room", location: "PARAMETER_LOCATION_BODY", schema: { type: "string" }, required: true },
    ],
    timeout: "2.5s",
    http: { baseUrlPattern: "https://tools.example/doors", httpMethod: "POST" },
  },
  AgentWrite: { name: "Concierge", callTemplate: CALL_TEMPLATE },
  AgentPatch: { callTemplate: CALL_TEMPLATE },
  CallTemplate: CALL_TEMPLATE,
  StartCallRequest: {
    systemPrompt: "You are the concierge of a small hotel. Answer in one or two sentences.",
    medium: { serverWebSocket: { inputSampleRate: 16_000 } },
    metadata: { room: "12" },
  },
  StartAgentCallRequest: { templateContext: { guest: "Ada" }, metadata: { room: "12" } },
  SelectedTool: { toolName: "openDoor" },
  InitialMessage: { role: "MESSAGE_ROLE_USER", text: "I have a question about my booking." },
  SendCallDataMessage: { type: "hang_up", message: "Thank you for calling. Goodbye!" },
};

/** Optional fields that contradict the example's other fields: a list of one row is counted exactly. */
const LEFT_OUT: ReadonlySet<string> = new Set(["totalRelation"]);

/** An example of a response has all fields, an example of a body the required fields. */
export type ExampleOf = "answer" | "body";

/** A value that the printed schema allows. `components` resolves its references. */
export function exampleOf(
  schema: JsonObject,
  components: Readonly<Record<string, JsonObject>>,
  of: ExampleOf,
): JsonValue {
  return make(schema, { name: "", depth: 0, components, of });
}

interface Place {
  readonly name: string;
  readonly depth: number;
  readonly components: Readonly<Record<string, JsonObject>>;
  readonly of: ExampleOf;
}

function make(schema: JsonObject, place: Place): JsonValue {
  const { components, depth, name } = place;
  if (depth > MAX_DEPTH) return {};
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const component = reference.replace("#/components/schemas/", "");
    const known = BY_COMPONENT[component];
    if (known !== undefined) return known;
    const target = components[component];
    return target === undefined ? {} : make(target, { ...place, depth: depth + 1 });
  }
  const given = givenIn(schema);
  if (given !== undefined) return given;
  const option = optionOf(schema);
  if (option !== null) return make(option, place);
  const known = BY_NAME[name];
  if (known !== undefined && fits(schema, known)) return known;
  switch (typeOf(schema)) {
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return listOf(schema, place);
    default:
      return objectOf(schema, place);
  }
}

function givenIn(schema: JsonObject): JsonValue | undefined {
  const { examples, const: fixed, enum: values } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (schema["default"] !== undefined) return schema["default"];
  if (fixed !== undefined) return fixed;
  // Enumerations start with "unspecified", which is no useful example.
  if (Array.isArray(values)) return values.find((value) => !isUnspecified(value)) ?? null;
  return undefined;
}

function isUnspecified(value: JsonValue): boolean {
  return typeof value === "string" && value.endsWith("_UNSPECIFIED");
}

function optionOf(schema: JsonObject): JsonObject | null {
  if (schema["properties"] !== undefined) return null;
  const options = schema["oneOf"] ?? schema["anyOf"] ?? schema["allOf"];
  if (!Array.isArray(options)) return null;
  const chosen = options.find((option) => asObject(option)["type"] !== "null");
  return chosen === undefined ? null : asObject(chosen);
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  const named = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return typeof named === "string" ? named : "object";
}

function fits(schema: JsonObject, value: JsonValue): boolean {
  const type = typeOf(schema);
  if (typeof value === "number") return type === "integer" || type === "number";
  if (typeof value !== "string" || type !== "string") return false;
  const { pattern, maxLength, format } = schema;
  if (typeof format === "string" && format !== "uri") return format === "duration";
  if (typeof maxLength === "number" && codePoints(value) > maxLength) return false;
  return typeof pattern !== "string" || new RegExp(pattern, "u").test(value);
}

function textOf({ format, pattern, maxLength, minLength }: JsonObject): string {
  const known = typeof format === "string" ? BY_FORMAT[format] : undefined;
  if (known !== undefined) return known;
  const expression = typeof pattern === "string" ? new RegExp(pattern, "u") : null;
  const least = "x".repeat(typeof minLength === "number" ? minLength : 0);
  const tries = [
    "text",
    "30s",
    "example",
    "10:00:00",
    "10:00",
    MOMENT,
    "2026-01-02",
    UUID,
    "+14155550123",
    least,
  ];
  const most = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY;
  return (
    tries.find(
      (text) => text.length >= least.length && text.length <= most && expression?.test(text) !== false,
    ) ?? least
  );
}

function numberOf({ minimum, exclusiveMinimum }: JsonObject): number {
  if (typeof minimum === "number") return Math.max(minimum, minimum <= -1_000_000 ? 1 : minimum);
  return typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : 1;
}

function listOf({ items, minItems }: JsonObject, place: Place): JsonValue[] {
  const mustHold = typeof minItems === "number" && minItems > 0;
  const isShown = place.of === "answer" && place.depth <= MAX_SHOWN_DEPTH;
  if (items === undefined || (!mustHold && !isShown)) return [];
  return [make(asObject(items), { ...place, depth: place.depth + 1 })];
}

function objectOf(schema: JsonObject, place: Place): JsonObject {
  const properties = Object.entries(asObject(schema["properties"] ?? {}));
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const isShown = place.of === "answer" && place.depth <= MAX_SHOWN_DEPTH;
  const atMost = schema["maxProperties"];
  const shown =
    typeof atMost === "number"
      ? properties.slice(0, Math.min(atMost, isShown || schema["minProperties"] !== undefined ? atMost : 0))
      : properties.filter(([name]) => required.has(name) || (isShown && !LEFT_OUT.has(name)));
  return Object.fromEntries(
    shown.map(([name, property]) => [
      name,
      make(asObject(property), { ...place, name, depth: place.depth + 1 }),
    ]),
  );
}

function asObject(value: JsonValue): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
