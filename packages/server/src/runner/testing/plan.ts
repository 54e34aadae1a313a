/** A call plan for tests: the wire's defaults, told apart only where a test says so. */

import type { CallPlan } from "../../call/plan.ts";

export type PlanChanges = Partial<Omit<CallPlan, "medium" | "turnTaking" | "stage">> & {
  readonly medium?: Partial<CallPlan["medium"]>;
  readonly turnTaking?: Partial<CallPlan["turnTaking"]>;
  readonly stage?: Partial<CallPlan["stage"]>;
};

const DATA_MESSAGES: CallPlan["dataMessages"] = {
  pong: true,
  state: true,
  transcript: true,
  clientToolInvocation: true,
  dataConnectionToolInvocation: false,
  playbackClearBuffer: true,
  callStarted: true,
  debug: false,
  callEvent: true,
  toolUsed: false,
  invokingTool: false,
  userStartedSpeaking: true,
  userStoppedSpeaking: true,
};

const TURN_TAKING: CallPlan["turnTaking"] = {
  speculationDelayMs: 192,
  interruptionConfirmMs: 500,
  resumeAfterSilenceMs: 1_000,
  transcriptTimeoutMs: 6_000,
  replyTimeoutMs: 8_000,
  replyStallMs: 5_000,
  synthesisTimeoutMs: 4_000,
  engineRetryDelayMs: 500,
  engineFailureLimitMs: 15_000,
  reconnectGraceMs: 10_000,
  partingLimitMs: 30_000,
  maximumTurnMs: 60_000,
  maximumReplyChars: 5_000,
};

let count = 0;

export function testPlan(changes: PlanChanges = {}): CallPlan {
  count += 1;
  const { medium, turnTaking, stage, ...rest } = changes;
  return {
    callId: `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`,
    accountId: "00000000-0000-4000-9000-000000000001",
    agentId: null,
    joinTimeoutMs: 30_000,
    maxDurationMs: 3_600_000,
    dataMessages: DATA_MESSAGES,
    firstSpeaker: {
      kind: "agent",
      delayMs: 0,
      text: "Welcome, how can I help you today?",
      prompt: null,
      uninterruptible: false,
    },
    greetingPrompt: true,
    initialOutputMedium: "voice",
    initialMessages: [],
    initialState: {},
    metadata: {},
    recordingEnabled: false,
    ...rest,
    medium: {
      kind: "serverWebSocket",
      inputSampleRateHz: 16_000,
      outputSampleRateHz: 16_000,
      clientBufferSizeMs: 60,
      mediaIdleTimeoutMs: null,
      ...medium,
    },
    turnTaking: { ...TURN_TAKING, ...turnTaking },
    stage: {
      stageId: "00000000-0000-4000-a000-000000000001",
      systemPrompt: "You are a test.",
      temperature: 0,
      model: "default",
      voice: null,
      languageHint: null,
      timeExceededMessage: null,
      inactivityMessages: [],
      vad: {
        frameActivationThreshold: 0.1,
        turnEndpointDelayMs: 384,
        minimumTurnDurationMs: 0,
        minimumInterruptionDurationMs: 90,
      },
      ...stage,
    },
  };
}
