/**
 * A call on a virtual clock: the engine with fakes around it, a step at a time, every invariant checked after each.
 * An hour of talk takes a moment, and the same scenario always runs the same way.
 */

import type { ClientDataMessage, ServerDataMessage } from "@parley/schema";
import { isSnapshotDue } from "../adoption/snapshot-due.ts";
import { snapshotOf, type CallSnapshot } from "../adoption/snapshot.ts";
import { initialState, step, type CallState } from "../call.ts";
import type { CallEffect, EffectOf, MessageRecord } from "../effects.ts";
import type { CallEngineEvent, CallEngineEventBody, EventOf } from "../events.ts";
import { InvariantChecker } from "./invariants.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { FakeLlm, FakeStt, FakeUser, FakeVoice } from "./fake-engines.ts";
import { FakeTools } from "./fake-tools.ts";
import { testPlan, type PlanChanges } from "./plan.ts";

/** What happens to an event on its way to the engine; a number delays it by that many ms. */
export type Disturbance = "none" | "drop" | "twice" | number;

const VAD_FRAME_MS = 32;
const PLAYOUT_FRAME_MS = 20;
/** Steps of one scenario: an hour of frames; more is a loop. */
const MAX_STEPS = 200_000;

const PLAYOUT_EVENTS: ReadonlySet<CallEngineEventBody["type"]> = new Set([
  "segmentPlayoutStarted",
  "segmentPlayoutAdvanced",
  "segmentPlayoutFinished",
  "playoutPaused",
  "playoutCleared",
]);

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export interface Logged<T> {
  readonly atMs: number;
  readonly value: T;
}

type MessageOf<T extends ServerDataMessage["type"]> = Extract<ServerDataMessage, { readonly type: T }>;

export class Scenario {
  readonly user = new FakeUser();
  readonly stt: FakeStt;
  readonly llm: FakeLlm;
  readonly voice: FakeVoice;
  readonly tools: FakeTools;
  readonly events: CallEngineEvent[] = [];
  readonly effects: Logged<CallEffect>[] = [];
  readonly #checker: InvariantChecker;
  readonly #timers = new Map<number, number>();
  /** Ordered by time, then by order of scheduling. */
  readonly #due: Due[] = [];
  readonly first: CallState;
  state: CallState;
  atMs = 0;
  /** What the client asks for when it joins. */
  joinsWith: { readonly debug?: boolean; readonly partials?: boolean } = {};
  /** Windows are scored while it is true; a dead medium has none. */
  media = true;
  /** Called for each event that the world posts; a test may lose, double or delay it. */
  disturb: (event: CallEngineEventBody) => Disturbance = () => "none";
  /** What a turn detector for text says of an utterance; null: no opinion. */
  judge: (question: EffectOf<"judgeTurn">) => number | null = () => null;
  judgeDelayMs = 0;
  /** Likelihood of echo in the window that ends at this time. */
  echo: (toMs: number) => number = () => 0;
  /** Windows that turn out not to be echo when the one that ends at this time comes; null: no news. */
  echoLearned: (toMs: number) => EventOf<"echoLearned">["own"] | null = () => null;
  /** A test made up what was played, so nothing can be compared with it. */
  #forgedPlayout = false;
  #order = 0;
  #mediaMs = 0;
  #joinedMs = 0;

  /** The last one that was due. */
  snapshot: CallSnapshot | null = null;

  /** @param lost a call whose process is gone: this one is to continue it */
  constructor(changes: PlanChanges = {}, lost: Scenario | null = null) {
    this.first = deepFreeze(initialState(lost?.state.plan ?? testPlan(changes)));
    this.state = this.first;
    this.#checker = new InvariantChecker(lost?.snapshot?.state ?? null);
    const post = (afterMs: number, event: CallEngineEventBody) => {
      this.after(afterMs, () => {
        this.#deliver(event);
      });
    };
    this.stt = new FakeStt(this.user, post);
    this.llm = new FakeLlm(post);
    this.voice = new FakeVoice(post);
    this.tools = new FakeTools(post);
    if (lost === null) this.post({ type: "started" });
  }

  /** Another process continues the call `afterMs` later, from its last snapshot as it is stored. */
  resumed(
    afterMs: number,
    {
      recorded = [],
      llm = [],
    }: { readonly recorded?: readonly MessageRecord[]; readonly llm?: FakeLlm["script"] } = {},
  ): Scenario {
    const call = new Scenario({}, this);
    call.llm.script = [...llm];
    call.atMs = this.atMs + afterMs;
    call.#joinedMs = this.#joinedMs;
    call.#mediaMs = call.atMs - call.#joinedMs;
    const snapshot = deepFreeze(JSON.parse(JSON.stringify(this.snapshot)) as CallSnapshot);
    call.post({ type: "adopted", snapshot, recorded, mediaMs: call.#mediaMs });
    call.#score();
    call.#play();
    return call;
  }

  join(): this {
    this.post({ type: "joined", ...this.joinsWith });
    this.#joinedMs = this.atMs;
    this.#score();
    this.#play();
    return this;
  }

  /** The user speaks from now on; the call goes on until the last word. */
  says(text: string, lastingMs = 80 * text.length): this {
    this.user.speak(this.atMs, lastingMs, text);
    return this.run(lastingMs);
  }

  /** Voice without words. */
  coughs(lastingMs: number): this {
    return this.says("", lastingMs);
  }

  sends(message: ClientDataMessage): this {
    this.post({ type: "dataMessageReceived", message, source: "client" });
    return this;
  }

  run(forMs: number): this {
    const untilMs = this.atMs + forMs;
    for (let due = this.#due[0]; due !== undefined && due.atMs <= untilMs; due = this.#due[0]) {
      this.#due.shift();
      this.atMs = due.atMs;
      due.run();
    }
    this.atMs = untilMs;
    return this;
  }

  /** Runs until something holds; fails after `limitMs`, so that a test never hangs. */
  runUntil(holds: (state: CallState) => boolean, limitMs = 120_000): this {
    const untilMs = this.atMs + limitMs;
    while (!holds(this.state)) {
      const due = this.#due.shift();
      if (due === undefined || due.atMs > untilMs) throw new Error(`not within ${limitMs} ms`);
      this.atMs = due.atMs;
      due.run();
    }
    return this;
  }

  after(delayMs: number, run: () => void): void {
    const due = { atMs: this.atMs + delayMs, order: (this.#order += 1), run };
    let at = this.#due.length;
    while (at > 0 && (this.#due[at - 1]?.atMs ?? 0) > due.atMs) at -= 1;
    this.#due.splice(at, 0, due);
  }

  /** Hands over an event that a test made up. */
  post(event: CallEngineEventBody): void {
    this.#forgedPlayout ||= PLAYOUT_EVENTS.has(event.type);
    this.#take(event);
  }

  /** Hands an event to the engine, checks every invariant, and starts the effects. */
  #take(event: CallEngineEventBody): void {
    if (this.events.length >= MAX_STEPS) throw new Error("the scenario does not end");
    const timed: CallEngineEvent = { ...event, atMs: this.atMs };
    const before = this.state;
    const { state, effects } = step(before, timed);
    this.state = deepFreeze(state);
    this.events.push(timed);
    if (isSnapshotDue(before, state, effects)) this.snapshot = snapshotOf(state);
    const broken = [
      ...this.#checker.observe({ before, event: timed, after: state, effects }),
      ...this.#heardTooEarly(),
    ];
    if (broken.length > 0) {
      throw new Error(`at ${this.atMs} ms, ${event.type}: ${broken.join("; ")}`);
    }
    for (const effect of effects) {
      this.effects.push({ atMs: this.atMs, value: effect });
      this.#start(effect);
    }
  }

  /** I36. The words of a segment go out as well when even the silence in its place fails (R25). */
  #heardTooEarly(): string[] {
    const { reply } = this.state;
    if (this.#forgedPlayout || reply === null || reply.medium === "text") return [];
    const early = reply.segments.filter(({ segmentId, text, status, heardChars, silent }) => {
      const counted = status === "played" ? text.length : heardChars;
      return counted > this.voice.playedChars(segmentId) && !(silent && status === "played");
    });
    return early.map(({ segmentId }) => `I36 segment ${segmentId} counts as heard beyond what was played`);
  }

  #deliver(event: CallEngineEventBody): void {
    const how = this.disturb(event);
    if (how === "drop") return;
    if (typeof how === "number") {
      this.after(how, () => {
        this.#hand(event);
      });
      return;
    }
    this.#hand(event);
    if (how === "twice") this.#hand(event);
  }

  #hand(event: CallEngineEventBody): void {
    if ("replyId" in event && event.type.startsWith("reply") && this.llm.isAborted(event.replyId)) return;
    if ("generationId" in event && this.llm.isSideAborted(event.generationId)) return;
    if (event.type === "toolFinished" && this.tools.isAborted(event.invocationId)) return;
    if (this.voice.isReplaced(event)) return;
    if (event.type === "segmentAudioReceived" || event.type === "segmentFailed") {
      this.voice.arrive(event.segmentId);
    }
    this.#take(event);
  }

  #score(): void {
    if (this.state.phase.kind === "ended") return;
    this.after(VAD_FRAME_MS, () => {
      if (this.media) {
        this.#mediaMs = this.atMs - this.#joinedMs;
        const score = this.user.score(this.atMs);
        const echo = this.echo(this.atMs);
        const own = this.echoLearned(this.atMs);
        if (own !== null) this.#deliver({ type: "echoLearned", own });
        const scored = { type: "voiceScored", score, mediaMs: this.#mediaMs } as const;
        this.#deliver(echo === 0 ? scored : { ...scored, echo });
        const { partialsMs } = this.stt;
        if (partialsMs !== null && this.#mediaMs % partialsMs < VAD_FRAME_MS) this.stt.partials(this.atMs);
      }
      this.#score();
    });
  }

  #play(): void {
    if (this.state.phase.kind === "ended") return;
    this.after(PLAYOUT_FRAME_MS, () => {
      this.voice.tick();
      this.#play();
    });
  }

  #start(effect: CallEffect): void {
    switch (effect.type) {
      case "openUtterance":
        this.stt.open(effect, this.atMs);
        break;
      case "requestTranscript":
        this.stt.request(effect, this.atMs);
        break;
      case "abandonUtterance":
        this.stt.abandon(effect.utteranceId);
        break;
      case "generateReply":
        this.llm.generate(effect);
        break;
      case "abortReply":
        this.llm.abort(effect.replyId);
        break;
      case "generateSide":
      case "abortSide":
        this.llm.side(effect);
        break;
      case "synthesize":
        this.voice.synthesize(effect);
        break;
      case "speak":
        this.voice.speak(effect.replyId);
        break;
      case "pausePlayout":
        this.voice.pause(effect.replyId);
        break;
      case "resumePlayout":
        this.voice.resume();
        break;
      case "clearPlayout":
        this.voice.clear(effect.replyId);
        break;
      case "judgeTurn":
        this.#judge(effect);
        break;
      case "setTimer":
        this.#setTimer(effect.timerId, effect.delayMs);
        break;
      case "cancelTimer":
        this.#timers.delete(effect.timerId);
        break;
      case "sendDataMessage":
      case "sendDataConnectionMessage":
        this.tools.invokeByMessage(effect);
        break;
      case "invokeTool":
        this.tools.invoke(effect);
        break;
      case "abortTool":
        this.tools.abort(effect.invocationId);
        break;
      case "prepareStage":
        this.tools.prepare(effect);
        break;
      case "beginStage":
      case "recordToolError":
      case "recordTokenCount":
      case "recordSideTokens":
      case "recordJoined":
      case "recordMessage":
      case "recordCallEvent":
      case "recordTurnLatency":
      case "endCall":
        break;
    }
  }

  #judge(effect: EffectOf<"judgeTurn">): void {
    const { utteranceId, revision } = effect;
    const finished = this.judge(effect);
    this.after(this.judgeDelayMs, () => {
      this.#deliver({ type: "turnJudged", utteranceId, revision, finished, by: "text" });
    });
  }

  #setTimer(timerId: number, delayMs: number): void {
    this.#timers.set(timerId, this.atMs + delayMs);
    this.after(delayMs, () => {
      if (this.#timers.delete(timerId)) this.#deliver({ type: "timerFired", timerId });
    });
  }

  get hasEnded(): boolean {
    return this.state.phase.kind === "ended";
  }

  effectsOf<T extends CallEffect["type"]>(type: T): EffectOf<T>[] {
    return this.effects.flatMap(({ value }) => (value.type === type ? [value as EffectOf<T>] : []));
  }

  timesOf(type: CallEffect["type"]): number[] {
    return this.effects.flatMap(({ atMs, value }) => (value.type === type ? [atMs] : []));
  }

  messagesOf<T extends ServerDataMessage["type"]>(type: T): MessageOf<T>[] {
    return this.effectsOf("sendDataMessage").flatMap(({ message }) =>
      message.type === type ? [message as MessageOf<T>] : [],
    );
  }

  /** Texts of the final transcripts, `role: text`. */
  get transcript(): string[] {
    return this.messagesOf("transcript").flatMap(({ role, final, text }) =>
      final ? [`${role}: ${text ?? ""}`] : [],
    );
  }

  get states(): string[] {
    return this.messagesOf("state").map(({ state }) => state);
  }

  eventsOf(type: string) {
    return this.effectsOf("recordCallEvent").flatMap(({ event }) => (event.type === type ? [event] : []));
  }

  /** Recorded messages, later versions of an index in place of earlier ones; stage after stage. */
  get messages() {
    const histories: Map<number, MessageRecord>[] = [new Map()];
    for (const { value } of this.effects) {
      if (value.type === "beginStage" && !value.inheritsMessages) histories.push(new Map());
      if (value.type === "recordMessage") histories.at(-1)?.set(value.message.index, value.message);
    }
    return histories.flatMap((byIndex) => [...byIndex.values()].toSorted((a, b) => a.index - b.index));
  }
}

/** A joined call. */
export function joinedCall(changes: PlanChanges = {}): Scenario {
  return new Scenario(changes).join();
}
