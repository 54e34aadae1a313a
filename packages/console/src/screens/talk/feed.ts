/**
 * What a call has told, in its order: what was said, which tools ran, what else happened. Pure; the texts of what was said
 * are the call's own, found by their ordinals.
 */

import type { CallEventRecord, Role, ServerMessage, TranscriptMessage } from "@parley/client";
import { type Latency, readLatency } from "./latency.ts";

export interface Said {
  readonly kind: "said";
  readonly ordinal: number;
  readonly role: Role;
  /** The user broke in, or a voice failed: the text ends where it was cut. */
  readonly interrupted: boolean;
  /** Of the agent's answer to something spoken. */
  readonly latency: Latency | null;
}

export interface ToolUse {
  readonly kind: "tool";
  readonly invocationId: string;
  readonly toolName: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly state: "running" | "done" | "failed";
  readonly result: string | null;
}

export interface Remark {
  readonly kind: "remark";
  readonly id: number;
  readonly tone: "plain" | "warn";
  readonly text: string;
}

/** What the agent has put on the page by the tool that the page lends it. */
export interface Note {
  readonly kind: "note";
  readonly id: number;
  readonly text: string;
}

export type Entry = Said | ToolUse | Remark | Note;

export interface Feed {
  readonly entries: readonly Entry[];
  /** One per answer to something spoken. */
  readonly latencies: readonly Latency[];
  /** Voice activity of the user. Once it has `stopped` its words are awaited; it may still turn out to be a cough. */
  readonly userSpeech: "none" | "going on" | "stopped";
  /** Of an answer whose first word was not told yet. */
  readonly pending: Latency | null;
  readonly endReason: string | null;
  readonly nextId: number;
}

export const EMPTY_FEED: Feed = {
  entries: [],
  latencies: [],
  userSpeech: "none",
  pending: null,
  endReason: null,
  nextId: 0,
};

/** An hour of quick talk with a tool in every other turn. The oldest go first. */
export const MAX_ENTRIES = 3_000;
/** More bars than anybody compares. */
export const MAX_LATENCIES = 500;

/** The feed after a message; the same feed where it tells nothing that is shown. */
export function withMessage(feed: Feed, message: ServerMessage): Feed {
  const { type } = message;
  if (type === "transcript") return withTranscript(feed, message);
  if (type === "user_started_speaking") return { ...feed, userSpeech: "going on" };
  if (type === "user_stopped_speaking") return { ...feed, userSpeech: "stopped" };
  if (type === "invoking_tool" || type === "client_tool_invocation") {
    return withTool(feed, { ...told(message), state: "running", result: null });
  }
  if (type === "tool_used") {
    const { result, errorDetails } = message;
    const state = errorDetails === undefined ? "done" : "failed";
    return withTool(feed, { ...told(message), state, result: errorDetails ?? result ?? null });
  }
  return type === "call_event" ? withEvent(feed, message.event) : feed;
}

function told({ invocationId, toolName, parameters }: Omit<ToolUse, "kind" | "state" | "result">) {
  return { kind: "tool", invocationId, toolName, parameters } as const;
}

export function withNote(feed: Feed, text: string): Feed {
  return withEntry({ ...feed, nextId: feed.nextId + 1 }, { kind: "note", id: feed.nextId, text });
}

function withEntry(feed: Feed, entry: Entry): Feed {
  return { ...feed, entries: [...feed.entries, entry].slice(-MAX_ENTRIES) };
}

function withTranscript(feed: Feed, { ordinal, role }: TranscriptMessage): Feed {
  const at = feed.entries.findLastIndex((entry) => entry.kind === "said" && entry.ordinal === ordinal);
  const known = feed.entries[at];
  // An utterance that was cut before its first word leaves its ordinal to the next one.
  if (known?.kind === "said" && known.role === role) return feed;
  const latency = role === "agent" ? feed.pending : null;
  const said: Said = { kind: "said", ordinal, role, interrupted: false, latency };
  const rest: Feed = {
    ...feed,
    pending: role === "agent" ? null : feed.pending,
    userSpeech: role === "user" ? "none" : feed.userSpeech,
  };
  return known === undefined ? withEntry(rest, said) : { ...rest, entries: feed.entries.with(at, said) };
}

function withTool(feed: Feed, tool: ToolUse): Feed {
  const at = feed.entries.findLastIndex(
    (entry) => entry.kind === "tool" && entry.invocationId === tool.invocationId,
  );
  const known = feed.entries[at];
  if (known?.kind !== "tool") return withEntry(feed, tool);
  // Both the asking and the invocation say that it begins.
  if (tool.state === "running") return feed;
  return { ...feed, entries: feed.entries.with(at, tool) };
}

function withEvent(feed: Feed, { type, severity, text, extras }: CallEventRecord): Feed {
  switch (type) {
    case "turn.completed": {
      const latency = readLatency(extras);
      if (latency === null) return feed;
      return { ...feed, pending: latency, latencies: [...feed.latencies, latency].slice(-MAX_LATENCIES) };
    }
    case "turn.interrupted":
      return withInterruption(feed, extras);
    case "stage.changed":
      return withRemark(feed, "plain", "A new stage of the conversation began.");
    case "media.reconnected":
      return withRemark(feed, "plain", "The connection is back.");
    case "media.underflow":
      // A figure of the network, not of the conversation; the call's page has it.
      return feed;
    case "call.ended": {
      const reason = extras?.["reason"];
      return { ...feed, endReason: typeof reason === "string" ? reason : null };
    }
    default:
      if (severity !== "warning" && severity !== "error") return feed;
      // Said at the tool itself.
      return isOfShownTool(feed, extras) ? feed : withRemark(feed, "warn", `${type}: ${text}`);
  }
}

function isOfShownTool({ entries }: Feed, extras: CallEventRecord["extras"]): boolean {
  const id = extras?.["invocationId"];
  return entries.some((entry) => entry.kind === "tool" && entry.invocationId === id);
}

function withRemark(feed: Feed, tone: Remark["tone"], text: string): Feed {
  const remark: Remark = { kind: "remark", id: feed.nextId, tone, text };
  return withEntry({ ...feed, nextId: feed.nextId + 1 }, remark);
}

/** What was heard of an interrupted answer is told just before; of one without a heard word there is no utterance. */
function withInterruption(feed: Feed, extras: CallEventRecord["extras"]): Feed {
  if (extras?.["heardChars"] === 0) return { ...feed, pending: null };
  const at = feed.entries.findLastIndex((entry) => entry.kind === "said" && entry.role === "agent");
  const said = feed.entries[at];
  if (said?.kind !== "said") return feed;
  return { ...feed, entries: feed.entries.with(at, { ...said, interrupted: true }) };
}
