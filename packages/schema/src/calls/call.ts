/** Calls as the API returns them. Every field is always present, null without a value. */

import { z } from "zod";
import { AgentBasic } from "../agents/agent.ts";
import { CallMedium, DataConnectionConfig } from "../media/call-medium.ts";
import { ClientMessages } from "./client-messages.ts";
import { Cost, EngineUse } from "./engine-use.ts";
import {
  Callbacks,
  FirstSpeaker,
  FirstSpeakerSettings,
  InactivityMessages,
  JoinTimeout,
  LanguageHint,
  MaxDuration,
  Metadata,
  ModelName,
  Temperature,
} from "./call-settings.ts";
import { Duration } from "../values/duration.ts";
import { FreeObject, NullableValue, nullUnlessVendor, Timestamp, Uuid } from "../values/fields.ts";
import { MessageMedium } from "./message.ts";
import { AgentReaction, KnownParameter, ParameterLocation } from "../tools/tool.ts";
import { VadSettings } from "../media/vad.ts";
import { ExternalVoice, VoiceOverrides } from "../voices/voice.ts";

export const EndReason = z.enum([
  "unjoined",
  "hangup",
  "agent_hangup",
  "timeout",
  "connection_error",
  "system_error",
]);
export type EndReason = z.output<typeof EndReason>;

export const BillingStatus = z.enum([
  "BILLING_STATUS_UNSPECIFIED",
  "BILLING_STATUS_PENDING",
  "BILLING_STATUS_FREE_CONSOLE",
  "BILLING_STATUS_FREE_ZERO_EFFECTIVE_DURATION",
  "BILLING_STATUS_FREE_MINUTES",
  "BILLING_STATUS_FREE_SYSTEM_ERROR",
  "BILLING_STATUS_FREE_OTHER",
  "BILLING_STATUS_BILLED",
  "BILLING_STATUS_REFUNDED",
]);
export type BillingStatus = z.output<typeof BillingStatus>;

const SipTerminationReason = z.enum([
  "SIP_TERMINATION_NORMAL",
  "SIP_TERMINATION_INVALID_NUMBER",
  "SIP_TERMINATION_TIMEOUT",
  "SIP_TERMINATION_DESTINATION_UNAVAILABLE",
  "SIP_TERMINATION_BUSY",
  "SIP_TERMINATION_CANCELED",
  "SIP_TERMINATION_REJECTED",
  "SIP_TERMINATION_UNKNOWN",
]);
/** How a call over SIP ended at the other side: the value of the interface without its prefix. */
export type SipTermination =
  z.output<typeof SipTerminationReason> extends `SIP_TERMINATION_${infer Name}` ? Name : never;

const CallSipDetails = z.strictObject({
  billedDuration: Duration.nullable(),
  terminationReason: SipTerminationReason.nullable(),
});

const tokenCount = z.int().min(0).nullable();

export const Call = z.strictObject({
  callId: Uuid,
  agent: AgentBasic.nullable().describe("Null for a call without an agent."),
  agentId: Uuid.nullable(),
  created: Timestamp,
  joined: Timestamp.nullable(),
  ended: Timestamp.nullable(),
  endReason: EndReason.nullable().describe("Null until the call ends."),
  hasErrors: z
    .boolean()
    .describe(
      "Whether an engine failed, or an event has the severity `error`; the events say what happened.",
    ),
  firstWords: z
    .string()
    .nullable()
    .describe(
      "The beginning of what the caller said first, or of what the agent said if the caller said nothing. Null until " +
        "some seconds after the end, for calls without a transcript, and in most webhooks.",
    ),
  caller: z
    .string()
    .nullable()
    .describe(
      "Whom the call is with: the number that the service dials, or what the carrier's request or the metadata names " +
        "under a key such as `caller`, `from`, `phone`, `customer`, `user` or `email`. Null if nothing does.",
    ),
  medianReplyWait: Duration.nullable().describe(
    "The median time from the end of the caller's speech to the agent's reply; negative if the reply began before. " +
      "Null like `firstWords`, and for calls without a spoken reply.",
  ),
  engineUse: z
    .array(EngineUse)
    .nullable()
    .describe(
      "What the call has used of each engine. Null until it ends, for calls that asked no engine for anything, and for " +
        "those whose process was lost.",
    ),
  cost: Cost.nullable().describe(
    "The cost of `engineUse`. Null like it, and if the operator had no table of prices at the end of the call.",
  ),
  joinUrl: z
    .string()
    .nullable()
    .meta({ shownTo: "calls" })
    .describe(
      "Where the client connects, without an API key. Null when the service dials, and for API keys that need the " +
        "scope `calls` to see it.",
    ),
  clientVersion: z.string().nullable().describe("What the client sent as its version when it joined."),
  billedDuration: Duration.nullable(),
  billedSideInputTokens: tokenCount.describe("Of all generations of side threads. Null: the call had none."),
  billedSideOutputTokens: tokenCount.describe("Of all generations of side threads. Null: the call had none."),
  billingStatus: BillingStatus,
  firstSpeaker: FirstSpeaker,
  firstSpeakerSettings: FirstSpeakerSettings,
  initialOutputMedium: MessageMedium,
  joinTimeout: JoinTimeout,
  maxDuration: MaxDuration,
  medium: CallMedium,
  model: ModelName,
  systemPrompt: z.string().nullable().describe("With template variables filled in, like the other texts."),
  timeExceededMessage: z.string().nullable(),
  voice: z.string().nullable(),
  languageHint: LanguageHint.nullable(),
  temperature: Temperature,
  externalVoice: nullUnlessVendor(ExternalVoice),
  voiceOverrides: nullUnlessVendor(VoiceOverrides),
  inactivityMessages: InactivityMessages,
  vadSettings: VadSettings.nullable(),
  recordingEnabled: z.boolean(),
  clientMessages: ClientMessages,
  retentionPolicy: z.enum(["retain", "auto_delete"]).nullable(),
  transcriptOptional: z.boolean().meta({ deprecated: true }),
  shortSummary: z.string().nullable(),
  summary: z.string().nullable(),
  experimentalSettings: FreeObject.nullable(),
  metadata: Metadata,
  initialState: FreeObject,
  requestContext: FreeObject.nullable().describe("Fields of the carrier's or the SIP request."),
  dataConnectionConfig: nullUnlessVendor(DataConnectionConfig),
  callbacks: nullUnlessVendor(Callbacks),
  sipDetails: CallSipDetails.nullable(),
});
export type Call = z.output<typeof Call>;

/** A part of a call with its own settings. */
export const CallStage = z.strictObject({
  callId: Uuid,
  callStageId: Uuid,
  created: Timestamp,
  systemPrompt: z.string().nullable(),
  timeExceededMessage: z.string().nullable(),
  voice: z.string().nullable(),
  languageHint: LanguageHint.nullable(),
  model: ModelName,
  temperature: Temperature,
  externalVoice: nullUnlessVendor(ExternalVoice),
  voiceOverrides: nullUnlessVendor(VoiceOverrides),
  inactivityMessages: InactivityMessages,
  initialTokenCount: tokenCount.describe(
    "Input tokens of the stage's first request to the model, as the model server counted them. Null until it reports a count.",
  ),
  latestTokenCount: tokenCount.describe(
    "The same of the latest request. The service never estimates these counts.",
  ),
  errorCount: z.int().min(0).describe("Failed tool invocations."),
  experimentalSettings: FreeObject.nullable(),
  initialState: FreeObject,
});
export type CallStage = z.output<typeof CallStage>;

const named = { name: z.string(), location: ParameterLocation.optional() };

/** A tool that was available in a stage. For authentication, only names are shown. */
export const CallTool = z.strictObject({
  callToolId: Uuid,
  toolId: Uuid.nullable().describe("Null for a tool that the call defined itself."),
  name: z.string(),
  definition: z.strictObject({
    description: z.string().optional(),
    dynamicParameters: z
      .array(z.strictObject({ ...named, schema: FreeObject.optional(), required: z.boolean().optional() }))
      .optional(),
    staticParameters: z.array(z.strictObject({ ...named, value: NullableValue.optional() })).optional(),
    automaticParameters: z.array(z.strictObject({ ...named, knownValue: KnownParameter })).optional(),
    timeout: Duration.optional(),
    precomputable: z.boolean().optional(),
    http: z
      .strictObject({
        baseUrlPattern: z.string(),
        httpMethod: z.string().optional(),
        authHeaders: z.array(z.string()).optional(),
        authQueryParams: z.array(z.string()).optional(),
        callTokenScopes: z.array(z.string()).optional(),
      })
      .optional(),
    client: z.strictObject({}).optional(),
    dataConnection: z.strictObject({}).optional(),
    defaultReaction: AgentReaction.optional(),
    staticResponse: z.strictObject({ responseText: z.string().optional() }).optional(),
  }),
});
export type CallTool = z.output<typeof CallTool>;
