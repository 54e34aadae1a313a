/** The calls that live in this process, from creation to end. */

import { ApiError, type ClientDataMessage } from "@parley/schema";
import type { CallPlan } from "../call/plan.ts";
import type { CallDeps, CallStart, ConnectInfo, OpenTransport } from "./call-deps.ts";
import { CallRunner } from "./call-runner.ts";

export type { OpenTransport } from "./call-deps.ts";

/** `joinable`: never joined, or lost and within its grace. `not_live`: ended, or never of this process. */
export type JoinState = "joinable" | "connected" | "not_live";

export type ConnectOutcome = "connected" | "joined" | "gone";

export type SendOutcome = "accepted" | "not_joined" | "not_live";

export interface DrainSummary {
  /** Calls that ended by themselves within the limit. */
  readonly ended: number;
  /** Calls that were ended because the limit had passed. */
  readonly cut: number;
  /** Calls that nobody had joined; the next start of this node takes them up again. */
  readonly waiting: number;
}

export interface LiveCallsDeps extends CallDeps {
  /** Calls from creation to end that this process takes. */
  readonly maxLiveCalls: number;
}

export interface LiveCalls {
  /** The call waits for its join from now on. Throws ApiError `no_capacity` when full or draining. */
  startCall(plan: CallPlan, start: CallStart): void;
  joinState(callId: string): JoinState;
  /** Gives a connection to a call; `open` is called only on the way to `connected`. */
  connectCall(callId: string, open: OpenTransport, info: ConnectInfo): Promise<ConnectOutcome>;
  /** What a join would come to, without one; a connection that is silent must answer. */
  awaitsJoin(callId: string): Promise<"joinable" | Exclude<ConnectOutcome, "connected">>;
  sendToCall(callId: string, message: ClientDataMessage): SendOutcome;
  /** Ends the call as a hang-up; false when it is not live. */
  endCall(callId: string): boolean;
  /** Ends a call that nobody has joined, as unjoined; false when somebody has, or it is not live. */
  endUnjoined(callId: string): boolean;
  /** Calls from creation until their final record is written. */
  count(): number;
  /** The ids of the same. */
  callIds(): readonly string[];
  /**
   * Refuses new calls, lets go of those that nobody has joined (their records stay open for the next start), waits up
   * to `limitMs` for the others to end, then ends what is left and waits for its records.
   */
  drain(limitMs: number): Promise<DrainSummary>;
}

/** A connection that was silent for this long must answer before another takes its place. */
const PROBE_LIMIT_MS = 1_000;
/** Wait for the ends of the calls that a drain has cut. */
const CUT_LIMIT_MS = 8_000;
/** How soon a refused caller may try again. */
const RETRY_AFTER_SECONDS = 5;

export function openLiveCalls(deps: LiveCallsDeps): LiveCalls {
  return new CallRegistry(deps);
}

class CallRegistry implements LiveCalls {
  readonly #deps: LiveCallsDeps;
  readonly #calls = new Map<string, CallRunner>();
  readonly #emptied = new Set<() => void>();
  #draining = false;

  constructor(deps: LiveCallsDeps) {
    this.#deps = deps;
  }

  startCall(plan: CallPlan, start: CallStart): void {
    if (this.#draining) throw noCapacity("the service is stopping");
    if (this.#calls.size >= this.#deps.maxLiveCalls) throw noCapacity("all lines are taken");
    if (this.#calls.has(plan.callId)) throw new Error(`call ${plan.callId} is live already`);
    const runner = new CallRunner(plan, start, this.#deps, () => {
      this.#calls.delete(plan.callId);
      if (this.#calls.size === 0) for (const emptied of this.#emptied) emptied();
    });
    this.#calls.set(plan.callId, runner);
    runner.post({ type: "started" });
  }

  joinState(callId: string): JoinState {
    const state = this.#calls.get(callId)?.joinState() ?? "over";
    return state === "over" ? "not_live" : state;
  }

  async connectCall(callId: string, open: OpenTransport, info: ConnectInfo): Promise<ConnectOutcome> {
    const runner = this.#calls.get(callId);
    if (runner === undefined || runner.joinState() === "over") return "gone";
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
      this.#deps.logger.error({ calls: this.#calls.size }, "the end of some calls is not on record yet");
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

function noCapacity(detail: string): ApiError {
  return new ApiError("no_capacity", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
