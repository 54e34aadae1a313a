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
export type ConnectOutcome = "connected" | "joined" | "gone";

/** `full`: as many calls as `maxLiveCalls`. `draining`: the process is shutting down. */
export type StartOutcome = "started" | "full" | "draining";

export type SendOutcome = "accepted" | "not_joined" | "not_live";

export interface DrainSummary {
  /** Calls that ended by themselves within the limit. */
  readonly ended: number;
  /** Calls that were ended because the limit had passed. */
  readonly cut: number;
  /** Calls that no one had joined; the next start of this node resumes them. */
  readonly waiting: number;
}

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
  /** Another process continues the call: it stops here without an end. */
  abandon(callId: string): void;
  /** Calls from creation until their final record is written. */
  count(): number;
  /** The ids of the same. */
  callIds(): readonly string[];
  /**
   * Refuses new calls, releases those that no one has joined (their records stay open for the next start), waits up to
   * `limitMs` for the others to end, then ends the rest and waits for their records.
   */
  drain(limitMs: number): Promise<DrainSummary>;
}

/** A connection that was silent for this long must answer before another takes its place. */
const PROBE_LIMIT_MS = 1_000;
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
  readonly #leaving = new Map<string, () => void>();
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
    const runner = new CallRunner(plan, start, deps, () => {
      this.#calls.delete(plan.callId);
      this.#leaving.get(plan.callId)?.();
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
    if (runner === undefined || runner.joinState() === "over") return "gone";
    // A carrier has one stream for a call at a time, so the next one says that the other is over.
    if (runner.isReplacedBy(info)) runner.drop();
    // A client that lost its network comes back before we can know that its old connection is dead.
    if (runner.joinState() === "connected" && (await runner.probe(PROBE_LIMIT_MS))) return "joined";
    // Another connection may have come meanwhile, or the end.
    if (runner.joinState() === "over") return "gone";
    if (runner.joinState() === "connected") return "joined";
    runner.connect(open, info);
    return "connected";
  }

  async awaitsJoin(callId: string): Promise<"joinable" | Exclude<ConnectOutcome, "connected">> {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return "gone";
    if (runner.joinState() === "connected" && (await runner.isAlive(PROBE_LIMIT_MS))) return "joined";
    return runner.joinState() === "over" ? "gone" : "joinable";
  }

  sendToCall(callId: string, message: ClientDataMessage): SendOutcome {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return "not_live";
    if (!runner.hasJoined) return "not_joined";
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
    if (runner === undefined || runner.joinState() === "over" || runner.hasJoined) return false;
    runner.post({ type: "endRequested", cause: "unjoined" });
    return true;
  }

  noteAnswerer(callId: string, answerer: Answerer): boolean {
    const runner = this.#calls.get(callId);
    runner?.answerer.report(answerer);
    return runner !== undefined;
  }

  noteReplacedUser(callId: string): boolean {
    const runner = this.#calls.get(callId);
    runner?.post({ type: "userReplaced" });
    return runner !== undefined;
  }

  awaitingAnswerer(): readonly string[] {
    return [...this.#calls].flatMap(([callId, runner]) => (runner.answerer.isAwaited ? [callId] : []));
  }

  async release(callId: string): Promise<boolean> {
    const runner = this.#calls.get(callId);
    if (runner === undefined) return false;
    const { promise: left, resolve } = Promise.withResolvers<void>();
    this.#leaving.set(callId, resolve);
    if (!runner.release()) {
      this.#leaving.delete(callId);
      return false;
    }
    await left;
    return true;
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
    if (await this.#empty(limitMs)) return { ended: before, cut: 0, waiting };
    const cut = this.#calls.size;
    for (const runner of this.#calls.values()) runner.requestEnd("shutdown");
    if (!(await this.#empty(CUT_LIMIT_MS))) {
      this.#deps.logger.error({ calls: this.#calls.size }, "the end of some calls is not stored yet");
    }
    return { ended: before - cut, cut, waiting };
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
