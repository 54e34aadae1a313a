/** The schemas as JSON Schema 2020-12, for the description of the interface. */

import { z } from "zod";
import { Account } from "./account.ts";
import { Agent, AgentBasic, AgentPatch, AgentWrite } from "./agent.ts";
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyWrite } from "./api-key.ts";
import { ApiKeyPage } from "./api-key-routes.ts";
import { DoNotCallPage, ScheduledCallBatchPage, ScheduledCallPage } from "./batch-routes.ts";
import { BatchPatch, BatchWrite, ScheduledCall, ScheduledCallBatch, ScheduledCallWrite } from "./batch.ts";
import { CallEvent } from "./call-event.ts";
import { CallMedium, DataConnectionConfig, DtmfHandling, EnabledDataMessages } from "./call-medium.ts";
import { StartAgentCallRequest, StartCallRequest, ToolOverrides } from "./call-requests.ts";
import { Callbacks, FirstSpeakerSettings, TimedMessage } from "./call-settings.ts";
import { CallTemplate } from "./call-template.ts";
import { Call, CallStage, CallTool } from "./call.ts";
import { CorpusDocumentPage, CorpusPage, CorpusSourcePage } from "./corpus-routes.ts";
import {
  Corpus,
  CorpusDocument,
  CorpusPatch,
  CorpusSource,
  CorpusSourcePatch,
  CorpusSourceWrite,
  CorpusWrite,
  CrawlSpec,
} from "./corpus.ts";
import { ClientDataMessage, SendCallDataMessage, ServerDataMessage } from "./data-messages.ts";
import { DeletedCallPage } from "./deleted-call-routes.ts";
import { DeletedCall } from "./deleted-call.ts";
import { DoNotCallEntry, DoNotCallWrite } from "./do-not-call.ts";
import { FieldError, Problem } from "./errors.ts";
import { MARK_NAMES } from "./fields.ts";
import { InitialMessage, Message, Timespan } from "./message.ts";
import { ModelAlias } from "./model-alias.ts";
import { AgentPage, CallEventPage, CallPage, CallStagePage, MessagePage, ModelAliasPage } from "./routes.ts";
import { CallThrottlePage } from "./throttle-routes.ts";
import { CallThrottle, CallThrottlePatch, CallThrottleWrite, ThrottleRule } from "./throttle.ts";
import { Tool, ToolHistory, ToolWrite } from "./tool-record.ts";
import { ToolHistoryPage, ToolPage } from "./tool-routes.ts";
import { BaseToolDefinition, SelectedTool } from "./tool.ts";
import { AgentUsage, CallStatistics, CallUsage, ConcurrencyResponse, UsageResponse } from "./usage.ts";
import { VadSettings } from "./vad.ts";
import {
  AccountTtsKeys,
  SetTtsApiKeysRequest,
  Voice,
  VoicePatch,
  VoicePreviewRequest,
  VoiceWrite,
} from "./voice-record.ts";
import { VoicePage } from "./voice-routes.ts";
import { ExternalVoice, VoiceOverrides } from "./voice.ts";
import { WebhookDeliveryPage, WebhookPage } from "./webhook-routes.ts";
import { Webhook, WebhookDelivery, WebhookPatch, WebhookTest, WebhookWrite } from "./webhook.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Schemas that the description names. Each instance is one component; what is not here is written in place. */
const COMPONENTS = {
  Account,
  AccountTtsKeys,
  Agent,
  AgentBasic,
  AgentPage,
  AgentPatch,
  AgentUsage,
  AgentWrite,
  ApiKey,
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyWrite,
  BaseToolDefinition,
  BatchPatch,
  BatchWrite,
  Call,
  Callbacks,
  CallEvent,
  CallEventPage,
  CallMedium,
  CallPage,
  CallStage,
  CallStagePage,
  CallStatistics,
  CallTemplate,
  CallThrottle,
  CallThrottlePage,
  CallThrottlePatch,
  CallThrottleWrite,
  CallTool,
  CallUsage,
  ClientDataMessage,
  ConcurrencyResponse,
  Corpus,
  CorpusDocument,
  CorpusDocumentPage,
  CorpusPage,
  CorpusPatch,
  CorpusSource,
  CorpusSourcePage,
  CorpusSourcePatch,
  CorpusSourceWrite,
  CorpusWrite,
  CrawlSpec,
  DataConnectionConfig,
  DeletedCall,
  DeletedCallPage,
  DoNotCallEntry,
  DoNotCallPage,
  DoNotCallWrite,
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
  ScheduledCall,
  ScheduledCallBatch,
  ScheduledCallBatchPage,
  ScheduledCallPage,
  ScheduledCallWrite,
  SelectedTool,
  SendCallDataMessage,
  ServerDataMessage,
  SetTtsApiKeysRequest,
  StartAgentCallRequest,
  StartCallRequest,
  ThrottleRule,
  TimedMessage,
  Timespan,
  Tool,
  ToolHistory,
  ToolHistoryPage,
  ToolOverrides,
  ToolPage,
  ToolWrite,
  UsageResponse,
  VadSettings,
  Voice,
  VoiceOverrides,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookPage,
  WebhookPatch,
  WebhookTest,
  WebhookWrite,
  VoicePage,
  VoicePatch,
  VoicePreviewRequest,
  VoiceWrite,
} as const satisfies Readonly<Record<string, z.ZodType>>;

const DESCRIPTIONS: Partial<Record<keyof typeof COMPONENTS, string>> = {
  AccountTtsKeys: "The keys of the account at voice providers, by their first four characters.",
  Agent: "An agent as it is answered. Secrets of its template are masked or left out.",
  AgentWrite: "The body that creates an agent. Without a name one is made from the id.",
  AgentPatch:
    "The body that changes an agent. `callTemplate` replaces the stored one as a whole, so write-only values must be " +
    "sent again; null clears it, and what is absent stays. A null name brings back the one made from the id.",
  AgentUsage: "How much an agent was used, on days with calls. A deleted agent has its last name.",
  BaseToolDefinition:
    "A tool: how the model sees it, what it is given, where it runs. It has exactly one of `http`, `client`, " +
    "`dataConnection` and `mcp`, or `staticResponse` alone; a `staticResponse` beside one of them is the immediate " +
    "result, and the real one is not awaited.",
  BatchPatch:
    "The body that changes a batch that has not ended. Null clears what may be unset, and brings back a default.",
  BatchWrite: "The body that creates a batch. All of its calls are taken, or none.",
  Call: "A call. Every field is present; null where there is no value.",
  Callbacks: "Addresses that are told of the call's progress.",
  CallEvent: "Something worth telling about a call, from a join to a failing voice.",
  CallMedium: "What a call runs over. At most one key; none means WebRTC.",
  CallStage: "A part of a call with settings of its own.",
  CallStatistics: "Figures of a number of calls.",
  CallTemplate: "Defaults for the calls of an agent. What is unset takes its default when a call is created.",
  CallTool: "A tool as it was available in a stage. Of authentication only names are shown.",
  CallUsage: "Figures of calls, by the UTC day and hour in which they were created.",
  ClientDataMessage: "Every message that a client may send beside the audio.",
  ConcurrencyResponse: "How many calls there were at a time, counted every 10 seconds.",
  Corpus: "Documents that agents can search. EMPTY while there is none.",
  CorpusPatch: "The body that changes a corpus. Null clears.",
  CorpusSource:
    "Where documents of a corpus come from. It has exactly one of `crawl`, `upload` and `advanced`.",
  CorpusSourcePatch: "The body that changes a source. Its kind stays.",
  CorpusSourceWrite: "The body that adds a source, or replaces one by one of the same kind.",
  CorpusWrite: "The body that creates a corpus, or replaces its name and description.",
  CrawlSpec: "Pages of the web. Only those of the same host are read.",
  DataConnectionConfig:
    "A websocket that the service dials for data messages and, when asked, the call's audio.",
  DeletedCall: "What remains of a deleted call: when it was, never what it was about.",
  DoNotCallEntry: "A number that scheduled calls do not dial.",
  DoNotCallWrite: "The body that puts a number on the do-not-call list.",
  DtmfHandling: "What becomes of keys that the caller presses.",
  EnabledDataMessages: "Which data messages are sent. A flag that is absent keeps the medium's default.",
  ExternalVoice: "A voice that the service does not know by name. Exactly one provider.",
  FirstSpeakerSettings: "Who opens the call. Exactly one of `user` and `agent`.",
  InitialMessage: "A message of the history that a call begins with.",
  Message: "What was said. Fields without a value are absent.",
  Problem:
    "The body of every failure (RFC 9457). Branch on `code`; `errors` comes with `validation_failed` only.",
  ScheduledCall: "A call of a batch. SUCCESS says that it was created, not how it went.",
  ScheduledCallBatch: "Calls that the service creates at their time. They are listed apart.",
  ScheduledCallWrite: "One call of a new batch. What is unset comes from the agent when the call is created.",
  SelectedTool: "A tool of a call: an existing one by id or name, or one defined in place.",
  SendCallDataMessage: "The data messages that may also be sent by REST.",
  ServerDataMessage: "Every message that the service sends beside the audio.",
  SetTtsApiKeysRequest:
    "Keys at voice providers. Null removes one, and what is absent stays. They are encrypted at rest and never answered.",
  StartAgentCallRequest: "A call of an agent. What is given here wins over the agent's template.",
  StartCallRequest: "A call without an agent. Texts are taken as they are.",
  TimedMessage: "Said when the user has been silent for `duration` since the message before.",
  Tool:
    "A tool as it is answered. Secret header values of its definition are masked. Those of everybody run inside the " +
    "service, so their definitions name no place.",
  ToolHistory: "A call that had a tool.",
  ToolWrite:
    "The body that creates a tool, or replaces one as a whole. A masked header value stands for the stored one.",
  UsageResponse: "Billed minutes.",
  VadSettings: "When speech counts, and when a turn is over.",
  Voice:
    "A voice as it is answered. Header values of its definition are masked. Those of everybody are spoken by the engine of " +
    "the deployment.",
  VoiceWrite:
    "The body that creates a voice, or replaces one as a whole. A masked header value stands for the stored one.",
  VoicePatch:
    "The body that changes a voice. What is absent stays, null clears, and `definition` is replaced as a whole.",
  VoicePreviewRequest: "A voice that is heard before it is stored.",
  VoiceOverrides: "Changes to the voice that `voice` names; the provider must be that voice's own.",
  Webhook: "An address that is told what happens to calls, with the secrets that sign what it is sent.",
  WebhookDelivery: "One event on its way to one webhook.",
  WebhookPatch: "The body that changes a webhook. Null takes the agent away, and the secrets for a new one.",
  WebhookTest: "What a sample is sent for.",
  WebhookWrite: "The body that creates a webhook, or replaces one as a whole. Without secrets one is made.",
};

/** Prints schemas as JSON Schema 2020-12 that refers to the components. */
export class SchemaPrinter {
  readonly #names = new Map<z.core.$ZodType, string>(
    Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]),
  );
  /** The components by name, closed as requests are. */
  readonly printed: Readonly<Record<string, JsonObject>>;

  constructor() {
    const registry = z.registry<{ id: string }>();
    for (const [name, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id: name });
    const { schemas } = z.toJSONSchema(registry, {
      io: "input",
      uri: (id) => `#/components/schemas/${id}`,
      override: tidy,
    });
    this.printed = Object.fromEntries(
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
      waiting.push(...referencesIn(this.printed[name] ?? null));
    }
    return Object.fromEntries(
      Object.entries(this.printed).map(([name, schema]) => [
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
  AccountTtsKeys,
  AgentPage,
  AgentUsage,
  ApiKey,
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyWrite,
  CallEventPage,
  CallPage,
  CallStagePage,
  CallTool,
  CallUsage,
  ConcurrencyResponse,
  CorpusDocumentPage,
  CorpusPage,
  CorpusSourcePage,
  DeletedCallPage,
  MessagePage,
  DoNotCallPage,
  ModelAliasPage,
  Problem,
  ScheduledCallBatchPage,
  ScheduledCallPage,
  ServerDataMessage,
  Tool,
  ToolHistoryPage,
  ToolPage,
  UsageResponse,
  WebhookDeliveryPage,
  WebhookPage,
  Voice,
  VoicePage,
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
