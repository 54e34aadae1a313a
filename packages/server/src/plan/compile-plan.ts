/** Compiles the settings of a call into its plan: durations in ms, flags with their defaults, the texts in effect. */

import {
  DATA_MESSAGE_FLAGS,
  DEFAULT_CLIENT_MESSAGES,
  DEFAULT_DATA_CONNECTION_RATE_HZ,
  mediumKindOf,
  parseDurationMs,
  traitsOf,
  VAD_DEFAULTS,
  ROLE_OF_MESSAGE,
} from "@parley/schema";
import type {
  CallMedium,
  DataMessageFlag,
  EnabledDataMessages,
  InitialMessage as WireMessage,
  MediumKind,
  VadSettings,
} from "@parley/schema";
import type { ResolvedNames } from "./availability.ts";
import { stageSettingsOf } from "./call-settings.ts";
import type { CallSettings, StageSettings } from "./call-settings.ts";
import type { CompiledTool } from "./compile-tools.ts";
import type { DataConnectionPlan } from "./data-connection-plan.ts";
import { mediumPlan } from "./medium-plan.ts";
import type {
  CallPlan,
  DataMessageFlags,
  FirstSpeakerPlan,
  InactivityMessagePlan,
  InitialMessage,
  StagePlan,
  StageWarning,
  VadPlan,
} from "./plan.ts";
import type { RecognitionPlan } from "./recognition-plan.ts";
import type { TurnTakingSettings } from "./turn-taking.ts";

export interface CompileInput {
  readonly callId: string;
  readonly accountId: string;
  readonly agentId: string | null;
  readonly stageId: string;
  readonly settings: CallSettings;
  /** What the voice and model of `settings` stand for in this deployment. */
  readonly names: ResolvedNames;
  readonly tools: readonly CompiledTool[];
  readonly initialMessages: readonly WireMessage[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly templateContext: Readonly<Record<string, unknown>>;
  readonly callToken: string;
  /** Unset: the default recogniser, without hints. */
  readonly recognition?: Pick<RecognitionPlan, "recogniser" | "hints">;
  readonly warnings: readonly string[];
  /** Of the first stage. */
  readonly stageWarnings: readonly StageWarning[];
  readonly greetingPrompt: boolean;
  readonly turnTaking: TurnTakingSettings;
  /** See `CallPlan`. */
  readonly traceParent?: string | undefined;
  /** The call is one that a carrier has announced, and the service writes the carrier's instructions. */
  readonly isIncoming?: boolean;
}

/**
 * The same input gives the same plan, which shares nothing with it and is frozen all the way down.
 * @throws RangeError for a medium that has no plan; such calls are refused before.
 */
export function compileCallPlan(input: CompileInput): CallPlan {
  const { settings } = input;
  const plan: CallPlan = {
    callId: input.callId,
    accountId: input.accountId,
    agentId: input.agentId,
    medium: mediumPlan(settings.medium, input.isIncoming ?? false),
    joinTimeoutMs: wholeMs(settings.joinTimeout),
    maxDurationMs: wholeMs(settings.maxDuration),
    dataMessages: dataMessageFlags(settings.medium),
    firstSpeaker: firstSpeakerPlan(settings),
    greetingPrompt: input.greetingPrompt,
    initialOutputMedium: settings.initialOutputMedium === "MESSAGE_MEDIUM_TEXT" ? "text" : "voice",
    initialMessages: input.initialMessages.map(initialMessage),
    initialState: settings.initialState,
    metadata: input.metadata,
    recordingEnabled: settings.recordingEnabled,
    ...(settings.clientMessages === DEFAULT_CLIENT_MESSAGES
      ? {}
      : { clientMessages: settings.clientMessages }),
    templateContext: input.templateContext,
    callToken: input.callToken,
    warnings: input.warnings,
    ...recognitionOf(input.recognition),
    dataConnection: dataConnectionPlan(settings),
    turnTaking: turnTakingOf(input),
    ...(input.traceParent === undefined ? {} : { traceParent: input.traceParent }),
    stage: stagePlan(input),
  };
  return deepFreeze(structuredClone(plan));
}

function recognitionOf(
  recognition: CompileInput["recognition"],
): Pick<CallPlan, "recogniser" | "transcriptHints"> {
  const { recogniser = null, hints = [] } = recognition ?? {};
  return {
    ...(recogniser === null ? {} : { recogniser }),
    ...(hints.length === 0 ? {} : { transcriptHints: hints }),
  };
}

function stagePlan({ stageId, settings, names, tools, stageWarnings }: CompileInput): StagePlan {
  return compileStage({
    stageId,
    settings: stageSettingsOf(settings),
    vad: vadPlan(settings.vadSettings),
    names,
    tools: tools.map(({ plan }) => plan),
    listed: tools.map(({ listed }) => listed),
    warnings: stageWarnings,
  });
}

export interface StageInput {
  readonly stageId: string;
  readonly settings: StageSettings;
  readonly vad: VadPlan;
  readonly names: ResolvedNames;
  readonly tools: StagePlan["tools"];
  readonly listed: StagePlan["document"]["tools"];
  readonly warnings: readonly StageWarning[];
}

export function compileStage(input: StageInput): StagePlan {
  const { stageId, settings, vad, names, tools, listed, warnings } = input;
  return {
    stageId,
    systemPrompt: settings.systemPrompt ?? "",
    temperature: settings.temperature,
    model: names.model,
    ...(names.takesAudio === true ? { takesAudio: true } : {}),
    voice: names.voice,
    languageHint: settings.languageHint,
    timeExceededMessage: textOrNull(settings.timeExceededMessage),
    inactivityMessages: settings.inactivityMessages.map(inactivityMessage),
    vad,
    tools,
    ...(warnings.length === 0 ? {} : { warnings }),
    document: { settings, tools: listed },
  };
}

/** Ten seconds of silence have already shown that the caller is gone; one who returns does so by then. */
const WEB_RTC_GRACE_MS = 1_000;

function turnTakingOf({ settings, turnTaking }: CompileInput): TurnTakingSettings {
  if (mediumKindOf(settings.medium) !== "webRtc") return turnTaking;
  return { ...turnTaking, reconnectGraceMs: Math.min(turnTaking.reconnectGraceMs, WEB_RTC_GRACE_MS) };
}

/** What a client gets unless it asks for something else (D105). */
const CLIENT_MESSAGES: readonly DataMessageFlag[] = [
  "pong",
  "state",
  "transcript",
  "clientToolInvocation",
  "callStarted",
];

/** The same by medium. Carriers have no channel for messages to a client. */
function messagesOf(kind: MediumKind): readonly DataMessageFlag[] {
  if (!traitsOf(kind).hasDataChannel) return [];
  return kind === "serverWebSocket" ? [...CLIENT_MESSAGES, "playbackClearBuffer"] : CLIENT_MESSAGES;
}

/** A data connection runs the tools that are made for it. */
const DATA_CONNECTION_MESSAGES: readonly DataMessageFlag[] = [
  "pong",
  "state",
  "transcript",
  "dataConnectionToolInvocation",
  "callStarted",
];

export function dataMessageFlags(medium: CallMedium): DataMessageFlags {
  const given = medium.serverWebSocket?.dataMessages ?? medium.webRtc?.dataMessages ?? {};
  return flagsOf(given, messagesOf(mediumKindOf(medium)));
}

/** A flag that is given decides, both ways. */
function flagsOf(given: EnabledDataMessages, defaults: readonly DataMessageFlag[]): DataMessageFlags {
  const flags = DATA_MESSAGE_FLAGS.map((flag) => [flag, given[flag] ?? defaults.includes(flag)] as const);
  return Object.fromEntries(flags) as DataMessageFlags;
}

function dataConnectionPlan({
  dataConnectionConfig: config,
  sharedSecrets = [],
}: CallSettings): DataConnectionPlan | null {
  if (config === null) return null;
  const { audioConfig } = config;
  return {
    websocketUrl: config.websocketUrl,
    headers: config.headers ?? {},
    sharedSecrets,
    audio:
      audioConfig === undefined
        ? null
        : {
            sampleRateHz: audioConfig.sampleRate ?? DEFAULT_DATA_CONNECTION_RATE_HZ,
            channels: audioConfig.channelMode === "CHANNEL_MODE_MIXED" ? "mixed" : "separated",
          },
    dataMessages: flagsOf(config.dataMessages ?? {}, DATA_CONNECTION_MESSAGES),
  };
}

/** How long the agent waits for a user who should speak first (D131). */
const DEFAULT_FALLBACK_DELAY_MS = 5_000;

function firstSpeakerPlan({ firstSpeakerSettings }: CallSettings): FirstSpeakerPlan {
  const { user, agent } = firstSpeakerSettings;
  if (user !== undefined) {
    const { fallback } = user;
    return {
      kind: "user",
      fallback:
        fallback === undefined
          ? null
          : {
              delayMs: fallback.delay === undefined ? DEFAULT_FALLBACK_DELAY_MS : wholeMs(fallback.delay),
              ...opening(fallback),
            },
    };
  }
  return {
    kind: "agent",
    delayMs: agent?.delay === undefined ? 0 : wholeMs(agent.delay),
    ...opening(agent ?? {}),
    uninterruptible: agent?.uninterruptible ?? false,
  };
}

/** A text is said as it is, and a prompt beside it is ignored. */
function opening(given: { readonly text?: string | undefined; readonly prompt?: string | undefined }): {
  readonly text: string | null;
  readonly prompt: string | null;
} {
  const text = textOrNull(given.text);
  return { text, prompt: text === null ? textOrNull(given.prompt) : null };
}

function textOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === "" ? null : text;
}

function inactivityMessage({
  duration,
  message,
  endBehavior,
}: CallSettings["inactivityMessages"][number]): InactivityMessagePlan {
  const ends = { END_BEHAVIOR_HANG_UP_SOFT: "soft", END_BEHAVIOR_HANG_UP_STRICT: "strict" } as const;
  return {
    afterMs: wholeMs(duration),
    text: message,
    endBehavior: endBehavior === undefined ? "none" : ends[endBehavior],
  };
}

/** Length of one window of the voice activity detector. */
const VAD_WINDOW_MS = 32;

export function vadPlan(given: VadSettings | null): VadPlan {
  const settings = { ...VAD_DEFAULTS, ...definedOf(given ?? {}) };
  const minimumTurnDurationMs = wholeMs(settings.minimumTurnDuration);
  return {
    frameActivationThreshold: settings.frameActivationThreshold,
    // Rounded to the microsecond first, so that a multiple of 32 ms never counts as a little more.
    turnEndpointDelayMs:
      Math.ceil(Math.round(parseDurationMs(settings.turnEndpointDelay) * 1000) / (VAD_WINDOW_MS * 1000)) *
      VAD_WINDOW_MS,
    minimumTurnDurationMs,
    minimumInterruptionDurationMs: Math.max(
      minimumTurnDurationMs,
      wholeMs(settings.minimumInterruptionDuration),
    ),
  };
}

function definedOf<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(defined) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

export function initialMessage(message: WireMessage): InitialMessage {
  return {
    role: ROLE_OF_MESSAGE[message.role],
    text: message.text ?? "",
    medium: message.medium === "MESSAGE_MEDIUM_TEXT" ? "text" : "voice",
    invocationId: message.invocationId ?? null,
    toolName: message.toolName ?? null,
  };
}

function wholeMs(duration: string): number {
  return Math.round(parseDurationMs(duration));
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
