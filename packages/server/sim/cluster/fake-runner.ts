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
    });
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
    if (call !== undefined) call.isEnding = true;
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
    if (call === undefined) return false;
    call.isEnding = true;
    return true;
  }

  noteAnswerer(): boolean {
    return false;
  }

  noteReplacedUser(): boolean {
    return false;
  }

  awaitingAnswerer(): readonly string[] {
    return [];
  }

  endUnjoined(): boolean {
    return false;
  }

  async release(callId: string): Promise<boolean> {
    const call = this.#calls.get(callId);
    if (call === undefined || call.wasConnected) return false;
    this.#leave(callId, call);
    return true;
  }

  async handOver(callId: string): Promise<HandoverOutcome> {
    const call = this.#calls.get(callId);
    if (call === undefined || call.isEnding) return "gone";
    if (call.isConnected) return "joined";
    if (!call.hasJoined) return "kept";
    call.isEnding = true;
    await this.#written(call, () => this.#deps.records().handOver(callId));
    this.#leave(callId, call);
    return "handed_over";
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

  async #awaitReturn(callId: string, call: FakeCall, losses: number): Promise<void> {
    await wait(RETURN_GRACE_MS);
    if (call.isConnected || call.isEnding || call.hasLeft || call.losses !== losses) return;
    call.isEnding = true;
    this.#deps.ledger.clientLost(callId);
    await this.#end(callId, call, "connection_error");
  }

  #leave(callId: string, call: FakeCall): void {
    call.hasLeft = true;
    call.isConnected = false;
    this.#calls.delete(callId);
    this.#deps.closed(callId);
  }

  async #converse(callId: string, call: FakeCall): Promise<void> {
    const { draw, records } = this.#deps;
    if (!call.hasJoined) {
      call.hasJoined = true;
      const joined = { joinedAt: new Date(Date.now()), clientVersion: null };
      await this.#written(call, () => records().joined(callId, joined));
      await this.#store(callId, call);
    }
    while (!call.hasLeft && !call.isEnding && call.isConnected) {
      await wait(draw.whole(TURN_MS.min, TURN_MS.max));
      if (call.hasLeft || call.isEnding || !call.isConnected) break;
      call.turns += 1;
      await this.#store(callId, call);
      if (!call.hasLeft && this.#deps.isHeld())
        this.#deps.ledger.toolCalled(callId, this.#deps.bootId, call.turns);
    }
    if (call.isEnding && call.isConnected && !call.hasLeft) await this.#end(callId, call, "hangup");
  }

  async #store(callId: string, call: FakeCall): Promise<void> {
    const { records, snapshot, ledger, bootId } = this.#deps;
    const { turns } = call;
    const simulated: SimulatedSnapshot = { ...snapshot, turns };
    const counts = { versions: 0, toolFailures: [], initialTokens: [] };
    await this.#written(call, () => records().snapshot(callId, { snapshot: simulated, counts, use: [] }));
    if (!call.hasLeft) ledger.stored(callId, bootId, turns);
  }

  async #end(callId: string, call: FakeCall, reason: "hangup" | "connection_error"): Promise<void> {
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
  async #written(call: FakeCall, write: () => Promise<void>): Promise<void> {
    while (!call.hasLeft) {
      try {
        await write();
        return;
      } catch {
        await wait(RETRY_MS);
      }
    }
  }
}
