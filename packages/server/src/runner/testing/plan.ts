/** A call plan for live calls in tests: the engine's, with separate ids, the service's settings and all messages. */

import type { CallPlan } from "../../plan/plan.ts";
import { testPlan as enginePlan } from "../../call/testing/plan.ts";
import { DEFAULT_TURN_TAKING } from "../../config/turn-taking.ts";

export type PlanChanges = Partial<Omit<CallPlan, "medium" | "turnTaking" | "stage">> & {
  readonly medium?: Partial<CallPlan["medium"]>;
  readonly turnTaking?: Partial<CallPlan["turnTaking"]>;
  readonly stage?: Partial<CallPlan["stage"]>;
};

let count = 0;

export function testPlan({ medium, turnTaking, stage, ...rest }: PlanChanges = {}): CallPlan {
  count += 1;
  const plan = enginePlan({
    callId: `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`,
    accountId: "00000000-0000-4000-9000-000000000001",
    firstSpeaker: {
      kind: "agent",
      delayMs: 0,
      text: "Welcome, how can I help you today?",
      prompt: null,
      uninterruptible: false,
    },
    dataMessages: { callEvent: true, userStartedSpeaking: true, userStoppedSpeaking: true },
    turnTaking: { ...DEFAULT_TURN_TAKING, ...turnTaking },
    stage: { stageId: "00000000-0000-4000-a000-000000000001", systemPrompt: "You are a test.", ...stage },
    ...rest,
  });
  return { ...plan, medium: { ...plan.medium, ...medium } };
}
