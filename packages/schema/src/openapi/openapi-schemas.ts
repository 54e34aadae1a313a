/** The schemas as JSON Schema 2020-12, for the OpenAPI document. */

import { z } from "zod";
import { Account } from "../accounts/account.ts";
import { Agent, AgentBasic, AgentPatch, AgentWrite } from "../agents/agent.ts";
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyWrite } from "../accounts/api-key.ts";
import { ApiKeyPage } from "../accounts/api-key-routes.ts";
import { DoNotCallPage, ScheduledCallBatchPage, ScheduledCallPage } from "../batches/batch-routes.ts";
import {
  BatchPatch,
  BatchWrite,
  ScheduledCall,
  ScheduledCallBatch,
  ScheduledCallWrite,
} from "../batches/batch.ts";
import { CallEvent } from "../calls/call-event.ts";
import { CallMedium, DataConnectionConfig, DtmfHandling, EnabledDataMessages } from "../media/call-medium.ts";
import { StartAgentCallRequest, StartCallRequest, ToolOverrides } from "../calls/call-requests.ts";
import { Cost, EngineUsage, EngineUse } from "../calls/engine-use.ts";
import { Callbacks, FirstSpeakerSettings, TimedMessage } from "../calls/call-settings.ts";
import { CallTemplate } from "../agents/call-template.ts";
import { Call, CallStage, CallTool } from "../calls/call.ts";
import { CorpusOpenQuestion } from "../corpora/corpus-queries.ts";
import { CorpusOpenQuestionPage } from "../corpora/corpus-query-routes.ts";
import { CorpusDocumentPage, CorpusPage, CorpusSourcePage } from "../corpora/corpus-routes.ts";
import {
  Corpus,
  CorpusDocument,
  CorpusPatch,
  CorpusSource,
  CorpusSourcePatch,
  CorpusSourceWrite,
  CorpusWrite,
  CrawlSpec,
} from "../corpora/corpus.ts";
import { ClientDataMessage, SendCallDataMessage, ServerDataMessage } from "../calls/data-messages.ts";
import { DeletedCallPage } from "../calls/deleted-call-routes.ts";
import { DeletedCall } from "../calls/deleted-call.ts";
import { DoNotCallEntry, DoNotCallWrite } from "../batches/do-not-call.ts";
import { FieldError, Problem } from "../values/errors.ts";
import { InitialMessage, Message, Timespan } from "../calls/message.ts";
import { ModelAlias } from "../names/model-alias.ts";
import type { ApiNames } from "../names/names.ts";
import { type Printed, tidy, tidyForVendor } from "./tidy-schema.ts";
import { AgentPage } from "../agents/agent-routes.ts";
import { CallEventPage, CallPage, MessagePage } from "../calls/call-routes.ts";
import { CallStagePage } from "../calls/stage-routes.ts";
import { ModelAliasPage } from "../routes/about-routes.ts";
import { CallThrottlePage } from "../accounts/throttle-routes.ts";
import { CallThrottle, CallThrottlePatch, CallThrottleWrite, ThrottleRule } from "../accounts/throttle.ts";
import { Tool, ToolHistory, ToolWrite } from "../tools/tool-record.ts";
import { ToolHistoryPage, ToolPage } from "../tools/tool-routes.ts";
import { BaseToolDefinition, SelectedTool } from "../tools/tool.ts";
import {
  AgentUsage,
  CallStatistics,
  CallUsage,
  ConcurrencyResponse,
  EngineUsageResponse,
  UsageResponse,
} from "../accounts/usage.ts";
import { VadSettings } from "../media/vad.ts";
import {
  AccountTtsKeys,
  SetTtsApiKeysRequest,
  Voice,
  VoicePatch,
  VoicePreviewRequest,
  VoiceWrite,
} from "../voices/voice-record.ts";
import { VoicePage } from "../voices/voice-routes.ts";
import { ExternalVoice, VoiceOverrides } from "../voices/voice.ts";
import { WebhookDeliveryPage, WebhookPage } from "../webhooks/webhook-routes.ts";
import { Webhook, WebhookDelivery, WebhookPatch, WebhookTest, WebhookWrite } from "../webhooks/webhook.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Schemas that become named components of the document. Others are written in place. */
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
  CorpusOpenQuestion,
  CorpusOpenQuestionPage,
  CorpusPage,
  CorpusPatch,
  CorpusSource,
  CorpusSourcePage,
  CorpusSourcePatch,
  CorpusSourceWrite,
  CorpusWrite,
  Cost,
  CrawlSpec,
  DataConnectionConfig,
  DeletedCall,
  DeletedCallPage,
  DoNotCallEntry,
  DoNotCallPage,
  DoNotCallWrite,
  DtmfHandling,
  EnabledDataMessages,
  EngineUsage,
  EngineUsageResponse,
  EngineUse,
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
  AccountTtsKeys: "The account's API keys of voice providers, by their first four characters.",
  Agent: "An agent. Secrets in its template are masked or left out.",
  AgentWrite: "The body that creates an agent. Without a name, the name is made from the id.",
  AgentPatch:
    "The body that changes an agent. Absent fields stay unchanged. `callTemplate` replaces the whole stored template, so " +
    "send write-only values again; null clears it. A null name restores the name made from the id.",
  AgentUsage: "The usage of an agent, on days with calls. A deleted agent has its last name.",
  BaseToolDefinition:
    "A tool: what the model sees, its parameters and where it runs. It has exactly one of `http`, `client`, " +
    "`dataConnection` and `mcp`, or `staticResponse` alone. A `staticResponse` beside one of them is returned " +
    "immediately, and the actual result is not awaited.",
  BatchPatch:
    "The body that changes a batch that has not ended. Null clears a field or restores its default.",
  BatchWrite: "The body that creates a batch. All of its calls are accepted, or none.",
  Call: "A call. Every field is present; null means no value.",
  Callbacks: "Addresses that receive a request when the call is joined, ended or billed.",
  CallEvent: "A notable event of a call, such as a join or a failed voice.",
  CallMedium: "How a call is connected. At most one key; none means WebRTC.",
  CallStage: "A part of a call with its own settings.",
  CallStatistics: "Figures of a group of calls.",
  CallTemplate: "Defaults for the calls of an agent. Unset fields get their defaults when a call is created.",
  CallTool: "A tool that was available in a stage. For authentication, only names are shown.",
  CallUsage: "Figures of calls, by the UTC day and hour in which they were created.",
  ClientDataMessage: "The messages that a client may send beside the audio.",
  ConcurrencyResponse: "The number of simultaneous calls, counted every 10 seconds.",
  Corpus: "Documents that agents can search. EMPTY without documents.",
  CorpusOpenQuestion: "A question that a corpus could not answer. It is kept for 30 days.",
  CorpusPatch: "The body that changes a corpus. Null clears a field.",
  CorpusSource:
    "The origin of documents in a corpus. It has exactly one of `crawl`, `upload` and `advanced`.",
  CorpusSourcePatch: "The body that changes a source. Its kind cannot change.",
  CorpusSourceWrite: "The body that adds a source, or replaces a source of the same kind.",
  CorpusWrite: "The body that creates a corpus, or replaces its name and description.",
  Cost: "What requests to engines cost, by the prices of the operator.",
  CrawlSpec: "Web pages. Only pages of the same host are read.",
  DataConnectionConfig:
    "A websocket that the service opens for data messages and, if requested, the call's audio.",
  DeletedCall: "What remains of a deleted call: its times and figures, never its content.",
  DoNotCallEntry: "A number that scheduled calls do not dial.",
  DoNotCallWrite: "The body that adds a number to the do-not-call list.",
  DtmfHandling: "How keys pressed by the caller are handled.",
  EngineUsage: "What calls have used of an engine.",
  EngineUsageResponse:
    "What the calls of a period have used of each engine, by the UTC day of their creation.",
  EngineUse: "What a call has used of an engine.",
  EnabledDataMessages: "Which data messages are sent. An absent flag has the medium's default.",
  ExternalVoice: "A voice that is not stored in the service. Exactly one provider.",
  FirstSpeakerSettings: "Who speaks first. Exactly one of `user` and `agent`.",
  InitialMessage: "A message of the history that a call starts with.",
  Message: "A message of a call. Fields without a value are absent.",
  Problem: "The body of every error (RFC 9457). Branch on `code`. Only `validation_failed` has `errors`.",
  ScheduledCall: "A call of a batch. SUCCESS means that it was created, not how it ended.",
  ScheduledCallBatch: "Calls that the service creates on schedule. The calls have their own list.",
  ScheduledCallWrite: "One call of a new batch. Unset fields come from the agent when the call is created.",
  SelectedTool: "A tool of a call: an existing one by id or name, or one defined in place.",
  SendCallDataMessage: "The data messages that may also be sent by REST.",
  ServerDataMessage: "The messages that the service sends beside the audio.",
  SetTtsApiKeysRequest:
    "API keys of voice providers. Null removes a key; absent keys stay unchanged. Encrypted at rest and never returned.",
  StartAgentCallRequest: "A call of an agent. Fields given here override the agent's template.",
  StartCallRequest: "A call without an agent. Texts are not templates.",
  TimedMessage: "What the agent says when the user was silent for `duration` after the previous message.",
  Tool:
    "A tool. Secret header values in its definition are masked. Public tools run inside the service, so their " +
    "definitions have no address.",
  ToolHistory: "A call that had a tool.",
  ToolWrite: "The body that creates or replaces a tool. A masked header value means the stored value.",
  UsageResponse: "Billed minutes.",
  VadSettings: "When speech counts as a turn, and when a turn is over.",
  Voice:
    "A voice. Header values in its definition are masked. Public voices are spoken by the deployment's own engine.",
  VoiceWrite: "The body that creates or replaces a voice. A masked header value means the stored value.",
  VoicePatch:
    "The body that changes a voice. Absent fields stay unchanged; null clears a field. `definition` is replaced as a whole.",
  VoicePreviewRequest: "A voice to preview before it is stored.",
  VoiceOverrides: "Changes to the voice that `voice` names; the provider must be the provider of that voice.",
  Webhook: "An address that receives events of calls, with the secrets that sign its requests.",
  WebhookDelivery: "One event for one webhook, with its attempts.",
  WebhookPatch:
    "The body that changes a webhook. Null removes the agent; null secrets are replaced by a new secret.",
  WebhookTest: "The event to send a sample of.",
  WebhookWrite: "The body that creates or replaces a webhook. Without secrets, the service makes one.",
};

/** Prints schemas as JSON Schema 2020-12 that refers to the components. */
export class SchemaPrinter {
  readonly #names = new Map<z.core.$ZodType, string>(
    Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]),
  );
  /** The components by name, without additional properties, as in requests. */
  readonly printed: Readonly<Record<string, JsonObject>>;

  readonly #tidy: (printed: Printed) => void;

  constructor(names: ApiNames = "neutral") {
    this.#tidy = names === "vendor" ? tidyForVendor : tidy;
    const registry = z.registry<{ id: string }>();
    for (const [name, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id: name });
    const { schemas } = z.toJSONSchema(registry, {
      io: "input",
      uri: (id) => `#/components/schemas/${id}`,
      override: this.#tidy,
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
   * All components. Responses may gain fields, so components of responses allow additional properties; components
   * that only requests use forbid them.
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

  /** A reference if the schema is a component. */
  print(schema: z.ZodType): JsonObject {
    const name = this.#names.get(schema);
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
    if (schema instanceof z.ZodArray)
      return { type: "array", items: this.print(schema.element as z.ZodType) };
    return this.printInPlace(schema);
  }

  printInPlace(schema: z.ZodType): JsonObject {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", override: this.#tidy });
    return rest as unknown as JsonObject;
  }
}

/** Components at the top of responses and of messages of the service. */
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
  CorpusOpenQuestionPage,
  CorpusPage,
  CorpusSourcePage,
  DeletedCallPage,
  EngineUsageResponse,
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
