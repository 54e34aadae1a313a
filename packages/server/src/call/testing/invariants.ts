/**
 * What must hold at every step of every call (`SPEC.md`, invariants). The checker watches a call from its first step
 * and says, in words, what was broken; tests run it after each step.
 */

import { SKIPPED_ORDINALS } from "../adoption/adopted.ts";
import type { SnapshotState } from "../adoption/snapshot.ts";
import { heardText } from "../history/transcript.ts";
import { requestChars } from "../history/context-window.ts";
import type { CallEffect, EffectOf, ReplyRequest } from "../effects.ts";
import { EXTRA_MAX_MS } from "../turn/endpointing.ts";
import type { CallEngineEvent } from "../events.ts";
import { HISTORY_MAX_CHARS, HISTORY_MAX_MESSAGES } from "../history/history.ts";
import { SEGMENTS_AHEAD, SEGMENTS_PER_REPLY } from "../reply/playout.ts";
import { isReplyDue } from "../reply/reply.ts";
import { silenceMs } from "../turn/turn.ts";
import type { CallState, Reply, TimerKind } from "../state.ts";
import { ThreadChecker } from "./thread-invariants.ts";
import { brokenByRound, ToolChecker } from "./tool-invariants.ts";
import { CALLS_PER_REPLY } from "../tools/use.ts";

export interface ObservedStep {
  readonly before: CallState;
  readonly event: CallEngineEvent;
  readonly after: CallState;
  readonly effects: readonly CallEffect[];
}

/**
 * What may exceed the characters: a round of calls and results, the user's last message, the newest, and one being
 * said.
 */
const NEEDED_MESSAGES = 2 * CALLS_PER_REPLY + 3;

type Command = "closed" | "open" | "paused" | "cleared";

interface ShownUtterance {
  readonly role: "user" | "agent";
  text: string;
  final: boolean;
}

export class InvariantChecker {
  readonly #timers = new Set<number>();
  readonly #utterances = new Set<number>();
  readonly #seen = { utterance: 0, reply: 0, timer: 0 };
  readonly #aborted = new Set<number>();
  readonly #playout = new Map<number, Command>();
  readonly #shown = new Map<number, ShownUtterance>();
  readonly #indices = new Set<number>();
  readonly #tools: ToolChecker;
  readonly #threads: ThreadChecker;
  #nextOrdinal = 0;
  #ends = 0;
  #state: string | null = null;
  #broken: string[] = [];

  /** @param since a snapshot, where another process had the call before */
  constructor(since: SnapshotState | null = null) {
    this.#tools = new ToolChecker(since);
    this.#threads = new ThreadChecker(since);
    if (since === null) return;
    const { history, reply, ids } = since;
    this.#nextOrdinal = ids.ordinal + SKIPPED_ORDINALS;
    for (let index = 0; index < history.nextIndex; index += 1) this.#indices.add(index);
    if (reply === null || reply.transcript.ordinal === null) return;
    this.#indices.delete(reply.messageIndex ?? -1);
    const text = heardText(reply).slice(0, reply.transcript.shownChars);
    this.#shown.set(reply.transcript.ordinal, { role: "agent", text, final: false });
  }

  /** The invariants that this step broke; empty when all hold. */
  observe(step: ObservedStep): readonly string[] {
    this.#broken = [];
    if (step.event.type === "adopted") this.#tools.know(step.event.recorded);
    for (const effect of step.effects) {
      if (effect.type === "handOver" || effect.type === "limitPlayout") continue;
      this.#effect(effect, step);
      if (effect.type !== "generateSide") continue;
      this.#expect(isWithinWindow(step.after, effect.request), "I27 a request keeps to the model's window");
    }
    this.#clock(step);
    this.#end(step);
    this.#slots(step);
    this.#limits(step.after);
    for (const broken of [...brokenByRound(step.after), ...this.#threads.broken(step.after)])
      this.#expect(false, broken);
    this.#turns(step);
    if (step.after.phase.kind === "live") this.#waiting(step.after);
    return this.#broken;
  }

  #expect(holds: boolean, invariant: string): void {
    if (!holds) this.#broken.push(invariant);
  }

  #effect(effect: Exclude<CallEffect, EffectOf<"handOver" | "limitPlayout">>, step: ObservedStep): void {
    this.#expect(this.#ends === 0, `I1 nothing after the end: ${effect.type}`);
    for (const broken of [...this.#tools.observe(effect), ...this.#threads.observe(effect)])
      this.#expect(false, broken);
    switch (effect.type) {
      case "openUtterance":
        this.#expect(this.#utterances.size === 0, "I8 one utterance at a time");
        this.#fresh("utterance", effect.utteranceId);
        this.#utterances.add(effect.utteranceId);
        break;
      case "requestTranscript":
      case "judgeTurn":
        this.#expect(this.#utterances.has(effect.utteranceId), `I8 I34 ${effect.type} of the open utterance`);
        break;
      case "abandonUtterance":
        this.#expect(this.#utterances.delete(effect.utteranceId), "I8 an utterance is abandoned once");
        break;
      case "generateReply":
        this.#fresh("reply", effect.replyId);
        this.#expect(isWithinWindow(step.after, effect.request), "I27 a request keeps to the model's window");
        break;
      case "abortReply":
        this.#aborted.add(effect.replyId);
        break;
      case "synthesize":
        this.#expect(!this.#aborted.has(effect.replyId), "I4 no synthesis for an aborted reply");
        this.#expect(!isText(step, effect.replyId), "I26 no synthesis for a reply in text");
        break;
      case "speak":
      case "pausePlayout":
      case "resumePlayout":
      case "clearPlayout":
        this.#command(effect, step);
        break;
      case "setTimer":
        this.#fresh("timer", effect.timerId);
        this.#timers.add(effect.timerId);
        break;
      case "cancelTimer":
        this.#expect(this.#timers.delete(effect.timerId), "I6 only running timers are cancelled");
        break;
      case "beginStage":
        if (!effect.inheritsMessages) this.#indices.clear();
        break;
      case "sendDataMessage":
        this.#message(effect.message, step);
        break;
      case "recordMessage":
        this.#recorded(effect, step);
        break;
      case "endCall":
        this.#ends += 1;
        break;
      case "sendDataConnectionMessage":
        this.#expect(step.after.dataConnection === "connected", "I20 only an open data connection is told");
        break;
      case "invokeTool":
      case "abortTool":
      case "prepareStage":
      case "recordToolError":
      case "recordTokenCount":
      case "recordSideTokens":
      case "generateSide":
      case "abortSide":
      case "recordJoined":
      case "recordCallEvent":
      case "recordTurnLatency":
        break;
    }
  }

  #recorded({ message }: EffectOf<"recordMessage">, { after }: ObservedStep): void {
    this.#indices.add(message.index);
    // Those of a stage that ends in this step were counted by its own history.
    if (message.stageId !== after.stage.stageId) return;
    this.#expect(message.index < after.history.nextIndex, "I11 message indices are allotted");
  }

  #fresh(kind: "utterance" | "reply" | "timer", id: number): void {
    this.#expect(id > this.#seen[kind], `I5 ${kind} ids ascend`);
    this.#seen[kind] = id;
  }

  #command(
    effect: EffectOf<"speak" | "pausePlayout" | "resumePlayout" | "clearPlayout">,
    step: ObservedStep,
  ): void {
    const { replyId, type } = effect;
    const now = this.#playout.get(replyId) ?? "closed";
    const [from, to] = COMMANDS[type];
    this.#expect(!isText(step, replyId), `I26 no ${type} for a reply in text`);
    this.#expect(from.includes(now), `I3 ${type} while playout is ${now}`);
    if (type !== "clearPlayout") {
      this.#expect(!this.#aborted.has(replyId), `I4 no ${type} for an aborted reply`);
      for (const [other, command] of this.#playout) {
        const over = other === replyId || command === "cleared" || !isInSlot(step, other);
        this.#expect(over || command === "closed", "I3 never two replies at once");
      }
    }
    this.#playout.set(replyId, to);
  }

  #message(message: EffectOf<"sendDataMessage">["message"], step: ObservedStep): void {
    if (message.type === "state") {
      const isReconnect = step.event.type === "transportRestored";
      this.#expect(isReconnect || message.state !== this.#state, "I10 states are not repeated");
      this.#state = message.state;
    }
    if (message.type !== "transcript") return;
    const { ordinal, role, final, text, delta } = message;
    if (role === "user" && !final) {
      // Early words only hold the place of the next utterance.
      this.#expect(ordinal === this.#nextOrdinal, "I9 early words have the next ordinal");
      this.#expect(step.after.partials.asked, "I9 early words go to a client that asks for them");
      return;
    }
    const shown = this.#shown.get(ordinal);
    if (shown === undefined) {
      this.#expect(ordinal === this.#nextOrdinal, "I9 ordinals have no gaps");
      this.#expect(text !== undefined && text !== "", "I9 the first message of an utterance has text");
      this.#shown.set(ordinal, { role, text: text ?? "", final });
      this.#nextOrdinal += 1;
      return;
    }
    this.#expect(shown.role === role && !shown.final, "I9 nothing follows a final transcript");
    if (final)
      this.#expect(text === shown.text, `I9 the final text is what was shown: ${text} / ${shown.text}`);
    else this.#expect(delta !== undefined && delta !== "", "I9 later words come as deltas");
    shown.text += delta ?? "";
    shown.final = final;
  }

  #clock({ before, after }: ObservedStep): void {
    this.#expect(after.clock.atMs >= before.clock.atMs, "I2 time never runs back");
    this.#expect(after.clock.mediaMs >= before.clock.mediaMs, "I2 media time never runs back");
  }

  #end({ before, event, after, effects }: ObservedStep): void {
    if (event.type === "timerFired") this.#timers.delete(event.timerId);
    const running = new Set(Object.values(after.timers).map(({ timerId }) => timerId));
    const same = running.size === this.#timers.size && [...running].every((id) => this.#timers.has(id));
    this.#expect(same, "I6 the timers that run are those that the state knows");
    const ended = after.phase.kind === "ended";
    const ends = effects.filter(({ type }) => type === "endCall").length;
    this.#expect(ends === (ended && before.phase.kind !== "ended" ? 1 : 0), "I1 exactly one end");
    if (ends > 0) this.#expect(effects.at(-1)?.type === "endCall", "I1 the end is the last effect");
    if (before.phase.kind === "ended") this.#expect(after === before, "I1 an ended call does not change");
    if (!ended) return;
    this.#expect(this.#timers.size === 0, "I6 no timer outlives the call");
    this.#expect(this.#utterances.size === 0, "I8 no utterance outlives the call");
    for (const { final } of this.#shown.values()) this.#expect(final, "I9 every transcript is finished");
    for (let index = 0; index < after.history.nextIndex; index += 1) {
      this.#expect(this.#indices.has(index), `I11 message ${index} is recorded`);
    }
  }

  #slots({ after }: ObservedStep): void {
    const { reply, turn } = after;
    if (reply === null) return;
    this.#expect(reply.committed || reply.playout === "closed", "I3 only a committed reply is heard");
    const isOfVoice = turn.kind === "ended" && reply.basis.utteranceId === turn.utteranceId;
    this.#expect(
      reply.committed || turn.kind === "pausing" || isOfVoice,
      "I3 speculation only while the silence lasts, or on a voice whose words are still to come",
    );
    this.#expect(
      !reply.uninterruptible || (reply.heldBy === null && reply.cutBy !== "speech" && reply.cutBy !== "text"),
      "I7 what is uninterruptible is never held or cut by the user",
    );
  }

  #turns({ before, after }: ObservedStep): void {
    const open = after.turn;
    if (open.kind === "pausing" && open.transcript !== null && after.phase.kind === "live") {
      const mostMs = after.stage.vad.turnEndpointDelayMs + EXTRA_MAX_MS;
      this.#expect(silenceMs(after) < mostMs, "I35 a turn ends 3 s beyond the endpoint delay at the latest");
    }
    const { turn } = after.inputs;
    if (turn === null || turn.turnId === before.inputs.turn?.turnId) return;
    if (before.turn.kind === "quiet") {
      this.#expect(false, "I12 a turn needs an utterance");
      return;
    }
    const { minimumTurnDurationMs } = after.stage.vad;
    const enough = before.turn.forced || before.turn.speechMs >= minimumTurnDurationMs;
    this.#expect(enough, "I12 speech shorter than a turn never asks for a reply");
  }

  #limits({ history, reply, timers }: CallState): void {
    const { entries } = history;
    const chars = entries.reduce((sum, { text }) => sum + text.length, 0);
    this.#expect(history.chars === chars, "I13 the characters of the history are counted");
    this.#expect(entries.length <= HISTORY_MAX_MESSAGES, "I13 messages are bounded");
    this.#expect(chars <= HISTORY_MAX_CHARS || entries.length <= NEEDED_MESSAGES, "I13 history is bounded");
    this.#expect(Object.keys(timers).length <= TIMER_KINDS, "I13 timers are bounded");
    if (reply === null) return;
    const ahead = reply.segments.filter(({ status }) => status !== "waiting" && status !== "played").length;
    this.#expect(ahead <= SEGMENTS_AHEAD, "I13 synthesis ahead is bounded");
    this.#expect(reply.segments.length <= SEGMENTS_PER_REPLY, "I13 segments are bounded");
  }

  #waiting(state: CallState): void {
    if (state.handover === undefined) this.#liveness(state);
    else if (!state.handover.isReady)
      this.#expect(state.timers.handover !== undefined, "I14 a hand-over has a limit");
  }

  /** I14: whatever the call waits for has a timer, so that no lost event can silence it permanently. */
  #liveness(state: CallState): void {
    const { reply, turn, opening, softEnd, timers } = state;
    const has = (...kinds: readonly TimerKind[]) => kinds.some((kind) => timers[kind] !== undefined);
    if (turn.kind !== "quiet") {
      this.#expect(has("turnLimit", "transcript", "transcriptRetry"), "I14 a turn has a limit");
    }
    if (opening.kind === "delayed") this.#expect(has("opening"), "I14 a delayed opening has a timer");
    const empty = reply === null && turn.kind === "quiet" && opening.kind === "none" && !state.voice.speaking;
    const idle = empty && !isReplyDue(state) && softEnd === null && state.connection.kind === "connected";
    const waiting = state.toolRound !== null;
    const more = state.inactivity.next < state.stage.inactivityMessages.length;
    this.#expect(
      has("inactivity") === (idle && !waiting && more),
      "I25 the inactivity timer runs in silence alone",
    );
    // Other due work comes first, and I14 covers it.
    const first = waiting || isReplyDue(state);
    const free = reply === null && turn.kind === "quiet" && !first;
    this.#expect(softEnd === null || !free, "I24 a soft end is on its way");
    const tools = state.toolRound?.calls ?? [];
    for (const { invocationId, progress } of tools) {
      const tones = progress.kind === "sounding" && reply !== null;
      const waits = progress.kind !== "answered";
      this.#expect(!waits || tones || has("tool"), `I14 ${invocationId} waits with a limit`);
    }
    if (reply === null) {
      const due = !waiting && (isReplyDue(state) || opening.kind === "due" || state.forced.length > 0);
      this.#expect(
        !due || turn.kind !== "quiet" || has("replyRetry", "tick"),
        "I14 a due reply is on its way",
      );
      return;
    }
    this.#expect(moves(reply, state, has), `I14 reply ${reply.replyId} waits for something with a limit`);
  }
}

function moves(
  reply: Reply,
  { turn, connection }: CallState,
  has: (...kinds: TimerKind[]) => boolean,
): boolean {
  if (reply.playout === "cutting") return has("cut");
  if (!reply.committed) return turn.kind !== "quiet";
  if (reply.playout !== "open") {
    const held = reply.heldBy !== null && turn.kind !== "quiet" && turn.utteranceId === reply.heldBy;
    return held || (connection.kind === "lost" && has("reconnect"));
  }
  return has("reply", "synthesis", "playout");
}

/** Whether a request fits into the window, or exceeds it only by its newest message or round. */
function isWithinWindow({ plan, contextWindow }: CallState, request: ReplyRequest): boolean {
  const isOver = requestChars(request) > plan.turnTaking.contextWindowTokens * contextWindow.charsPerToken;
  return !isOver || request.messages.findLastIndex(({ role }) => role !== "tool") <= 0;
}

function isText({ before, after }: ObservedStep, replyId: number): boolean {
  return [before.reply, after.reply].some((reply) => reply?.replyId === replyId && reply.medium === "text");
}

function isInSlot({ before, after }: ObservedStep, replyId: number): boolean {
  return after.reply?.replyId === replyId && before.reply?.replyId === replyId;
}

const TIMER_KINDS = 19;
const COMMANDS: Readonly<
  Record<"speak" | "pausePlayout" | "resumePlayout" | "clearPlayout", readonly [readonly Command[], Command]>
> = {
  speak: [["closed"], "open"],
  pausePlayout: [["open"], "paused"],
  resumePlayout: [["paused"], "open"],
  clearPlayout: [["closed", "open", "paused"], "cleared"],
};
