/**
 * Another process continues a call whose process has ended: the state of the snapshot, without what only lived in that
 * process. Rules R181 to R189 of SPEC.md.
 */

import { recordEvent } from "../call-events.ts";
import { update, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import { initialDataConnection } from "../life/data-connection.ts";
import { endParting } from "../life/ending.ts";
import { HEALTHY } from "../life/engines.ts";
import { isReplyDue } from "../reply/reply.ts";
import { sentencesFor } from "../sentences.ts";
import type { CallState, Inactivity } from "../state.ts";
import type { SideThreads } from "../threads/thread-state.ts";
import { NO_VOICE, QUIET } from "../turn/turn.ts";
import { giveUpLostReply } from "./lost-reply.ts";
import { giveUpLostTools } from "./lost-tools.ts";
import { takeRecorded } from "./recorded.ts";
import { stateOfSnapshot } from "./snapshot.ts";
import { withClearing } from "../life/connection.ts";

/**
 * Ordinals that are skipped: clients may have seen some that are newer than the snapshot. One is made of each message,
 * and every message makes a snapshot, so there are a few.
 */
export const SKIPPED_ORDINALS = 100;

export function onAdopted(draft: Draft, event: EventOf<"adopted">): void {
  const { plan, clock } = draft.state;
  const state = stateOfSnapshot(plan, event.snapshot);
  const isInOrder = state.handover?.isReady === true;
  draft.state = withoutProcess(state, Math.max(clock.atMs, state.clock.atMs), event.mediaMs);
  withClearing(draft, event.keepsAudio);
  recordEvent(
    draft,
    { severity: "info", type: "call.resumed", text: "another process continues the call" },
    true,
  );
  // Last words are not begun twice.
  if (draft.state.phase.kind === "parting") {
    endParting(draft);
    return;
  }
  if (draft.state.phase.kind !== "live") return;
  takeRecorded(draft, event.recorded);
  giveUpLostTools(draft);
  giveUpLostReply(draft);
  if (!isInOrder && !isWorkLeft(draft.state)) askForTheUser(draft);
}

/** What was heard, said and asked stays. Engines, timers, and what the caller was saying are gone. */
function withoutProcess(state: CallState, atMs: number, mediaMs: number): CallState {
  const { spareSpeech: _, handover: __, ...rest } = state;
  const { ids, clock, voice, partials, connection, inputs } = rest;
  return {
    ...rest,
    clock: { ...clock, atMs, mediaMs },
    connection: { kind: "connected", losses: connection.losses },
    dataConnection: initialDataConnection(state.plan),
    ids: { ...ids, ordinal: ids.ordinal + SKIPPED_ORDINALS },
    voice: {
      ...NO_VOICE,
      frameMediaMs: mediaMs,
      lastSpeechMediaMs: voice.lastSpeechMediaMs,
      lastSpeechAtMs: voice.lastSpeechAtMs,
    },
    turn: QUIET,
    // Its latencies would be those of the outage.
    inputs: { ...inputs, turn: null },
    engines: { stt: HEALTHY, llm: HEALTHY, tts: HEALTHY },
    timers: {},
    shown: null,
    partials: { ...partials, shown: null },
    inactivity: pausedInactivity(state.inactivity, clock.atMs),
    sideThreads: withoutGenerations(state.sideThreads),
  };
}

/** The time without a process does not count: nobody could be heard. */
function pausedInactivity({ next, passedMs, sinceAtMs }: Inactivity, lastAtMs: number): Inactivity {
  const ranMs = sinceAtMs === null ? 0 : lastAtMs - sinceAtMs;
  return { next, passedMs: passedMs + ranMs, sinceAtMs: null };
}

/** They begin again. */
function withoutGenerations(threads: SideThreads): SideThreads {
  const list = threads.list.map((thread) =>
    thread.generation === null ? thread : { ...thread, generation: null, due: true },
  );
  return { ...threads, list };
}

/** Whether the agent speaks without being asked again. */
function isWorkLeft(state: CallState): boolean {
  const { toolRound, forced, softEnd, opening } = state;
  return (
    isReplyDue(state) ||
    toolRound !== null ||
    forced.length > 0 ||
    softEnd !== null ||
    opening.kind !== "none"
  );
}

function askForTheUser(draft: Draft): void {
  const text = sentencesFor(draft.state.stage.languageHint).stillThere;
  update(draft, { forced: [{ text, calls: [], uninterruptible: false, immediate: true }] });
}
