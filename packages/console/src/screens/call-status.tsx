/** The state of a call and how it ended: words and colours. Only failures have the colour of failure. */

import type { Call, EndReason } from "@parley/schema";
import { Badge, type Tone } from "../ui/display.tsx";

interface Words {
  readonly text: string;
  readonly tone: Tone;
}

export const END_REASONS: Readonly<Record<EndReason, Words>> = {
  unjoined: { text: "Nobody joined", tone: "warn" },
  hangup: { text: "Caller hung up", tone: "good" },
  agent_hangup: { text: "Agent hung up", tone: "good" },
  timeout: { text: "Time limit reached", tone: "warn" },
  connection_error: { text: "Connection lost", tone: "bad" },
  system_error: { text: "System error", tone: "bad" },
};

export function endOf(reason: EndReason): Words {
  return END_REASONS[reason];
}

export function statusOf({ joined, ended, endReason }: Pick<Call, "joined" | "ended" | "endReason">): Words {
  if (endReason !== null) return endOf(endReason);
  if (ended !== null) return { text: "Ended", tone: "plain" };
  return joined === null ? { text: "Waiting", tone: "warn" } : { text: "In progress", tone: "agent" };
}

export function StatusBadge({ call }: { readonly call: Parameters<typeof statusOf>[0] }) {
  const { text, tone } = statusOf(call);
  return <Badge tone={tone}>{text}</Badge>;
}
