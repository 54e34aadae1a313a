/** Scenarios with tools. */

import type { ToolPlan } from "../../plan/tool-plan.ts";
import type { Generation } from "./fake-engines.ts";
import { joinedCall, type Scenario } from "./scenario.ts";

export function withTools(...tools: readonly ToolPlan[]): Scenario {
  return joinedCall({
    stage: { tools },
    dataMessages: { toolUsed: true, invokingTool: true, callEvent: true },
  });
}

/** The user has asked once, and the model answers with these generations. */
export function callWithQuestion(
  tools: readonly ToolPlan[],
  ...generations: readonly Generation[]
): Scenario {
  const call = withTools(...tools);
  call.llm.script = [...generations];
  return call.run(320).says("Any rooms left?", 960);
}

export const rolesOf = (call: Scenario): string[] =>
  call.messages.map(({ role, text }) => `${role}: ${text}`);

export const toolResults = (call: Scenario) => call.messages.filter(({ role }) => role === "tool_result");
