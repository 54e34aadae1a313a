/** When a phrase that was chosen on another page is typed. */

import type { AgentState } from "@parley/client";
import type { Feed } from "./feed.ts";

/**
 * After the agent's first words, where it opens the call. Each call begins as listening, also if the greeting follows at
 * once, and a phrase that is sent then is before the greeting in the conversation.
 */
export function isTimeToType(state: AgentState, agentOpens: boolean, { entries }: Feed): boolean {
  if (state !== "listening") return false;
  return !agentOpens || entries.some((entry) => entry.kind === "said" && entry.role === "agent");
}
