/**
 * The entries of a call in order: utterances, tools and other events. Pure. The texts of utterances are in the call,
 * found by their ordinals.
 */

import type { CallEventRecord, Role, ServerMessage, TranscriptMessage } from "@parley/client";
import { type Latency, readLatency } from "./latency.ts";

export interface Said {
  readonly kind: "said";
  readonly ordinal: number;
  readonly role: Role;
  /** The user interrupted, or a voice failed: the text ends there. */
  readonly interrupted: boolean;
  /** Latency of a reply to speech. */
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
  /** How often it has happened. */
  readonly count: number;
}

/** Notes that the agent showed with the page's tool. */
export interface Note {
  readonly kind: "note";
  readonly id: number;
  readonly text: string;
}

export type Entry = Said | ToolUse | Remark | Note;

export interface Feed {
  readonly entries: readonly Entry[];
  /** One per reply to speech. */
  readonly latencies: readonly Latency[];
  /** Voice activity of the user. After `stopped` the words are expected; it can still be a cough. */
  readonly userSpeech: "none" | "going on" | "stopped";
  /** Latency of a reply whose first word has not arrived yet. */
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

/** An hour of fast talk with a tool in every other turn. The oldest are dropped first. */
export const MAX_ENTRIES = 3_000;
/** More bars than can be compared. */
export const MAX_LATENCIES = 500;

/** The feed after a message; the same feed if the message shows nothing. */
export function withMessage(feed: Feed, message: ServerMessage): Feed {
  const { type } = message;
  if (type === "transcript") return withTranscript(feed, message);
  if (type === "user_started_speaking") return { ...feed, userSpeech: "going on" };
  if (type === "user_stopped_speaking") return { ...feed, userSpeech: "stopped" };
  if (type === "invoking_tool" || type === "client_tool_invocation") {
    return withTool(feed, { ...toolUseOf(message), state: "running", result: null });
  }
  if (type === "tool_used") {
    const { result, errorDetails } = message;
    const state = errorDetails === undefined ? "done" : "failed";
    return withTool(feed, { ...toolUseOf(message), state, result: errorDetails ?? result ?? null });
  }
  return type === "call_event" ? withEvent(feed, message.event) : feed;
}

function toolUseOf({ invocationId, toolName, parameters }: Omit<ToolUse, "kind" | "state" | "result">) {
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
  // An utterance that was cut before its first word passes its ordinal to the next one.
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
  // Both messages announce the start of the tool.
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
    case "turn.not_understood":
      return withRemark({ ...feed, userSpeech: "none" }, "plain", "Your speech was not understood.");
    case "stage.changed":
      return withRemark(feed, "plain", "A new stage started.");
    case "call.resumed":
      return withRemark(feed, "plain", "Another process of the service continues the call.");
    case "media.reconnected":
      return withRemark(feed, "plain", "Reconnected.");
    case "media.underflow":
      // Network statistics; shown on the page of the call.
      return feed;
    case "call.ended": {
      const reason = extras?.["reason"];
      return { ...feed, endReason: typeof reason === "string" ? reason : null };
    }
    default:
      if (severity !== "warning" && severity !== "error") return feed;
      // Shown at the tool itself.
      return isOfShownTool(feed, extras) ? feed : withRemark(feed, "warn", `${type}: ${text}`);
  }
}

function isOfShownTool({ entries }: Feed, extras: CallEventRecord["extras"]): boolean {
  const id = extras?.["invocationId"];
  return entries.some((entry) => entry.kind === "tool" && entry.invocationId === id);
}

function withRemark(feed: Feed, tone: Remark["tone"], text: string): Feed {
  // A fault that repeats is one line with a number, so that the conversation stays in view.
  const at = feed.entries.findLastIndex((entry) => entry.kind === "remark" && entry.text === text);
  const known = feed.entries[at];
  if (tone === "warn" && known?.kind === "remark") {
    return { ...feed, entries: feed.entries.with(at, { ...known, count: known.count + 1 }) };
  }
  const remark: Remark = { kind: "remark", id: feed.nextId, tone, text, count: 1 };
  return withEntry({ ...feed, nextId: feed.nextId + 1 }, remark);
}

/** The heard part of an interrupted reply arrives just before; without a heard word there is no utterance. */
function withInterruption(feed: Feed, extras: CallEventRecord["extras"]): Feed {
  if (extras?.["heardChars"] === 0) return { ...feed, pending: null };
  const at = feed.entries.findLastIndex((entry) => entry.kind === "said" && entry.role === "agent");
  const said = feed.entries[at];
  if (said?.kind !== "said") return feed;
  return { ...feed, entries: feed.entries.with(at, { ...said, interrupted: true }) };
}
