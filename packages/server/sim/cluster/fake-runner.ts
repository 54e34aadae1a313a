/**
 * The calls of one simulated process. In place of a conversation each call counts its turns: a turn is stored with a
 * snapshot by the functions of the service, and then a tool is called, as after each snapshot that knows of one.
 */

import { setTimeout as wait } from "node:timers/promises";
import type { CallSnapshot } from "../../src/call/adoption/snapshot.ts";
import type { CallPlan } from "../../src/plan/plan.ts";
import type { CallStart } from "../../src/runner/call-deps.ts";
import type { CallRecords } from "../../src/runner/records/call-records.ts";
import type { HandoverOutcome, JoinState, LiveCalls, StartOutcome } from "../../src/runner/live-calls.ts";
import type { Draw } from "../draw.ts";
import type { Ledger } from "./ledger.ts";

/** Between two turns, ms. */
const TURN_MS = { min: 300, max: 3_000 } as const;
/** Between two tries of a record that was not written. */
const RETRY_MS = 1_000;
/** As that of `LiveCalls.handOver`. */
const LEAVE_LIMIT_MS = 1_400;
/** From the creation of a call on. */
export const JOIN_LIMIT_MS = 120_000;
/** As `reconnectGraceMs` of a plan. */
const RETURN_GRACE_MS = 10_000;

/** What the snapshots of a simulated call hold besides what the service needs. */
export interface SimulatedSnapshot extends CallSnapshot {
  readonly turns: number;
}

interface FakeCall {
  readonly plan: CallPlan;
  /** Its client has been connected in this process. */
  wasConnected: boolean;
  turns: number;
  isConnected: boolean;
  losses: number;
  hasJoined: boolean;
  /** The client has hung up. */
  isEnding: boolean;
  /** It is not of this process any more. */
  hasLeft: boolean;
  readonly left: PromiseWithResolvers<"handed_over" | "gone">;
  /** The record that is being written, and those before it. */
  writing: Promise<void>;
}

export interface FakeRunnerDeps {
  readonly bootId: string;
  readonly records: () => CallRecords;
  /** Whether the lease of the process is held, by its own clock. */
  readonly isHeld: () => boolean;
  readonly snapshot: CallSnapshot;
  readonly draw: Draw;
  readonly ledger: Ledger;
  /** The connection of its client is closed. */
  readonly closed: (callId: string) => void;
}

export class FakeRunner implements LiveCalls {
  readonly #deps: FakeRunnerDeps;
  readonly #calls = new Map<string, FakeCall>();

  constructor(deps: FakeRunnerDeps) {
    this.#deps = deps;
  }

  startCall(plan: CallPlan, { resumed }: CallStart): StartOutcome {
    const { ledger, bootId } = this.#deps;
    if (this.#calls.has(plan.callId)) throw new Error(`call ${plan.callId} is live already`);
    const turns = resumed === undefined ? 0 : (resumed.snapshot as SimulatedSnapshot).turns;
    if (resumed !== undefined) ledger.resumed(plan.callId, bootId, turns);
    this.#calls.set(plan.callId, {
      plan,
      wasConnected: false,
      turns,
      isConnected: false,
      losses: 0,
      hasJoined: resumed !== undefined,
      isEnding: false,
      hasLeft: false,
      left: Promise.withResolvers(),
      writing: Promise.resolve(),
    });
    if (resumed === undefined) void this.#awaitJoin(plan.callId);
    return "started";
  }

  /** The client of a call that waits for it is there. False: the call is not here, or has left meanwhile. */
  attach(callId: string): boolean {
    const call = this.#calls.get(callId);
    if (call === undefined || call.isEnding) return false;
    const begins = !call.isConnected;
    call.isConnected = true;
    call.wasConnected = true;
    if (begins) void this.#converse(callId, call);
    return true;
  }

  /** The network of the client is lost; the call waits for its return, and then ends. */
  detach(callId: string): void {
    const call = this.#calls.get(callId);
    if (call === undefined || !call.isConnected) return;
    call.isConnected = false;
    call.losses += 1;
    void this.#awaitReturn(callId, call, call.losses);
  }

  hangUp(callId: string): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#requestEnd(callId, call);
  }

  capacity(): "free" {
    return "free";
  }

  joinState(callId: string): JoinState {
    const call = this.#calls.get(callId);
    if (call === undefined || call.isEnding) return "not_live";
    return call.isConnected ? "connected" : "joinable";
  }

  async connectCall(): Promise<never> {
    throw new Error("a simulated call has no transport");
  }

  async awaitsJoin(callId: string): Promise<"joinable" | "joined" | "gone"> {
    const state = this.joinState(callId);
    return state === "connected" ? "joined" : state === "joinable" ? "joinable" : "gone";
  }

  sendToCall(): "not_live" {
    return "not_live";
  }

  accountOf(callId: string): string | null {
    return this.#calls.get(callId)?.plan.accountId ?? null;
  }

  endCall(callId: string): boolean {
    const call = this.#calls.get(callId);
    if (call === undefined || call.isEnding) return false;
    this.#requestEnd(callId, call);
    return true;
  }

  /** Nothing more is done with it. */
  noteAnswerer(callId: string): boolean {
    return this.#calls.has(callId);
  }

  noteReplacedUser(callId: string): boolean {
    return this.#calls.has(callId);
  }

  awaitingAnswerer(): readonly string[] {
    return [];
  }

  endUnjoined(callId: string): boolean {
    const call = this.#calls.get(callId);
    if (call === undefined || call.isEnding || call.hasJoined) return false;
    call.isEnding = true;
    void this.#end(callId, call, "unjoined");
    return true;
  }

  async release(callId: string): Promise<boolean> {
    const call = this.#calls.get(callId);
    if (call === undefined || call.wasConnected || call.isEnding) return false;
    this.#leave(callId, call);
    return true;
  }

  async handOver(callId: string): Promise<HandoverOutcome> {
    const call = this.#calls.get(callId);
    if (call === undefined) return "gone";
    if (!call.isEnding) {
      if (call.isConnected) return "joined";
      if (!call.wasConnected) return "kept";
      call.isEnding = true;
      void this.#handOver(callId, call);
    }
    return Promise.race([call.left.promise, wait(LEAVE_LIMIT_MS, "kept" as const)]);
  }

  isLeaving(callId: string): boolean {
    return this.#calls.get(callId)?.isEnding === true;
  }

  abandon(callId: string): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#leave(callId, call);
  }

  count(): number {
    return this.#calls.size;
  }

  callIds(): readonly string[] {
    return [...this.#calls.keys()];
  }

  async drain(): Promise<never> {
    throw new Error("a simulated process does not stop in order");
  }

  /** Tried once, as in the service: where it fails, the call stays with this process, which does not run it any more. */
  async #handOver(callId: string, call: FakeCall): Promise<void> {
    await call.writing;
    if (call.hasLeft) return;
    const isHandedOver = await this.#deps
      .records()
      .handOver(callId)
      .then(
        () => true,
        () => false,
      );
    this.#leave(callId, call, isHandedOver);
  }

  /** The client has hung up, or the call is ended from outside: also where its connection was lost meanwhile. */
  #requestEnd(callId: string, call: FakeCall): void {
    if (call.isEnding) return;
    call.isEnding = true;
    void this.#end(callId, call, "hangup");
  }

  async #awaitJoin(callId: string): Promise<void> {
    await wait(JOIN_LIMIT_MS);
    this.endUnjoined(callId);
  }

  async #awaitReturn(callId: string, call: FakeCall, losses: number): Promise<void> {
    await wait(RETURN_GRACE_MS);
    if (call.isConnected || call.isEnding || call.hasLeft || call.losses !== losses) return;
    call.isEnding = true;
    this.#deps.ledger.clientLost(callId);
    await this.#end(callId, call, "connection_error");
  }

  #leave(callId: string, call: FakeCall, isHandedOver = false): void {
    if (call.hasLeft) return;
    call.hasLeft = true;
    call.isConnected = false;
    this.#calls.delete(callId);
    call.left.resolve(isHandedOver ? "handed_over" : "gone");
    this.#deps.closed(callId);
  }

  async #converse(callId: string, call: FakeCall): Promise<void> {
    const { draw, records } = this.#deps;
    if (!call.hasJoined) {
      call.hasJoined = true;
      const joined = { joinedAt: new Date(Date.now()), clientVersion: null };
      // Both are in the queue before the call can leave.
      void this.#written(call, () => records().joined(callId, joined));
      await this.#store(callId, call);
    }
    const { losses } = call;
    const goesOn = (): boolean =>
      !call.hasLeft && !call.isEnding && call.isConnected && call.losses === losses;
    while (goesOn()) {
      await wait(draw.whole(TURN_MS.min, TURN_MS.max));
      if (!goesOn()) break;
      call.turns += 1;
      await this.#store(callId, call);
      if (!call.hasLeft && this.#deps.isHeld())
        this.#deps.ledger.toolCalled(callId, this.#deps.bootId, call.turns);
    }
  }

  async #store(callId: string, call: FakeCall): Promise<void> {
    const { records, snapshot, ledger, bootId } = this.#deps;
    const { turns } = call;
    const simulated: SimulatedSnapshot = { ...snapshot, turns };
    const counts = { versions: 0, toolFailures: [], initialTokens: [] };
    await this.#written(call, () => records().snapshot(callId, { snapshot: simulated, counts, use: [] }));
    if (!call.hasLeft) ledger.stored(callId, bootId, turns);
  }

  async #end(
    callId: string,
    call: FakeCall,
    reason: "hangup" | "connection_error" | "unjoined",
  ): Promise<void> {
    const { records } = this.#deps;
    const record = {
      reason,
      joinedAt: null,
      endedAt: new Date(Date.now()),
      detail: null,
      eventLog: null,
    };
    await this.#written(call, () => records().ended(callId, record));
    this.#leave(callId, call);
  }

  /** As the queue of records does: in order, and again until it is written. */
  #written(call: FakeCall, write: () => Promise<void>): Promise<void> {
    call.writing = call.writing.then(async () => {
      while (!call.hasLeft) {
        try {
          await write();
          return;
        } catch {
          await wait(RETRY_MS);
        }
      }
    });
    return call.writing;
  }
}
