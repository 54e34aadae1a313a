/** Codec for stored plans: a later process, perhaps of another version, reads a plan that it can trust, or nothing. */

import {
  BUILT_IN_TOOL_NAMES,
  CallStage,
  CallTool,
  CARRIER_KINDS,
  CLIENT_MESSAGE_LEVELS,
  DATA_MESSAGE_FLAGS,
  ExternalVoice,
  VOICE_KINDS,
} from "@parley/schema";
import type { StageSettings } from "./call-settings.ts";
import type { DataConnectionAudio, DataConnectionPlan } from "./data-connection-plan.ts";
import type {
  CallPlan,
  DataMessageFlags,
  DigitsPlan,
  FirstSpeakerPlan,
  MediumPlan,
  StagePlan,
  StageWarning,
} from "./plan.ts";
import {
  amount,
  anything,
  flag,
  isObject,
  list,
  map,
  members,
  nullable,
  number,
  object,
  oneOf,
  optional,
  text,
  UnreadablePlan,
  wire,
  word,
} from "./plan-reading.ts";
import type { Read } from "./plan-reading.ts";
import {
  CONSULTATION_TOOLS,
  type ParameterLocation,
  type ToolImplementation,
  type ToolPlan,
} from "./tool-plan.ts";
import { TURN_TAKING } from "./turn-taking.ts";
import type { DeploymentVoice, PlannedExternalVoice, VoicePlan } from "./voice-plan.ts";

export { UnreadablePlan } from "./plan-reading.ts";

/** Raised whenever an older plan can no longer be read as a current one. */
export const PLAN_VERSION = 2;

/** The plan as JSON with its version. */
export function storedPlan(plan: CallPlan): Readonly<Record<string, unknown>> {
  return { planVersion: PLAN_VERSION, ...plan };
}

/** @throws UnreadablePlan when the version is another one, or any part has another shape. */
export function parsePlan(json: unknown): CallPlan {
  const version = isObject(json) ? json["planVersion"] : undefined;
  if (version !== PLAN_VERSION) {
    throw new UnreadablePlan(`a plan of version ${JSON.stringify(version)}, not ${PLAN_VERSION}`);
  }
  return readPlan(json, "plan");
}

const readDigits: Read<DigitsPlan> = oneOf<DigitsPlan>("kind", {
  ignored: object({ kind: word("ignored") }),
  text: object({ kind: word("text"), text, urgency: word("immediate", "soon", "later") }),
});

const readMedium: Read<MediumPlan> = object<MediumPlan>({
  kind: word("serverWebSocket", "webRtc", ...CARRIER_KINDS),
  inputSampleRateHz: amount,
  outputSampleRateHz: amount,
  clientBufferSizeMs: amount,
  mediaIdleTimeoutMs: nullable(amount),
  digits: optional(readDigits),
  detectsMessageEnd: optional(flag),
  returns: optional(flag),
});

type AgentFirst = Extract<FirstSpeakerPlan, { kind: "agent" }>;
type UserFirst = Extract<FirstSpeakerPlan, { kind: "user" }>;

const readAgentFirst: Read<AgentFirst> = object<AgentFirst>({
  kind: word("agent"),
  delayMs: amount,
  text: nullable(text),
  prompt: nullable(text),
  uninterruptible: flag,
});

const readUserFirst: Read<UserFirst> = object<UserFirst>({
  kind: word("user"),
  fallback: nullable(object({ delayMs: amount, text: nullable(text), prompt: nullable(text) })),
});

const readFirstSpeaker: Read<FirstSpeakerPlan> = (value, path) =>
  isObject(value) && value["kind"] === "user" ? readUserFirst(value, path) : readAgentFirst(value, path);

const location: Read<ParameterLocation> = word("query", "path", "header", "body");

type Implementation<K extends ToolImplementation["kind"]> = Extract<ToolImplementation, { readonly kind: K }>;

const readImplementation: Read<ToolImplementation> = oneOf<ToolImplementation>("kind", {
  http: object<Implementation<"http">>({
    kind: word("http"),
    method: text,
    urlPattern: text,
    credentials: list(object({ place: word("query", "header"), name: text, value: text })),
    callToken: nullable(text),
  }),
  mcp: object<Implementation<"mcp">>({
    kind: word("mcp"),
    serverUrl: text,
    headers: map(text),
    toolName: text,
  }),
  client: object<Implementation<"client">>({ kind: word("client") }),
  dataConnection: object<Implementation<"dataConnection">>({ kind: word("dataConnection") }),
  static: object<Implementation<"static">>({ kind: word("static") }),
  builtIn: object<Implementation<"builtIn">>({
    kind: word("builtIn"),
    builtIn: word(...BUILT_IN_TOOL_NAMES, ...CONSULTATION_TOOLS),
  }),
});

const readTool: Read<ToolPlan> = object<ToolPlan>({
  name: text,
  callToolId: text,
  toolId: nullable(text),
  description: text,
  parameters: map(anything),
  dynamic: list(object({ name: text, location })),
  fixed: list(object({ name: text, location, value: anything })),
  automatic: list(
    object({
      name: text,
      location,
      known: word(
        "callId",
        "conversationHistory",
        "outputSampleRate",
        "callState",
        "callStageId",
        "threadId",
        "threadStates",
        "callMetadata",
      ),
    }),
  ),
  implementation: readImplementation,
  timeoutMs: amount,
  precomputable: flag,
  defaultReaction: word("speaks", "listens", "speaks-once"),
  staticResponse: nullable(text),
});

const STAGE_SETTINGS = CallStage.pick({
  systemPrompt: true,
  timeExceededMessage: true,
  voice: true,
  languageHint: true,
  model: true,
  temperature: true,
  externalVoice: true,
  voiceOverrides: true,
  inactivityMessages: true,
  experimentalSettings: true,
  initialState: true,
});

const readExternalVoice: Read<PlannedExternalVoice> = (value, path) => {
  const voice = object<PlannedExternalVoice>({
    kind: word("external"),
    provider: word(...VOICE_KINDS),
    settings: map(anything),
    key: word("account", "deployment", "none"),
    voiceId: nullable(text),
  })(value, path);
  wire<ExternalVoice>(ExternalVoice)({ [voice.provider]: voice.settings }, `${path}.settings`);
  return voice;
};

const readPlannedVoice: Read<VoicePlan> = oneOf<VoicePlan>("kind", {
  deployment: object<DeploymentVoice>({ kind: word("deployment"), name: nullable(text) }),
  external: readExternalVoice,
});

/** Earlier versions stored the name of a voice of the deployment alone. */
const readVoice: Read<VoicePlan> = (value, path) =>
  value === null || typeof value === "string"
    ? { kind: "deployment", name: value }
    : readPlannedVoice(value, path);

const readStage: Read<StagePlan> = object<StagePlan>({
  stageId: text,
  systemPrompt: text,
  temperature: number,
  model: text,
  takesAudio: optional(flag),
  voice: readVoice,
  languageHint: nullable(text),
  timeExceededMessage: nullable(text),
  inactivityMessages: list(object({ afterMs: amount, text, endBehavior: word("none", "soft", "strict") })),
  tools: list(readTool),
  warnings: optional(
    list(
      object<StageWarning>({
        type: word("voice.replaced", "voice.overrides_ignored", "model.replaced"),
        text,
      }),
    ),
  ),
  document: object({ settings: wire<StageSettings>(STAGE_SETTINGS), tools: list(wire<CallTool>(CallTool)) }),
  vad: object({
    frameActivationThreshold: number,
    turnEndpointDelayMs: amount,
    minimumTurnDurationMs: amount,
    minimumInterruptionDurationMs: amount,
  }),
});

const readFlags: Read<DataMessageFlags> = members(DATA_MESSAGE_FLAGS, flag);

const readDataConnection: Read<DataConnectionPlan> = object<DataConnectionPlan>({
  websocketUrl: text,
  headers: map(text),
  sharedSecrets: list(text),
  audio: nullable(
    object<DataConnectionAudio>({ sampleRateHz: amount, channels: word("mixed", "separated") }),
  ),
  dataMessages: readFlags,
});

/** @throws UnreadablePlan */
export function parseStagePlan(json: unknown): StagePlan {
  return readStage(json, "stage");
}

const readPlan: Read<CallPlan> = object<CallPlan>({
  callId: text,
  accountId: text,
  agentId: nullable(text),
  medium: readMedium,
  joinTimeoutMs: amount,
  maxDurationMs: amount,
  dataMessages: readFlags,
  firstSpeaker: readFirstSpeaker,
  greetingPrompt: flag,
  initialOutputMedium: word("voice", "text"),
  initialMessages: list(
    object({
      role: word("user", "agent", "tool_call", "tool_result"),
      text,
      medium: word("voice", "text"),
      invocationId: nullable(text),
      toolName: nullable(text),
    }),
  ),
  initialState: map(anything),
  metadata: map(text),
  recordingEnabled: flag,
  clientMessages: optional(word(...CLIENT_MESSAGE_LEVELS)),
  recogniser: optional(text),
  transcriptHints: optional(list(text)),
  templateContext: map(anything),
  callToken: text,
  warnings: list(text),
  dataConnection: nullable(readDataConnection),
  turnTaking: object(TURN_TAKING),
  traceParent: optional(text),
  stage: readStage,
});
