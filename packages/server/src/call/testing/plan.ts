/** A plan with everything in it, for tests. */

import { dataMessageFlags } from "../../plan/compile-plan.ts";
import type { CallPlan, StagePlan, VadPlan } from "../../plan/plan.ts";
import type { TurnTakingSettings } from "../../plan/turn-taking.ts";

export interface PlanChanges extends Partial<Omit<CallPlan, "stage" | "turnTaking" | "dataMessages">> {
  readonly stage?: Partial<Omit<StagePlan, "vad">> & { readonly vad?: Partial<VadPlan> };
  readonly turnTaking?: Partial<TurnTakingSettings>;
  readonly dataMessages?: Partial<CallPlan["dataMessages"]>;
}

const TURN_TAKING: TurnTakingSettings = {
  speculationDelayMs: 192,
  transcriptDelayMs: 32,
  interruptionConfirmMs: 500,
  resumeAfterSilenceMs: 1_000,
  transcriptTimeoutMs: 3_000,
  replyTimeoutMs: 5_000,
  replyStallMs: 4_000,
  synthesisTimeoutMs: 3_000,
  engineRetryDelayMs: 500,
  engineFailureLimitMs: 15_000,
  reconnectGraceMs: 10_000,
  partingLimitMs: 30_000,
  farewellLimitMs: 300_000,
  maximumTurnMs: 60_000,
  maximumReplyChars: 4_000,
  contextWindowTokens: 24_000,
  judgementWaitMs: 200,
  unfinishedExtraMs: 800,
  clearlyUnfinishedExtraMs: 2000,
  notUnderstoodExtraMs: 600,
  adaptiveEndpointMaxMs: 1000,
  interruptionGraceMs: 400,
  backchannelMaxMs: 1000,
  echoTailMs: 600,
};

const VAD: VadPlan = {
  frameActivationThreshold: 0.1,
  turnEndpointDelayMs: 384,
  minimumTurnDurationMs: 0,
  minimumInterruptionDurationMs: 90,
};

const STAGE: Omit<StagePlan, "vad"> = {
  stageId: "2b2a6a3e-6f0e-4a55-9a0e-0b1f7f4f3c01",
  systemPrompt: "You are a concierge.",
  temperature: 0,
  model: "default",
  voice: { kind: "deployment", name: null },
  languageHint: null,
  timeExceededMessage: null,
  inactivityMessages: [],
  tools: [],
  document: {
    settings: {
      systemPrompt: "You are a concierge.",
      timeExceededMessage: null,
      voice: null,
      languageHint: null,
      model: "default",
      temperature: 0,
      externalVoice: null,
      voiceOverrides: null,
      inactivityMessages: [],
      experimentalSettings: null,
      initialState: {},
    },
    tools: [],
  },
};

export function testPlan({ stage, turnTaking, dataMessages, ...rest }: PlanChanges = {}): CallPlan {
  const { vad, ...stageRest } = stage ?? {};
  return {
    callId: "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11",
    accountId: "7c1d2f88-3f4a-4a0e-8a55-1d2c3b4a5f66",
    agentId: null,
    medium: {
      kind: "serverWebSocket",
      inputSampleRateHz: 16_000,
      outputSampleRateHz: 16_000,
      clientBufferSizeMs: 60,
      mediaIdleTimeoutMs: null,
    },
    joinTimeoutMs: 30_000,
    maxDurationMs: 3_600_000,
    firstSpeaker: { kind: "user", fallback: null },
    greetingPrompt: true,
    initialOutputMedium: "voice",
    initialMessages: [],
    initialState: {},
    metadata: {},
    recordingEnabled: false,
    templateContext: {},
    callToken: "call-token",
    warnings: [],
    dataConnection: null,
    ...rest,
    dataMessages: {
      ...dataMessageFlags({ serverWebSocket: { inputSampleRate: 16_000 } }),
      ...dataMessages,
    },
    turnTaking: { ...TURN_TAKING, ...turnTaking },
    stage: { ...STAGE, ...stageRest, vad: { ...VAD, ...vad } },
  };
}
