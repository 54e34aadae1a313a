/** Registry of the calls in this process, from creation to end. */

import type { ClientDataMessage } from "@parley/schema";
import type { Answerer } from "../call/life/answerer-state.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { CallDeps, CallStart, ConnectInfo, OpenTransport } from "./call-deps.ts";
import { CallRunner } from "./call-runner.ts";

export type { Answerer, OpenTransport };

/** `joinable`: never joined, or lost and within its grace. `not_live`: ended, or never of this process. */
export type JoinState = "joinable" | "connected" | "not_live";

/** `joined`: another connection has the call. `gone`: the call is over, or is not of this process. */
/** `elsewhere`: the call is leaving this process, and its client may come again. */
export type ConnectOutcome = "connected" | "joined" | "gone" | "elsewhere";

/** `full`: as many calls as `maxLiveCalls`. `draining`: the process is shutting down. */
export type StartOutcome = "started" | "full" | "draining";

/** `later`: another process has run the call, and its client has not come back to this one yet. */
export type SendOutcome = "accepted" | "not_joined" | "not_live" | "later";

export interface DrainSummary {
  /** Calls that ended by themselves within the limit. */
  readonly ended: number;
  /** Calls that were ended because the limit had passed. */
  readonly cut: number;
  /** Calls that no one had joined; the next start of this node resumes them. */
  readonly waiting: number;
  /** Calls that any process may continue. */
  readonly handedOver: number;
}

/**
 * `joined`: its client is connected here. `kept`: it cannot be continued elsewhere, or its last snapshot is not stored
 * yet. `gone`: it is over, or is not of this process.
 */
export type HandoverOutcome = "handed_over" | "joined" | "kept" | "gone";

export interface LiveCallsDeps extends CallDeps {
  /** Limit of calls in this process, counted from creation to end. */
  readonly maxLiveCalls: number;
}

export interface LiveCalls {
  /** After `started` the call waits for its join, or for the return of its client where it was `resumed`. */
  startCall(plan: CallPlan, start: CallStart): StartOutcome;
  /** Whether one more call can start now. */
  capacity(): "free" | Exclude<StartOutcome, "started">;
  joinState(callId: string): JoinState;
  /** Gives a connection to a call; `open` is called only if the result is `connected`. */
  connectCall(callId: string, open: OpenTransport, info: ConnectInfo): Promise<ConnectOutcome>;
  /** The result that a join would have, without joining; a connection that is silent must answer. */
  awaitsJoin(callId: string): Promise<"joinable" | Exclude<ConnectOutcome, "connected">>;
  sendToCall(callId: string, message: ClientDataMessage): SendOutcome;
  /** The account of a live call; null when it is not live. */
  accountOf(callId: string): string | null;
  /** Ends the call as a hang-up; false when it is not live. */
  endCall(callId: string): boolean;
  /** A carrier has found out who has answered a call; false when it is not live. */
  noteAnswerer(callId: string, answerer: Answerer): boolean;
  /** The other side has transferred a call, and somebody else has answered; false when it is not live. */
  noteReplacedUser(callId: string): boolean;
  /** Connected calls whose carrier may still find out who has answered. */
  awaitingAnswerer(): readonly string[];
  /** Ends a call that no one has joined, as unjoined; false when it was joined or is not live. */
  endUnjoined(callId: string): boolean;
  /**
   * Takes a call that no one has joined out of this process; its record stays as it is. False when it was joined or is
   * not live.
   */
  release(callId: string): Promise<boolean>;
  /** Gives a joined call up whose client is not connected, so that any process may continue it. */
  handOver(callId: string): Promise<HandoverOutcome>;
  /** Its end is being stored, or it is being handed over. */
  isLeaving(callId: string): boolean;
  /** Another process continues the call: it stops here without an end. */
  abandon(callId: string): void;
  /** Calls from creation until their final record is written. */
  count(): number;
  /** The ids of the same. */
  callIds(): readonly string[];
  /**
   * Refuses new calls, releases those that no one has joined (their records stay open for the next start), and hands
   * those over whose clients come back elsewhere. Waits up to `limitMs` for the others to end, then ends the rest and
   * waits for their records.
   */
  drain(limitMs: number): Promise<DrainSummary>;
}

/** A connection that was silent for this long must answer before another takes its place. */
const PROBE_LIMIT_MS = 1_000;
/** A call that leaves for another node waits this long for its tools. The other node waits for two seconds. */
const TOOLS_LIMIT_MS = 500;
/** Wait for the last snapshot and the release of a call. */
const LEAVE_LIMIT_MS = 1_400;
/** 200 calls a second are handed over at the beginning of a shutdown. */
const HANDOVERS_AT_ONCE = 10;
const HANDOVER_PAUSE_MS = 50;
/** Wait for the ends of the calls that a drain has cut off. */
const CUT_LIMIT_MS = 8_000;

export function openLiveCalls(deps: LiveCallsDeps): LiveCalls {
  return new CallRegistry(deps);
}

class CallRegistry implements LiveCalls {
  readonly #deps: LiveCallsDeps;
  readonly #calls = new Map<string, CallRunner>();
  readonly #emptied = new Set<() => void>();
  /** By call: called when it has left. */
  readonly #leaving = new Map<string, ((isHandedOver: boolean) => void)[]>();
  #handedOver = 0;
  #draining = false;

  constructor(deps: LiveCallsDeps) {
    this.#deps = deps;
  }

  capacity(): "free" | Exclude<StartOutcome, "started"> {
    if (this.#draining) return "draining";
    return this.#calls.size >= this.#deps.maxLiveCalls ? "full" : "free";
  }

  startCall(plan: CallPlan, start: CallStart): StartOutcome {
    const capacity = this.capacity();
    if (capacity !== "free") return capacity;
    if (this.#calls.has(plan.callId)) throw new Error(`call ${plan.callId} is live already`);
    // A call keeps the engines that it began with; those of the deployment may change.
    const deps = { ...this.#deps, engines: { ...this.#deps.engines } };
    const runner = new CallRunner(plan, start, deps, (isHandedOver) => {
      if (isHandedOver) this.#handedOver += 1;
      this.#calls.delete(plan.callId);
      for (const left of this.#leaving.get(plan.callId) ?? []) left(isHandedOver);
      this.#leaving.delete(plan.callId);
      if (this.#calls.size === 0) for (const emptied of this.#emptied) emptied();
    });
    this.#calls.set(plan.callId, runner);
    if (start.resumed === undefined) runner.post({ type: "started" });
    return "started";
  }

  joinState(callId: string): JoinState {
    const state = this.#calls.get(callId)?.joinState() ?? "over";
    return state === "over" ? "not_live" : state;
  }

  async connectCall(callId: string, open: OpenTransport, info: ConnectInfo): Promise<ConnectOutcome> {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return endOf(runner);
    // A carrier has one stream for a call at a time, so the next one says that the other is over.
    if (runner.isReplacedBy(info)) runner.drop();
    // A client that lost its network comes back before we can know that its old connection is dead.
    if (runner.joinState() === "connected" && (await runner.probe(PROBE_LIMIT_MS))) return "joined";
    // Another connection may have come meanwhile, or the end.
    if (runner.joinState() === "over") return endOf(runner);
    if (runner.joinState() === "connected") return "joined";
    runner.connect(open, info);
    return "connected";
  }

  async awaitsJoin(callId: string): Promise<"joinable" | Exclude<ConnectOutcome, "connected">> {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return endOf(runner);
    if (runner.joinState() === "connected" && (await runner.isAlive(PROBE_LIMIT_MS))) return "joined";
    return runner.joinState() === "over" ? endOf(runner) : "joinable";
  }

  sendToCall(callId: string, message: ClientDataMessage): SendOutcome {
    const runner = this.#calls.get(callId);
    if (runner === undefined) return "not_live";
    if (runner.joinState() === "over") return runner.hasLeft ? "later" : "not_live";
    if (runner.joined === "never") return "not_joined";
    // It would be lost with the state of before the return.
    if (runner.joined === "elsewhere") return "later";
    runner.post({ type: "dataMessageReceived", message, source: "api" });
    return "accepted";
  }

  accountOf(callId: string): string | null {
    return this.#calls.get(callId)?.accountId ?? null;
  }

  endCall(callId: string): boolean {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return false;
    runner.requestEnd("hangup");
    return true;
  }

  endUnjoined(callId: string): boolean {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over" || runner.joined !== "never") return false;
    runner.post({ type: "endRequested", cause: "unjoined" });
    return true;
  }

  noteAnswerer(callId: string, answerer: Answerer): boolean {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return false;
    runner.answerer.report(answerer);
    return true;
  }

  noteReplacedUser(callId: string): boolean {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return false;
    runner.post({ type: "userReplaced" });
    return true;
  }

  awaitingAnswerer(): readonly string[] {
    return [...this.#calls].flatMap(([callId, runner]) => (runner.answerer.isAwaited ? [callId] : []));
  }

  async release(callId: string): Promise<boolean> {
    const runner = this.#calls.get(callId);
    if (runner === undefined) return false;
    if (!runner.release()) return false;
    await this.#leaves(callId, null);
    return true;
  }

  async handOver(callId: string): Promise<HandoverOutcome> {
    const runner = this.#calls.get(callId);
    if (runner === undefined) return "gone";
    // The connection of a client that is here wins; a dead one is dropped.
    if (runner.joinState() === "connected" && (await runner.probe(PROBE_LIMIT_MS))) return "joined";
    if (runner.joinState() === "joinable") {
      if (!runner.canBeHandedOver) return "kept";
      runner.post({ type: "handoverRequested", limitMs: TOOLS_LIMIT_MS });
    }
    // It may be leaving already: to its end, or because another node has asked as well.
    return this.#leaves(callId, LEAVE_LIMIT_MS);
  }

  isLeaving(callId: string): boolean {
    return this.#calls.get(callId)?.joinState() === "over";
  }

  abandon(callId: string): void {
    this.#calls.get(callId)?.abandon();
  }

  count(): number {
    return this.#calls.size;
  }

  callIds(): readonly string[] {
    return [...this.#calls.keys()];
  }

  async drain(limitMs: number): Promise<DrainSummary> {
    this.#draining = true;
    const waiting = [...this.#calls.values()].filter((runner) => runner.release()).length;
    const before = this.#calls.size - waiting;
    const earlier = this.#handedOver;
    const untilMs = this.#deps.clock.nowMs() + Math.max(limitMs, await this.#requestHandovers(limitMs));
    const isEmpty = await this.#empty(Math.max(0, untilMs - this.#deps.clock.nowMs()));
    const handedOver = this.#handedOver - earlier;
    if (isEmpty) return { ended: before - handedOver, cut: 0, waiting, handedOver };
    const cut = this.#calls.size;
    for (const runner of this.#calls.values()) runner.requestEnd("shutdown");
    if (!(await this.#empty(CUT_LIMIT_MS))) {
      this.#deps.logger.error({ calls: this.#calls.size }, "the end of some calls is not stored yet");
    }
    return { ended: before - cut - handedOver, cut, waiting, handedOver };
  }

  /**
   * A few at a time, because their clients come back at the other nodes at once. Returns how long the calls may take to
   * leave: 0 where there is none to hand over.
   */
  async #requestHandovers(limitMs: number): Promise<number> {
    const runners = [...this.#calls.values()].filter((runner) => runner.canBeHandedOver);
    const speechLimitMs = Math.max(0, limitMs - LEAVE_LIMIT_MS);
    for (const [index, runner] of runners.entries()) {
      if (index > 0 && index % HANDOVERS_AT_ONCE === 0) await this.#pause(HANDOVER_PAUSE_MS);
      if (runner.canBeHandedOver) runner.post({ type: "handoverRequested", limitMs: speechLimitMs });
    }
    return runners.length === 0 ? 0 : LEAVE_LIMIT_MS;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#deps.clock.after(ms, resolve));
  }

  /** How it has left; `kept`: not within the limit. */
  #leaves(callId: string, limitMs: number | null): Promise<HandoverOutcome> {
    return new Promise((resolve) => {
      const cancel = limitMs === null ? null : this.#deps.clock.after(limitMs, () => resolve("kept"));
      const left = (isHandedOver: boolean): void => {
        cancel?.();
        resolve(isHandedOver ? "handed_over" : "gone");
      };
      this.#leaving.set(callId, [...(this.#leaving.get(callId) ?? []), left]);
    });
  }

  /** Whether no call is left within `limitMs`. */
  #empty(limitMs: number): Promise<boolean> {
    if (this.#calls.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (empty: boolean) => {
        cancel();
        this.#emptied.delete(emptied);
        resolve(empty);
      };
      const emptied = () => {
        settle(true);
      };
      const cancel = this.#deps.clock.after(limitMs, () => {
        settle(false);
      });
      this.#emptied.add(emptied);
    });
  }
}

function endOf(runner: CallRunner | undefined): "gone" | "elsewhere" {
  return runner?.hasLeft === true ? "elsewhere" : "gone";
}
