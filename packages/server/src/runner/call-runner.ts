/**
 * Event loop of one live call: takes one event, applies the engine's `step`, starts its effects without waiting, and
 * takes the next. A failure in here ends this call and no other.
 */

import { initialState, step, type CallState } from "../call/call.ts";
import type { CallEngineEvent, CallEngineEventBody } from "../call/events.ts";
import { awaitedResults } from "../call/tools/awaited.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { Transport, TransportListener } from "../ports/transport.ts";
import type { CallDeps, CallStart, ConnectInfo, OpenTransport } from "./call-deps.ts";
import { CallClock } from "./call-clock.ts";
import { CODES, END_LIMIT_MS, endOfRequest, failedEnd, FAULT_LIMIT_MS, type EndCall } from "./call-ends.ts";
import { listenerOf, type Connection } from "./call-listener.ts";
import { startEffect, type EffectTargets } from "./effects.ts";
import { firstEvent, mediaAtMs, resumedAtMs, type ResumedCall } from "./resumed-call.ts";
import { CallMedia } from "./speech/call-media.ts";
import { CallAnswerer } from "./speech/call-answerer.ts";
import { mediumMeans } from "./speech/medium-means.ts";
import { CallTasks } from "./tasks/call-tasks.ts";
import { MessageGate } from "./data-connection/message-gate.ts";
import { EventLogger } from "./records/event-log.ts";
import { finishCall } from "./records/finish-call.ts";
import { ForcedChecks } from "./tasks/forced-calls.ts";
import { TurnDetectors } from "./speech/turn-detectors.ts";
import { EventChunkWriter } from "./records/event-chunks.ts";
import { Mailbox } from "./mailbox.ts";
import { ProblemNotices } from "./problem-notices.ts";
import { RecordQueue } from "./records/record-queue.ts";
import { Snapshots } from "./records/snapshots.ts";
import { CallReport } from "./traces/call-report.ts";
import { CallUse } from "./use/call-use.ts";
import { messageOf, stackOf } from "../pacing/error-text.ts";

export class CallRunner {
  readonly callId: string;
  readonly answerer: CallAnswerer;
  readonly #plan: CallPlan;
  readonly #deps: CallDeps;
  readonly #clock: CallClock;
  readonly #mailbox: Mailbox<CallEngineEvent>;
  readonly #records: RecordQueue;
  readonly #tasks: CallTasks;
  readonly #turnDetectors: TurnDetectors;
  readonly #targets: EffectTargets;
  readonly #problems: ProblemNotices;
  readonly #ended: () => void;
  #state: CallState;
  #log: EventLogger<CallState>;
  readonly #eventChunks: EventChunkWriter | null;
  /** Of the client, whichever connection it has at the time. */
  readonly #messageGate: MessageGate;
  readonly #forcedChecks: ForcedChecks;
  readonly #report: CallReport;
  readonly #use: CallUse;
  readonly #snapshots: Snapshots;
  /** The call as another process left it; null: it began here. */
  readonly #resumed: ResumedCall | null;
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
    this.#problems = new ProblemNotices(deps.clock);
    const { resumed = null } = start;
    this.#resumed = resumed;
    const fired = (timerId: number): void => this.post({ type: "timerFired", timerId });
    this.#clock = new CallClock(deps.clock, start.createdAt, fired, resumedAtMs(resumed));
    this.#joinedAtMs = resumed?.snapshot.state.clock.joinedAtMs ?? null;
    this.#report = new CallReport(plan, deps, (atMs) => this.#clock.wallClock(atMs).getTime());
    const call = { callId: plan.callId, stageId: plan.stage.stageId };
    this.#records = new RecordQueue(call, deps, resumed?.counts ?? null);
    this.#use = new CallUse({
      currency: deps.currency ?? null,
      record: (event) => this.#records.callEvent(event),
      before: resumed?.use ?? [],
    });
    this.#state = initialState(plan);
    this.#log = new EventLogger(this.#state);
    this.#eventChunks = deps.storeEventLogs
      ? new EventChunkWriter((chunk) => this.#records.eventChunk(chunk), undefined, resumed?.eventLog)
      : null;
    this.#mailbox = new Mailbox(
      (event) => this.#handle(event),
      (error) => this.#giveUp(error),
    );
    const { served } = this.#report;
    const reports = { use: this.#use, post: this.post, served, faulted: this.fault };
    this.#tasks = new CallTasks(plan, deps, reports);
    this.#forcedChecks = new ForcedChecks({
      state: () => this.#state,
      checkArguments: (schema, value) => deps.checkArguments(plan.accountId, schema, value),
      post: this.#postChecked,
      faulted: this.fault,
    });
    this.#messageGate = new MessageGate({
      source: "client",
      clock: deps.clock,
      post: this.post,
      awaited: () => awaitedResults(this.#state, "client"),
    });
    this.#turnDetectors = new TurnDetectors(deps.engines.turnDetectors ?? [], this.post);
    this.#targets = this.#effectTargets();
    // Over SIP the other side cannot come back to another process.
    this.#snapshots = new Snapshots(deps.keepsSnapshots === true && plan.medium.kind !== "sip", {
      records: this.#records,
      use: this.#use,
      clock: deps.clock,
      lease: deps.lease,
      start: (effect) => {
        if (!this.#over) startEffect(this.#targets, effect);
      },
    });
    this.answerer = new CallAnswerer(plan, { nowMs: () => this.#clock.atMs(), post: this.post });
  }

  /** `joinable`: waits for its first connection, or for the next one after a loss. */
  joinState(): "joinable" | "connected" | "over" {
    if (this.#over) return "over";
    return this.#connection === null ? "joinable" : "connected";
  }

  get accountId(): string {
    return this.#plan.accountId;
  }

  /** `elsewhere`: at another process. Its state begins here with the return of its client (R176). */
  get joined(): "never" | "elsewhere" | "here" {
    if (this.#media !== null) return "here";
    return this.#resumed === null ? "never" : "elsewhere";
  }

  readonly post = (event: CallEngineEventBody): void => {
    if (!this.#over && !this.#forcedChecks.take(event)) this.#postChecked(event);
  };

  readonly #postChecked = (event: CallEngineEventBody): void => {
    if (!this.#over) this.#mailbox.post({ ...event, atMs: this.#clock.atMs() });
  };

  /** Ends the call after a failure that must not happen. */
  readonly fault = (error: unknown): void => {
    if (this.#over) return;
    if (this.#faulted) {
      this.#giveUp(error);
      return;
    }
    this.#faulted = true;
    this.#recordFault(error);
    this.#cancelEndLimit?.();
    this.#cancelEndLimit = this.#deps.clock.after(FAULT_LIMIT_MS, () => this.#giveUp(error));
    this.post({ type: "faulted", error: messageOf(error) });
  };

  /** Requests the end from the engine, and ends the call itself when the engine does not. */
  requestEnd(cause: "hangup" | "shutdown"): void {
    this.post({ type: "endRequested", cause });
    if (this.#over) return;
    this.#cancelEndLimit?.();
    this.#cancelEndLimit = this.#deps.clock.after(END_LIMIT_MS, () => {
      this.#end(endOfRequest(cause));
    });
  }

  /**
   * Releases a call that no one has joined in this process, without an end: a process resumes it from its record.
   * False when it was joined here or is over.
   */
  release(): boolean {
    if (this.#over || this.#media !== null) return false;
    this.#close();
    void this.#records.flush().finally(this.#ended);
    return true;
  }

  /** Another process has taken the call: this one stops without an end, and writes nothing more about it. */
  abandon(): void {
    if (this.#over) return;
    this.#connection?.transport?.close(CODES.restarting, "another process continues the call");
    this.#connection = null;
    this.#close();
    this.#records.drop();
    void this.#media?.recorder?.close().catch(() => undefined);
    void this.#media?.dataChannel?.close();
    this.#ended();
  }

  /** The join, or the return after a loss. */
  connect(open: OpenTransport, info: ConnectInfo): void {
    if (this.joinState() !== "joinable") throw new Error("the call is not waiting for a connection");
    const settled = Promise.withResolvers<void>();
    const connection: Connection = { transport: null, closed: settled.promise };
    const listener = this.#listener(connection, settled.resolve);
    connection.transport = open(this.#plan.medium, listener);
    if (this.#media?.fits(connection.transport) === false) {
      connection.transport.close(CODES.wrongData, "the audio has other sample rates than before");
      return;
    }
    this.#connection = connection;
    if (this.#media !== null) {
      this.#media.attach();
      this.post({ type: "transportRestored", ...(info.keepsAudio === true ? { keepsAudio: true } : {}) });
      return;
    }
    this.#info = info;
    const atMs = this.#clock.atMs();
    this.#joinedAtMs ??= atMs;
    const resumed = this.#resumed;
    const mediaMs = mediaAtMs(resumed, atMs);
    this.#guard(() => {
      this.#media = this.#openMedia(connection.transport!, mediaMs);
      this.post(firstEvent(resumed, info, mediaMs));
      const warnings = resumed === null ? this.#plan.warnings : [];
      for (const detail of warnings) this.post({ type: "engineWarned", engine: "stt", detail });
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
    if (connection === null || (await this.isAlive(limitMs))) return connection !== null;
    if (this.#connection === connection) this.drop();
    return false;
  }

  /** Whether the connection is the next stream of the carrier's call that this call has. */
  isReplacedBy({ carrierCallId = null }: ConnectInfo): boolean {
    if (carrierCallId === null || this.#plan.medium.returns !== true) return false;
    return carrierCallId === this.#info?.carrierCallId;
  }

  /** Drops the connection, if there is one: the call is joinable again. */
  drop(): void {
    if (this.#connection === null) return;
    this.#connection.transport?.close(CODES.regular, "replaced");
    this.#lose(this.#connection, false);
  }

  #joinedAt(): Date | null {
    return this.#joinedAtMs === null ? null : this.#clock.wallClock(this.#joinedAtMs);
  }

  #handle(event: CallEngineEvent): void {
    if (this.#over) return;
    try {
      this.#log.add(this.#state, event);
      this.#eventChunks?.add(event);
      const before = this.#state;
      const { state, effects } = step(before, event);
      this.#state = state;
      this.#report.observe(event, state, effects);
      this.#use.observe(event, state, effects);
      this.#snapshots.run(before, state, effects);
    } catch (error) {
      this.fault(error);
    }
  }

  #effectTargets(): EffectTargets {
    return {
      media: () => this.#media,
      transport: () => this.#connection?.transport ?? null,
      tasks: this.#tasks,
      turnDetectors: this.#turnDetectors,
      clock: this.#clock,
      records: this.#records,
      joined: () => ({
        joinedAt: this.#joinedAt() ?? this.#clock.lastEventAt(),
        clientVersion: this.#info?.clientVersion ?? null,
      }),
      engineFailed: (error) => {
        this.#deps.logger.warn({ callId: this.callId, error }, "an engine failed in a call");
      },
      turnLatency: (latency) => this.#deps.records.turnLatency(this.callId, latency),
      end: (end) => this.#end(end),
    };
  }

  #openMedia(transport: Transport, startMediaMs: number): CallMedia {
    return new CallMedia({
      startMediaMs,
      plan: this.#plan,
      deps: this.#deps,
      use: this.#use,
      greeting: this.#tasks.greeting,
      transport,
      send: (frame) => this.#connection?.transport?.sendAudio(frame),
      medium: mediumMeans(transport, () => this.#connection?.transport ?? null),
      answerer: this.answerer,
      awaited: () => awaitedResults(this.#state, "dataConnection"),
      judged: (utteranceId, finished) => this.#turnDetectors.heard(utteranceId, finished),
      served: this.#report.served,
      post: this.post,
      faulted: this.fault,
    });
  }

  #listener(connection: Connection, settled: () => void): TransportListener {
    return listenerOf({
      isCurrent: () => this.#connection === connection && !this.#over,
      media: () => this.#media,
      gate: this.#messageGate,
      problems: this.#problems,
      post: this.post,
      guard: (act) => this.#guard(act),
      closed: (regular) => {
        settled();
        this.#lose(connection, regular);
      },
    });
  }

  #lose(connection: Connection, regular: boolean): void {
    if (this.#connection !== connection || this.#over) return;
    this.#connection = null;
    this.#media?.detach();
    const graceMs = connection.transport?.graceMs ?? null;
    const lost = { type: "transportLost", ...(graceMs === null ? {} : { graceMs }) } as const;
    this.post(regular ? { type: "transportHungUp" } : lost);
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.fault(error);
    }
  }

  /** For when the engine can no longer end the call. */
  #giveUp(error: unknown): void {
    if (this.#over) return;
    if (!this.#faulted) this.#recordFault(error);
    this.#end(failedEnd(messageOf(error)));
  }

  #recordFault(error: unknown): void {
    this.#deps.logger.error({ callId: this.callId, error: stackOf(error) }, "a call failed");
    this.#records.fault({ plan: this.#plan, error: stackOf(error), log: this.#log.read() });
  }

  #end(end: EndCall): void {
    if (this.#over) return;
    const endedAtMs = this.#clock.atMs();
    this.#report.ended(end, this.#joinedAtMs, endedAtMs);
    this.#close();
    const eventLog = this.#eventChunks?.finish() ?? null;
    const connection = this.#connection;
    this.#connection = null;
    connection?.transport?.close(end.closeCode, end.reason);
    const remains = {
      ...this.#deps,
      callId: this.callId,
      records: this.#records,
      use: this.#use,
      recorder: this.#media?.recorder ?? null,
      disconnected: connection?.closed ?? Promise.resolve(),
      dataChannel: this.#media?.dataChannel ?? null,
    };
    void finishCall(remains, {
      reason: end.reason,
      joinedAt: this.#joinedAt(),
      endedAt: this.#clock.wallClock(endedAtMs),
      detail: end.detail,
      eventLog,
    }).finally(this.#ended);
  }

  #close(): void {
    this.#over = true;
    this.#mailbox.close();
    this.#messageGate.close();
    this.#cancelEndLimit?.();
    this.#clock.close();
    this.#tasks.close();
    this.#turnDetectors.close();
    try {
      this.#media?.close();
    } catch (error) {
      // The cause of the end may break this step as well; the end must be recorded anyway.
      this.#deps.logger.error({ callId: this.callId, error: stackOf(error) }, "the media did not close");
    }
  }
}
