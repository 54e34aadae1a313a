/**
 * Event loop of one live call: takes one event, applies the engine's `step`, starts its effects without waiting, and
 * takes the next. A failure in here ends this call and no other.
 */

import { initialState, step, type CallState } from "../call/call.ts";
import type { CallEngineEvent, CallEngineEventBody } from "../call/events.ts";
import { awaitedResults } from "../call/tools/awaited.ts";
import { RECONNECT_MESSAGES } from "@parley/schema";
import type { CallPlan } from "../plan/plan.ts";
import type { Transport, TransportListener } from "../ports/transport.ts";
import type { CallDeps, CallStart, ConnectInfo, OpenTransport } from "./call-deps.ts";
import { CallClock } from "./call-clock.ts";
import { CODES, type EndCall } from "./call-ends.ts";
import { listenerOf, type Connection } from "./call-listener.ts";
import { startEffect, type EffectTargets } from "./effects.ts";
import { ForcedEnd } from "./forced-end.ts";
import { firstEvent, mediaAtMs, resumedAtMs, type ResumedCall } from "./resumed-call.ts";
import { CallMedia } from "./speech/call-media.ts";
import { CallAnswerer } from "./speech/call-answerer.ts";
import { mediumMeans } from "./speech/medium-means.ts";
import { CallTasks } from "./tasks/call-tasks.ts";
import { MessageGate } from "./data-connection/message-gate.ts";
import { finishCall, type CallRemains } from "./records/finish-call.ts";
import { abandonCall, leaveCall } from "./records/leave-call.ts";
import { ForcedChecks } from "./tasks/forced-calls.ts";
import { TurnDetectors } from "./speech/turn-detectors.ts";
import { CallLog } from "./records/call-log.ts";
import type { EventChunk } from "./records/event-chunks.ts";
import { Mailbox } from "./mailbox.ts";
import { ProblemNotices } from "./problem-notices.ts";
import { RecordQueue } from "./records/record-queue.ts";
import { Snapshots } from "./records/snapshots.ts";
import { CallReport } from "./traces/call-report.ts";
import { CallUse } from "./use/call-use.ts";
import { stackOf } from "../pacing/error-text.ts";

export class CallRunner {
  readonly callId: string;
  readonly accountId: string;
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
  readonly #ended: (isHandedOver: boolean) => void;
  #state: CallState;
  readonly #log: CallLog;
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
  /** The client of the connection comes back when it is asked to. */
  #returns = false;
  readonly #forcedEnd: ForcedEnd;
  #over = false;
  /** It is over here without an end: another process continues it, or may. */
  hasLeft = false;

  /** @param ended called once, when the final record is written or any process may continue the call */
  constructor(plan: CallPlan, start: CallStart, deps: CallDeps, ended: (isHandedOver: boolean) => void) {
    this.callId = plan.callId;
    this.accountId = plan.accountId;
    this.#plan = plan;
    this.#deps = deps;
    this.#ended = ended;
    this.#problems = new ProblemNotices(deps.clock);
    const { resumed = null, createdAt } = start;
    this.#resumed = resumed;
    const fired = (timerId: number): void => this.post({ type: "timerFired", timerId });
    this.#clock = new CallClock(deps.clock, createdAt, fired, resumedAtMs(resumed));
    this.#joinedAtMs = resumed?.snapshot.state.clock.joinedAtMs ?? null;
    this.#report = new CallReport(plan, deps, (atMs) => this.#clock.wallClock(atMs).getTime());
    const { callId, stage } = plan;
    this.#records = new RecordQueue({ callId, stageId: stage.stageId }, deps, resumed?.counts ?? null);
    this.#use = new CallUse({
      currency: deps.currency ?? null,
      record: (event) => this.#records.callEvent(event),
      before: resumed?.use ?? [],
    });
    this.#state = initialState(plan);
    const write = (chunk: EventChunk): void => this.#records.eventChunk(chunk);
    this.#log = new CallLog(this.#state, deps.storeEventLogs ? write : null, resumed?.eventLog);
    this.#mailbox = new Mailbox(
      (event) => this.#handle(event),
      (error) => this.#forcedEnd.giveUp(error),
    );
    this.#forcedEnd = new ForcedEnd({
      clock: deps.clock,
      isOver: () => this.#over,
      post: this.post,
      record: (error) => this.#recordFault(error),
      end: (end) => this.#end(end),
    });
    const reports = { use: this.#use, post: this.post, served: this.#report.served, faulted: this.fault };
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

  readonly fault = (error: unknown): void => {
    this.#forcedEnd.fault(error);
  };

  requestEnd(cause: "hangup" | "shutdown"): void {
    this.#forcedEnd.request(cause);
  }

  /** Whether another process can continue the call: it has joined, and its client comes back, or is not there. */
  get canBeHandedOver(): boolean {
    if (this.#over || this.#media === null || !this.#snapshots.isOn) return false;
    return this.#connection === null || this.#returns || this.#plan.medium.returns === true;
  }

  /**
   * Releases a call that no one has joined in this process, without an end: a process resumes it from its record.
   * False when it was joined here or is over.
   */
  release(): boolean {
    if (this.#over || this.#media !== null) return false;
    this.#close(true);
    void this.#records.flush().finally(() => this.#ended(false));
    return true;
  }

  /** Another process has taken the call: this one stops without an end, and writes nothing more about it. */
  abandon(): void {
    if (this.#over) return;
    const connection = this.#connection;
    this.#connection = null;
    this.#close(true);
    abandonCall(this.#remains(connection), connection);
    this.#ended(false);
  }

  /** The join, or the return after a loss. */
  connect(open: OpenTransport, info: ConnectInfo): void {
    if (this.joinState() !== "joinable") throw new Error("the call is not waiting for a connection");
    const settled = Promise.withResolvers<void>();
    const connection: Connection = { transport: null, closed: settled.promise };
    connection.transport = open(this.#plan.medium, this.#listener(connection, settled.resolve));
    if (this.#media?.fits(connection.transport) === false) {
      connection.transport.close(CODES.wrongData, "the audio has other sample rates than before");
      return;
    }
    this.#connection = connection;
    this.#returns = info.experimentalMessages.includes(RECONNECT_MESSAGES);
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
      handOver: () => this.#handOver(),
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

  #recordFault(error: unknown): void {
    this.#deps.logger.error({ callId: this.callId, error: stackOf(error) }, "a call failed");
    this.#records.fault({ plan: this.#plan, error: stackOf(error), log: this.#log.read() });
  }

  #end(end: EndCall): void {
    if (this.#over) return;
    const endedAtMs = this.#clock.atMs();
    this.#report.ended(end, this.#joinedAtMs, endedAtMs);
    this.#close();
    const eventLog = this.#log.finish();
    const connection = this.#connection;
    this.#connection = null;
    connection?.transport?.close(end.closeCode, end.reason);
    void finishCall(this.#remains(connection), {
      reason: end.reason,
      joinedAt: this.#joinedAt(),
      endedAt: this.#clock.wallClock(endedAtMs),
      detail: end.detail,
      eventLog,
    }).finally(() => this.#ended(false));
  }

  /** Another process is to continue the call. */
  #handOver(): void {
    const connection = this.#connection;
    this.#connection = null;
    this.#log.finish();
    this.#close(true);
    void leaveCall(this.#remains(connection), connection).then(this.#ended);
  }

  #remains(connection: Connection | null): CallRemains {
    return {
      ...this.#deps,
      callId: this.callId,
      records: this.#records,
      use: this.#use,
      recorder: this.#media?.recorder ?? null,
      disconnected: connection?.closed ?? Promise.resolve(),
      dataChannel: this.#media?.dataChannel ?? null,
    };
  }

  #close(leaves = false): void {
    this.#over = true;
    this.hasLeft = leaves;
    this.#mailbox.close();
    this.#messageGate.close();
    this.#forcedEnd.close();
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
