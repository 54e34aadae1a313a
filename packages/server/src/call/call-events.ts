/** Records call events and sends the data messages that go with them. Rules R27, R30 and R107 of SPEC.md. */

import { type DataMessageFlag, formatDurationMs, type ServerDataMessage } from "@parley/schema";
import { emit, update, type Draft } from "./draft.ts";
import type { StagePlan } from "../plan/plan.ts";
import type { CallEventRecord } from "./effects.ts";
import type { AgentState } from "./state.ts";

/** A second of a normal call has one or two; more is a fault that must not flood the record. */
export const CALL_EVENTS_PER_SECOND = 20;
/** A media fault repeats in every frame, so there is one warning per this interval. */
export const MEDIA_NOTICE_EVERY_MS = 10_000;
/** One warning about bad messages per second and cause. */
export const DATA_MESSAGE_NOTICE_EVERY_MS = 1_000;
const ENGINE_FAILED = /^(?:stt|llm|tts)\.failed$/;
/** Call events carry errors of engines; longer ones are cut. */
const EVENT_TEXT_MAX_CHARS = 1_000;

/** Sends a message to the client and over the data connection, to each if its own flags enable the kind. */
export function send(draft: Draft, flag: DataMessageFlag, message: ServerDataMessage): void {
  sendToClient(draft, flag, message);
  sendToDataConnection(draft, flag, message);
}

export function sendToClient(draft: Draft, flag: DataMessageFlag, message: ServerDataMessage): void {
  if (draft.state.flags[flag]) emit(draft, { type: "sendDataMessage", message });
}

/** Whether an event of this type says that recogniser, model or voice has failed. */
export function isEngineFailure(type: string): boolean {
  return ENGINE_FAILED.test(type);
}

/** Nothing is queued for a data connection that is not open. */
export function sendToDataConnection(draft: Draft, flag: DataMessageFlag, message: ServerDataMessage): void {
  const { dataConnection, plan } = draft.state;
  if (dataConnection !== "connected" || plan.dataConnection?.dataMessages[flag] !== true) return;
  emit(draft, { type: "sendDataConnectionMessage", message });
}

/** Debug messages on what the engine does, for the developer of the client; never anything that was said. */
export function debug(draft: Draft, message: string): void {
  if (draft.state.phase.kind !== "live") return;
  send(draft, "debug", { type: "debug", message });
}

export interface Occurrence {
  readonly severity: CallEventRecord["severity"];
  readonly type: string;
  readonly text: string;
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** Records a call event, unless this second already has too many. Lifecycle events pass `always`. */
export function recordEvent(draft: Draft, occurrence: Occurrence, always = false): void {
  if (!withinRate(draft) && !always) return;
  const { clock, stage } = draft.state;
  const event: CallEventRecord = {
    stageId: stage.stageId,
    callTimestampMs: clock.mediaMs,
    wallClockTimestampMs: clock.joinedAtMs === null ? null : clock.atMs - clock.joinedAtMs,
    severity: occurrence.severity,
    type: occurrence.type,
    text: occurrence.text.slice(0, EVENT_TEXT_MAX_CHARS),
    extras: occurrence.extras ?? null,
  };
  emit(draft, { type: "recordCallEvent", event });
  if (clock.joinedAtMs !== null) tellOf(draft, event);
}

/** Settings of a stage that begins which act in another way than its author said. */
export function warnOfStage(draft: Draft, { warnings = [] }: StagePlan): void {
  for (const { type, text } of warnings) recordEvent(draft, { severity: "warning", type, text }, true);
}

/** Events of the severity debug go only where debug messages go as well. */
function tellOf(draft: Draft, event: CallEventRecord): void {
  const { plan, flags } = draft.state;
  const wallClock = event.wallClockTimestampMs;
  const message: ServerDataMessage = {
    type: "call_event",
    event: {
      callId: plan.callId,
      callStageId: event.stageId,
      callTimestamp: formatDurationMs(event.callTimestampMs),
      wallClockTimestamp: wallClock === null ? null : formatDurationMs(wallClock),
      severity: event.severity,
      type: event.type,
      text: event.text,
      extras: event.extras === null ? null : { ...event.extras },
    },
  };
  const isDebug = event.severity === "debug";
  if (!isDebug || flags.debug) sendToClient(draft, "callEvent", message);
  if (!isDebug || plan.dataConnection?.dataMessages.debug === true) {
    sendToDataConnection(draft, "callEvent", message);
  }
}

/** The same for events that may repeat quickly: at most one per `everyMs` and `key`. `key` comes from a closed list. */
export function recordEventAtMost(draft: Draft, everyMs: number, key: string, occurrence: Occurrence): void {
  const { notices, clock } = draft.state;
  const last = notices.lastAtMs[key];
  if (last !== undefined && clock.atMs - last < everyMs) return;
  update(draft, { notices: { ...notices, lastAtMs: { ...notices.lastAtMs, [key]: clock.atMs } } });
  recordEvent(draft, occurrence);
}

function withinRate(draft: Draft): boolean {
  const { notices, clock } = draft.state;
  const fresh = clock.atMs - notices.secondAtMs >= 1_000;
  const inSecond = fresh ? 1 : notices.inSecond + 1;
  update(draft, { notices: { ...notices, secondAtMs: fresh ? clock.atMs : notices.secondAtMs, inSecond } });
  return inSecond <= CALL_EVENTS_PER_SECOND;
}

/** Sends the agent's state if it differs from the last one sent, or in any case with `force`, after a reconnect. */
export function showState(draft: Draft, state: AgentState, force = false): void {
  if (draft.state.shown === state && !force) return;
  update(draft, { shown: state });
  send(draft, "state", { type: "state", state });
}
