/** The schemas as JSON Schema 2020-12, for the description of the interface. */

import { z } from "zod";
import { Agent, AgentBasic, AgentPatch, AgentWrite } from "./agent.ts";
import { ApiKey, ApiKeyCreate, ApiKeyCreated } from "./api-key.ts";
import { CallEvent } from "./call-event.ts";
import { CallMedium, DataConnectionConfig, DtmfHandling, EnabledDataMessages } from "./call-medium.ts";
import { StartAgentCallRequest, StartCallRequest, ToolOverrides } from "./call-requests.ts";
import { Callbacks, FirstSpeakerSettings, TimedMessage } from "./call-settings.ts";
import { CallTemplate } from "./call-template.ts";
import { Call, CallStage, CallTool } from "./call.ts";
import { ClientDataMessage, SendCallDataMessage, ServerDataMessage } from "./data-messages.ts";
import { FieldError, Problem } from "./errors.ts";
import { MARK_NAMES } from "./fields.ts";
import { InitialMessage, Message, Timespan } from "./message.ts";
import { ModelAlias } from "./model-alias.ts";
import { AgentPage, CallEventPage, CallPage, CallStagePage, MessagePage, ModelAliasPage } from "./routes.ts";
import { Tool, ToolHistory, ToolWrite } from "./tool-record.ts";
import { ToolHistoryPage, ToolPage } from "./tool-routes.ts";
import { BaseToolDefinition, SelectedTool } from "./tool.ts";
import { VadSettings } from "./vad.ts";
import { ExternalVoice, VoiceOverrides } from "./voice.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Schemas that the description names. Each instance is one component; what is not here is written in place. */
const COMPONENTS = {
  Agent,
  AgentBasic,
  AgentPage,
  AgentPatch,
  AgentWrite,
  ApiKey,
  ApiKeyCreate,
  ApiKeyCreated,
  BaseToolDefinition,
  Call,
  Callbacks,
  CallEvent,
  CallEventPage,
  CallMedium,
  CallPage,
  CallStage,
  CallStagePage,
  CallTemplate,
  CallTool,
  ClientDataMessage,
  DataConnectionConfig,
  DtmfHandling,
  EnabledDataMessages,
  ExternalVoice,
  FieldError,
  FirstSpeakerSettings,
  InitialMessage,
  Message,
  MessagePage,
  ModelAlias,
  ModelAliasPage,
  Problem,
  SelectedTool,
  SendCallDataMessage,
  ServerDataMessage,
  StartAgentCallRequest,
  StartCallRequest,
  TimedMessage,
  Timespan,
  Tool,
  ToolHistory,
  ToolHistoryPage,
  ToolOverrides,
  ToolPage,
  ToolWrite,
  VadSettings,
  VoiceOverrides,
} as const satisfies Readonly<Record<string, z.ZodType>>;

const DESCRIPTIONS: Partial<Record<keyof typeof COMPONENTS, string>> = {
  Agent: "An agent as it is answered. Secrets of its template are masked or left out.",
  AgentWrite: "The body that creates an agent. Without a name one is made from the id.",
  AgentPatch:
    "The body that changes an agent. `callTemplate` replaces the stored one as a whole, so write-only values must be " +
    "sent again; null clears it, and what is absent stays. A null name brings back the one made from the id.",
  BaseToolDefinition:
    "A tool: how the model sees it, what it is given, where it runs. It has exactly one of `http`, `client`, " +
    "`dataConnection` and `mcp`, or `staticResponse` alone; a `staticResponse` beside one of them is the immediate " +
    "result, and the real one is not awaited.",
  Call: "A call. Every field is present; null where there is no value.",
  Callbacks: "Addresses that are told of the call's progress.",
  CallEvent: "Something worth telling about a call, from a join to a failing voice.",
  CallMedium: "What a call runs over. At most one key; none means WebRTC.",
  CallStage: "A part of a call with settings of its own.",
  CallTemplate: "Defaults for the calls of an agent. What is unset takes its default when a call is created.",
  CallTool: "A tool as it was available in a stage. Of authentication only names are shown.",
  ClientDataMessage: "Every message that a client may send beside the audio.",
  DataConnectionConfig:
    "A websocket that the service dials for data messages and, when asked, the call's audio.",
  DtmfHandling: "What becomes of keys that the caller presses.",
  EnabledDataMessages: "Which data messages are sent. A flag that is absent keeps the medium's default.",
  ExternalVoice: "A voice that the service does not know by name. Exactly one provider.",
  FirstSpeakerSettings: "Who opens the call. Exactly one of `user` and `agent`.",
  InitialMessage: "A message of the history that a call begins with.",
  Message: "What was said. Fields without a value are absent.",
  Problem:
    "The body of every failure (RFC 9457). Branch on `code`; `errors` comes with `validation_failed` only.",
  SelectedTool: "A tool of a call: an existing one by id or name, or one defined in place.",
  SendCallDataMessage: "The data messages that may also be sent by REST.",
  ServerDataMessage: "Every message that the service sends beside the audio.",
  StartAgentCallRequest: "A call of an agent. What is given here wins over the agent's template.",
  StartCallRequest: "A call without an agent. Texts are taken as they are.",
  TimedMessage: "Said when the user has been silent for `duration` since the message before.",
  Tool:
    "A tool as it is answered. Secret header values of its definition are masked. Those of everybody run inside the " +
    "service, so their definitions name no place.",
  ToolHistory: "A call that had a tool.",
  ToolWrite:
    "The body that creates a tool, or replaces one as a whole. A masked header value stands for the stored one.",
  VadSettings: "When speech counts, and when a turn is over.",
  VoiceOverrides: "Changes to the voice that `voice` names; the provider must be that voice's own.",
};

/** Prints schemas as JSON Schema 2020-12 that refers to the components. */
export class SchemaPrinter {
  readonly #names = new Map<z.core.$ZodType, string>(
    Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]),
  );
  readonly #printed: Readonly<Record<string, JsonObject>>;

  constructor() {
    const registry = z.registry<{ id: string }>();
    for (const [name, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id: name });
    const { schemas } = z.toJSONSchema(registry, {
      io: "input",
      uri: (id) => `#/components/schemas/${id}`,
      override: tidy,
    });
    this.#printed = Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => {
        const { $schema: _, $id: __, ...rest } = schema as unknown as JsonObject;
        const description = DESCRIPTIONS[name as keyof typeof COMPONENTS];
        return [name, description === undefined ? rest : { description, ...rest }];
      }),
    );
  }

  /**
   * All components. Answers may gain fields, so what an answer can hold says nothing against additional properties;
   * what only requests hold does.
   */
  components(): JsonObject {
    const answered = new Set<string>();
    const waiting = ANSWERED.map((schema) => this.#names.get(schema) ?? "");
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (answered.has(name)) continue;
      answered.add(name);
      waiting.push(...referencesIn(this.#printed[name] ?? null));
    }
    return Object.fromEntries(
      Object.entries(this.#printed).map(([name, schema]) => [
        name,
        answered.has(name) ? opened(schema) : schema,
      ]),
    );
  }

  /** A reference where the schema is a component. */
  print(schema: z.ZodType): JsonObject {
    const name = this.#names.get(schema);
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
    if (schema instanceof z.ZodArray)
      return { type: "array", items: this.print(schema.element as z.ZodType) };
    return this.printInPlace(schema);
  }

  printInPlace(schema: z.ZodType): JsonObject {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", override: tidy });
    return rest as unknown as JsonObject;
  }
}

/** Components that answers and messages of the service begin with. */
const ANSWERED: readonly z.ZodType[] = [
  AgentPage,
  ApiKey,
  ApiKeyCreated,
  CallEventPage,
  CallPage,
  CallStagePage,
  CallTool,
  MessagePage,
  ModelAliasPage,
  Problem,
  ServerDataMessage,
  Tool,
  ToolHistoryPage,
  ToolPage,
];

const COMPONENT_REFERENCE = /^#\/components\/schemas\/(.+)$/;

function referencesIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const name = key === "$ref" && typeof item === "string" ? COMPONENT_REFERENCE.exec(item)?.[1] : undefined;
    return name === undefined ? referencesIn(item) : [name];
  });
}

/** A copy that does not forbid additional properties. */
function opened<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map(opened) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, item]) => key !== "additionalProperties" || item !== false,
  );
  return Object.fromEntries(entries.map(([key, item]) => [key, opened(item)])) as T;
}

interface Printed {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** Takes our own marks out, and says of template strings that they are some. */
function tidy({ jsonSchema }: Printed): void {
  if (jsonSchema["template"] === true) {
    jsonSchema.description ??= "In an agent, texts here are template strings, filled at call creation.";
  }
  for (const mark of MARK_NAMES) delete jsonSchema[mark];
}
