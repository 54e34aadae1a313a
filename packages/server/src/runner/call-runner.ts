/**
 * One live call: takes one event, applies the engine's `step`, starts what it asks for without waiting, and takes the
 * next. Whatever goes wrong in here ends this call and no other.
 */

import { initialState, step, type CallState } from "../call/call.ts";
import type { CallEffect, EndReason } from "../call/effects.ts";
import type { CallEngineEvent, CallEngineEventBody } from "../call/events.ts";
import type { CallPlan } from "../call/plan.ts";
import type { Transport, TransportListener, TransportProblem } from "../ports/transport.ts";
import type { CallDeps, CallStart, ConnectInfo, OpenTransport } from "./call-deps.ts";
import { CallMedia } from "./call-media.ts";
import { CallWork } from "./call-work.ts";
import { readClientData } from "./client-data.ts";
import { EventLogger } from "./event-log.ts";
import { finishCall } from "./finish-call.ts";
import { Judges } from "./judges.ts";
import { KeptEvents } from "./kept-events.ts";
import { Mailbox } from "./mailbox.ts";
import { recordEffect, type RecordEffect } from "./record-effects.ts";
import { RecordQueue } from "./record-queue.ts";
import { messageOf, stackOf } from "./error-text.ts";

/** One report of a kind of transport problem in this time; a flood of bad frames makes one a second. */
const PROBLEM_INTERVAL_MS = 1_000;
/** An engine that was told of a fault has this long to end the call in its own way. */
const FAULT_LIMIT_MS = 500;
/** The same when it was asked to end the call. */
const END_LIMIT_MS = 2_000;
const CODE_REGULAR = 1000;
const CODE_FAILURE = 1011;

interface Connection {
  transport: Transport | null;
  readonly closed: Promise<void>;
}

type EndCall = Omit<Extract<CallEffect, { type: "endCall" }>, "type">;

export class CallRunner {
  readonly callId: string;
  readonly #plan: CallPlan;
  readonly #deps: CallDeps;
  readonly #originMs: number;
  readonly #originWallMs: number;
  readonly #mailbox: Mailbox<CallEngineEvent>;
  readonly #records: RecordQueue;
  readonly #work: CallWork;
  readonly #judges: Judges;
  readonly #timers = new Map<number, () => void>();
  readonly #problemAtMs = new Map<TransportProblem, number>();
  readonly #ended: () => void;
  #state: CallState;
  #log: EventLogger<CallState>;
  readonly #kept: KeptEvents | null;
  #lastAtMs = 0;
  #media: CallMedia | null = null;
  #connection: Connection | null = null;
  #info: ConnectInfo | null = null;
  #joinedAtMs: number | null = null;
  #faulted = false;
  #cancelEndLimit: (() => void) | null = null;
  #over = false;

  /** @param ended called once, when the final record is written and nothing of the call is left */
  constructor(plan: CallPlan, start: CallStart, deps: CallDeps, ended: () => void) {
    this.callId = plan.callId;
    this.#plan = plan;
    this.#deps = deps;
    this.#ended = ended;
    this.#originMs = deps.clock.nowMs();
    // A call that a restart took up again is older than this runner; and no record is older than the creation.
    this.#originWallMs = Math.max(start.createdAt.getTime(), deps.clock.wallMs());
    this.#records = new RecordQueue(plan.callId, deps.records, deps.clock, deps.logger);
    this.#state = initialState(plan);
    this.#log = new EventLogger(this.#state);
    this.#kept = deps.keepEventLogs ? new KeptEvents((chunk) => this.#records.eventChunk(chunk)) : null;
    this.#mailbox = new Mailbox(
      (event) => {
        this.#handle(event);
      },
      (error) => {
        this.#giveUp(error);
      },
    );
    this.#work = new CallWork(plan, deps, this.post, this.fault);
    this.#judges = new Judges(deps.engines.turnDetectors ?? [], this.post);
  }

  /** `joinable`: waits for its first connection, or for the next one after a loss. */
  joinState(): "joinable" | "connected" | "over" {
    if (this.#over) return "over";
    return this.#connection === null ? "joinable" : "connected";
  }

  get hasJoined(): boolean {
    return this.#media !== null;
  }

  readonly post = (event: CallEngineEventBody): void => {
    if (this.#over) return;
    this.#mailbox.post({ ...event, atMs: this.#atMs() });
  };

  /** Ends the call because something failed that must not. */
  readonly fault = (error: unknown): void => {
    if (this.#over) return;
    if (this.#faulted) {
      this.#giveUp(error);
      return;
    }
    this.#faulted = true;
    this.#recordFault(error);
    this.#cancelEndLimit?.();
    this.#cancelEndLimit = this.#deps.clock.after(FAULT_LIMIT_MS, () => {
      this.#giveUp(error);
    });
    this.post({ type: "faulted", error: messageOf(error) });
  };

  /** Asks the engine to end the call, and ends it in its place when it does not. */
  requestEnd(cause: "hangup" | "shutdown"): void {
    this.post({ type: "endRequested", cause });
    if (this.#over) return;
    this.#cancelEndLimit?.();
    this.#cancelEndLimit = this.#deps.clock.after(END_LIMIT_MS, () => {
      if (cause === "hangup") this.#forceEnd("hangup", CODE_REGULAR, "ended by request");
      else this.#forceEnd("system_error", CODE_FAILURE, "the service is stopping");
    });
  }

  /**
   * Lets go of a call that nobody has joined, without an end: the next start of this node takes it up again from its
   * record. False when it was joined or is over.
   */
  release(): boolean {
    if (this.#over || this.hasJoined) return false;
    this.#close();
    void this.#records.flush().finally(this.#ended);
    return true;
  }

  /** The join, or the return after a loss. */
  connect(open: OpenTransport, info: ConnectInfo): void {
    if (this.joinState() !== "joinable") throw new Error("the call is not waiting for a connection");
    const settled = Promise.withResolvers<void>();
    const connection: Connection = { transport: null, closed: settled.promise };
    const listener = this.#listener(connection, settled.resolve);
    connection.transport = open(this.#plan.medium, listener);
    this.#connection = connection;
    const kept = info.keepsAudio === true ? { keepsAudio: true } : {};
    if (this.#media !== null) {
      this.#media.attach();
      this.post({ type: "transportRestored", ...kept });
      return;
    }
    this.#info = info;
    this.#joinedAtMs = this.#atMs();
    this.#guard(() => {
      this.#media = this.#openMedia(connection.transport!);
      this.post({ type: "joined", debug: info.experimentalMessages.includes("debug"), ...kept });
      for (const detail of this.#plan.warnings) this.post({ type: "engineWarned", engine: "stt", detail });
      this.#media.start();
    });
  }

  /** Whether the connection is alive. */
  async isAlive(limitMs: number): Promise<boolean> {
    return (await this.#connection?.transport?.probe(limitMs)) ?? false;
  }

  /** The same. A dead one is dropped, and the call is joinable again. */
  async probe(limitMs: number): Promise<boolean> {
    const connection = this.#connection;
    const transport = connection?.transport ?? null;
    if (connection === null || transport === null) return false;
    if (await transport.probe(limitMs)) return true;
    transport.close(CODE_REGULAR, "replaced");
    this.#lose(connection, false);
    return false;
  }

  #atMs(): number {
    // Whole milliseconds: enough for every decision, and small integers keep events cheap.
    this.#lastAtMs = Math.max(this.#lastAtMs, Math.floor(this.#deps.clock.nowMs() - this.#originMs));
    return this.#lastAtMs;
  }

  #wallClock(atMs: number): Date {
    return new Date(this.#originWallMs + atMs);
  }

  #handle(event: CallEngineEvent): void {
    if (this.#over) return;
    try {
      this.#log.add(this.#state, event);
      this.#kept?.add(event);
      const { state, effects } = step(this.#state, event);
      this.#state = state;
      for (const effect of effects) this.#start(effect);
    } catch (error) {
      this.fault(error);
    }
  }

  #start(effect: CallEffect): void {
    if (this.#over) return;
    switch (effect.type) {
      case "openUtterance":
      case "requestTranscript":
      case "abandonUtterance":
      case "synthesize":
      case "speak":
      case "pausePlayout":
      case "resumePlayout":
      case "clearPlayout":
        this.#media?.apply(effect);
        break;
      case "abortReply":
        this.#work.apply(effect);
        this.#media?.abortReply(effect.replyId);
        break;
      case "generateReply":
      case "invokeTool":
      case "abortTool":
      case "prepareStage":
        this.#work.apply(effect);
        break;
      case "setTimer":
        this.#setTimer(effect.timerId, effect.delayMs);
        break;
      case "cancelTimer":
        this.#timers.get(effect.timerId)?.();
        this.#timers.delete(effect.timerId);
        break;
      case "sendDataMessage":
        this.#connection?.transport?.sendData(effect.message);
        break;
      case "sendDataConnectionMessage":
        this.#media?.dataChannel?.send(effect.message);
        break;
      case "judgeTurn":
        this.#judges.ask(effect, () => this.#media?.utteranceAudio(effect.utteranceId) ?? null);
        break;
      case "beginStage":
        this.#media?.follow(effect.stage.languageHint);
        this.#record(effect);
        break;
      case "recordToolError":
      case "recordJoined":
      case "recordMessage":
      case "recordCallEvent":
        this.#record(effect);
        break;
      case "recordTurnLatency":
        this.#deps.records.turnLatency(this.callId, effect.latency);
        break;
      case "endCall":
        this.#end(effect);
        break;
    }
  }

  #record(effect: RecordEffect): void {
    recordEffect(effect, this.#records, {
      now: this.#wallClock(this.#lastAtMs),
      joinedAt: this.#wallClock(this.#joinedAtMs ?? this.#lastAtMs),
      clientVersion: this.#info?.clientVersion ?? null,
    });
  }

  #setTimer(timerId: number, delayMs: number): void {
    const dueAtMs = this.#lastAtMs + delayMs;
    this.#timers.get(timerId)?.();
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#timers.delete(timerId);
      // The machine's timers may fire a fraction early; the engine's time has then come all the same.
      this.#lastAtMs = Math.max(this.#lastAtMs, dueAtMs);
      this.post({ type: "timerFired", timerId });
    });
    this.#timers.set(timerId, cancel);
  }

  #openMedia(transport: Transport): CallMedia {
    return new CallMedia({
      plan: this.#plan,
      deps: this.#deps,
      transport,
      send: (frame) => this.#connection?.transport?.sendAudio(frame),
      post: this.post,
      faulted: this.fault,
    });
  }

  #listener(connection: Connection, settled: () => void): TransportListener {
    const current = () => this.#connection === connection && !this.#over;
    return {
      audio: (samples) => {
        if (!current()) return;
        this.#guard(() => this.#media?.audio(samples));
      },
      data: (text, tooLong) => {
        if (!current()) return;
        this.#guard(() => {
          this.post(readClientData(text, tooLong, "client"));
        });
      },
      problem: (problem) => {
        const nowMs = this.#deps.clock.nowMs();
        const lastMs = this.#problemAtMs.get(problem) ?? Number.NEGATIVE_INFINITY;
        if (!current() || nowMs - lastMs < PROBLEM_INTERVAL_MS) return;
        this.#problemAtMs.set(problem, nowMs);
        this.post({ type: "transportProblemNoticed", problem });
      },
      closed: (regular) => {
        settled();
        this.#lose(connection, regular);
      },
    };
  }

  #lose(connection: Connection, regular: boolean): void {
    if (this.#connection !== connection || this.#over) return;
    this.#connection = null;
    this.#media?.detach();
    const graceMs = connection.transport?.graceMs ?? null;
    if (regular) this.post({ type: "transportHungUp" });
    else this.post({ type: "transportLost", ...(graceMs === null ? {} : { graceMs }) });
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.fault(error);
    }
  }

  /** The engine cannot end the call any more. */
  #giveUp(error: unknown): void {
    if (this.#over) return;
    if (!this.#faulted) this.#recordFault(error);
    this.#forceEnd("system_error", CODE_FAILURE, messageOf(error));
  }

  #forceEnd(reason: EndReason, closeCode: number, detail: string): void {
    this.#end({ reason, closeCode, detail, latestInputTokens: null });
  }

  #recordFault(error: unknown): void {
    this.#deps.logger.error({ callId: this.callId, error: stackOf(error) }, "a call failed");
    this.#records.fault({ plan: this.#plan, error: stackOf(error), log: this.#log.read() });
  }

  #end(end: EndCall): void {
    if (this.#over) return;
    const endedAtMs = this.#atMs();
    this.#close();
    const eventLog = this.#kept?.finish() ?? null;
    const connection = this.#connection;
    this.#connection = null;
    connection?.transport?.close(end.closeCode, end.reason);
    const remains = {
      callId: this.callId,
      clock: this.#deps.clock,
      logger: this.#deps.logger,
      records: this.#records,
      recorder: this.#media?.recorder ?? null,
      disconnected: connection?.closed ?? Promise.resolve(),
      dataChannel: this.#media?.dataChannel ?? null,
    };
    void finishCall(remains, {
      reason: end.reason,
      joinedAt: this.#joinedAtMs === null ? null : this.#wallClock(this.#joinedAtMs),
      endedAt: this.#wallClock(endedAtMs),
      detail: end.detail,
      latestInputTokens: end.latestInputTokens,
      eventLog,
    }).finally(this.#ended);
  }

  #close(): void {
    this.#over = true;
    this.#mailbox.close();
    this.#cancelEndLimit?.();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#work.close();
    this.#judges.close();
    try {
      this.#media?.close();
    } catch (error) {
      // Whatever ended the call may be broken in here as well; the end must go on record all the same.
      this.#deps.logger.error({ callId: this.callId, error: stackOf(error) }, "the media did not close");
    }
  }
}
