/** Whom the address of a SIP call means. Pure. */

import { compileLinearPattern, PatternError } from "@parley/schema";

export type SipCalledParty =
  | { readonly kind: "agent"; readonly agentId: string }
  /** A call that was created before and waits. */
  | { readonly kind: "call"; readonly callId: string }
  | { readonly kind: "nobody" };

export interface CallableAgents {
  readonly allowAllAgents: boolean;
  readonly allowedAgents: readonly {
    readonly agentId: string;
    readonly toUserPattern?: string | undefined;
  }[];
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const NAMED = new RegExp(`^(agent|call)_(${UUID})$`, "i");

/** The account of a host below `sipHost`; null: it is none. */
export function accountOfHost(host: string, sipHost: string): string | null {
  if (!host.endsWith(`.${sipHost}`)) return null;
  const label = host.slice(0, -sipHost.length - 1).toLowerCase();
  return new RegExp(`^${UUID}$`).test(label) ? label : null;
}

export function calledParty(user: string, agents: CallableAgents): SipCalledParty {
  const [, kind, id] = NAMED.exec(user) ?? [];
  if (kind !== undefined && id !== undefined) {
    const named = id.toLowerCase();
    if (kind.toLowerCase() === "call") return { kind: "call", callId: named };
    const isAllowed =
      agents.allowAllAgents || agents.allowedAgents.some(({ agentId }) => agentId.toLowerCase() === named);
    if (isAllowed) return { kind: "agent", agentId: named };
  }
  for (const { agentId, toUserPattern } of agents.allowedAgents) {
    if (toUserPattern !== undefined && matches(toUserPattern, user)) return { kind: "agent", agentId };
  }
  return { kind: "nobody" };
}

/** Stored patterns have passed the schema, perhaps under other limits. */
function matches(pattern: string, user: string): boolean {
  try {
    return compileLinearPattern(pattern).matches(user);
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}
