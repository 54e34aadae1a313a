/**
 * Creates scheduled calls: claims due calls while it has capacity, creates them concurrently, and writes their outcomes
 * in groups. It is woken when this process writes a batch, and polls for what other processes wrote. The work is stored
 * in the database, so that a crash loses none of it.
 *
 * The dispatcher is *new*, *open* after `start`, and *closed* after `close` (`ClaimLoop`). Only while it is open does
 * it claim calls and begin them. A claimed call goes through these states:
 *
 * - *waiting*: in the queue of its batch, not begun. It leaves when it begins, when its queue is dropped (it is given
 *   back), or when its claim is lost.
 * - *under way*: one promise in `#running`. Closing aborts it after `CLOSE_LIMIT_MS`.
 * - *ended*: its outcome is in `#ended`, by batch, until the transaction that stores it succeeds or is given up.
 *
 * `#held` has the claim from its start until its outcome is stored. Those claims are renewed, and a claim that cannot
 * be renewed aborts its call. A batch is *held* while its wait is not stored: none of its calls is begun or claimed.
 * `#timers` wake the dispatcher at the end of such waits; `#polls` are its two intervals.
 */

import {
  claimScheduledCalls,
  renewClaims,
  type ClaimedBatch,
  type ClaimedCall,
  type ScheduledPlace,
} from "../../store/batches/batch-claims.ts";
import { storeCallOutcomes, type CallOutcome } from "../../store/batches/batch-outcomes.ts";
import type { CreateCall } from "../../lifecycle/api.ts";
import { openKeyedSemaphore } from "../../pacing/semaphore.ts";
import { ClaimLoop, isTriedAgain, WriteLoop } from "../claim-loop.ts";
import { attemptCall, type AttemptEnd, type CallAttemptDeps } from "./attempt.ts";
import { openBatchConcurrency, type CallPace, type Work } from "./batch-concurrency.ts";
import { openSweeps, type Sweeps } from "./sweeps.ts";

export interface BatchDispatcher {
  /** Something may be due: call it after the transaction that wrote it. */
  wake(): void;
  start(): void;
  /** Claims nothing more, waits for what is under way, and gives back what was not begun. Idempotent. */
  close(): Promise<void>;
}

export interface BatchMetrics {
  /** `success`, `error`, `put_off`, `later` or `lost`. */
  ended(outcome: string): void;
  expired(count: number): void;
  underWay(count: number): void;
}

export interface BatchDispatcherDeps extends CallAttemptDeps {
  readonly metrics: BatchMetrics;
  readonly log: {
    readonly warn: (fields: object, message: string) => void;
    readonly error: (fields: object, message: string) => void;
  };
}

/** Interval of the poll for what other processes wrote, and for windows that open. */
const POLL_INTERVAL_MS = 1_000;
/** Limit of consecutive claims, each of one batch; then the dispatcher yields to other work of the process. */
const CLAIMS_AT_ONCE = 8;
/** Wait between such rounds while there is much to do. */
const CLAIM_INTERVAL_MS = 10;
/** Wait after a claim that the database refused. */
const FAILED_CLAIM_WAIT_MS = 1_000;
/** Renewal interval: three times within a lease. */
const RENEW_INTERVAL_MS = 10_000;
/** Calls that are created concurrently: more would only wait for the database, and delay live calls. */
const CREATED_AT_ONCE = 6;
/** Of these of one account, whose tools may be on a slow server. */
const CREATED_AT_ONCE_PER_ACCOUNT = 2;
/** Limit of calls under way at shutdown. After it their outcome is unknown. */
const CLOSE_LIMIT_MS = 5_000;
/** Longer waits end at a poll. */
const MAX_TIMED_WAIT_MS = 60_000;
/** Outcomes of this time are written together: a transaction costs about as much for one as for many. */
const GATHER_MS = 15;

export function openBatchDispatcher(deps: BatchDispatcherDeps): BatchDispatcher {
  const dispatcher = new Dispatcher(deps);
  return {
    wake: () => dispatcher.wake(),
    start: () => dispatcher.start(),
    close: () => dispatcher.close(),
  };
}

interface Ended {
  readonly outcomes: readonly CallOutcome[];
  /** Nothing else of the batch is claimed before this; monotonic clock. Null: it need not wait. */
  readonly waitsUntilMs: number | null;
  /** Time of the first failed write; null: none has failed. */
  readonly failingSinceMs: number | null;
}

class Dispatcher {
  readonly #deps: BatchDispatcherDeps;
  readonly #attemptDeps: CallAttemptDeps;
  readonly #concurrency = openBatchConcurrency();
  readonly #sweeps: Sweeps;
  readonly #stopping = new AbortController();
  /** Claims of this process whose outcome is not stored yet. */
  readonly #held = new Map<string, { readonly place: ScheduledPlace; readonly lost: AbortController }>();
  readonly #running = new Set<Promise<void>>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #claims: ClaimLoop;
  readonly #writes = new WriteLoop({ hasMore: () => this.#ended.size > 0, write: () => this.#write() });
  #closed: Promise<void> | null = null;
  #polls: NodeJS.Timeout[] = [];
  #renewing: Promise<void> | null = null;
  readonly #ended = new Map<string, Ended>();

  constructor(deps: BatchDispatcherDeps) {
    this.#deps = deps;
    const semaphore = openKeyedSemaphore({
      permits: CREATED_AT_ONCE,
      permitsPerKey: CREATED_AT_ONCE_PER_ACCOUNT,
    });
    const createCall: CreateCall = (call) => semaphore(call.accountId, () => deps.createCall(call));
    this.#attemptDeps = { ...deps, createCall };
    const claim = () => this.#claim();
    this.#claims = new ClaimLoop({ claim, intervalMs: CLAIM_INTERVAL_MS });
    this.#sweeps = openSweeps(deps, () => this.wake());
  }

  start(): void {
    if (!this.#claims.open()) return;
    this.#polls = [
      setInterval(() => this.wake(), POLL_INTERVAL_MS).unref(),
      setInterval(() => this.#renew(), RENEW_INTERVAL_MS).unref(),
    ];
    this.#sweeps.start();
    this.wake();
  }

  wake(): void {
    this.#claims.wake();
  }

  #wakeIn(waitMs: number): void {
    if (waitMs <= 0 || waitMs > MAX_TIMED_WAIT_MS || !this.#claims.isOpen) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.wake();
    }, waitMs);
    timer.unref();
    this.#timers.add(timer);
  }

  /** Never rejects. */
  async #claim(): Promise<void> {
    const { db, log } = this.#deps;
    try {
      for (let claims = 0; claims < CLAIMS_AT_ONCE; claims += 1) {
        const room = this.#concurrency.room();
        if (room === null || !this.#claims.isOpen) return;
        const batch = await claimScheduledCalls(db, room);
        if (batch === null) return;
        for (const { batchId, position, claimId } of batch.calls) {
          this.#held.set(claimId, { place: { batchId, position, claimId }, lost: new AbortController() });
        }
        this.#concurrency.add(batch);
        if (this.#concurrency.isHeld(batch.batchId)) this.#giveBack(batch.batchId);
        this.#begin();
      }
      this.wake();
    } catch (error) {
      log.error({ error: String(error) }, "scheduled calls could not be claimed; retrying");
      this.#claims.holdBack(FAILED_CLAIM_WAIT_MS);
      this.wake();
    }
  }

  /** Begins as many calls as there are free places. */
  #begin(): void {
    for (let work = this.#next(); work !== null; work = this.#next()) {
      const { batch, call } = work;
      const run = this.#run(batch, call).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
    this.#deps.metrics.underWay(this.#running.size);
  }

  #next(): Work | null {
    return this.#claims.isOpen ? this.#concurrency.next() : null;
  }

  /** Never rejects. */
  async #run(batch: ClaimedBatch, call: ClaimedCall): Promise<void> {
    const lost = this.#held.get(call.claimId)?.lost.signal;
    const signals = lost === undefined ? [this.#stopping.signal] : [this.#stopping.signal, lost];
    const end = await attemptCall(batch, call, this.#attemptDeps, AbortSignal.any(signals));
    this.#deps.metrics.ended(labelOf(end));
    this.#settle(call, end);
    // The next call of this batch, or of another, takes the free place.
    setImmediate(() => {
      this.#begin();
      if (this.#concurrency.wants(batch.batchId)) this.wake();
    });
  }

  #settle(call: ClaimedCall, end: AttemptEnd): void {
    const { batchId } = call;
    const waitMs = waitOf(end);
    this.#concurrency.finish(batchId, paceAfter(end));
    this.#note({ ...call, ...(end.kind === "ended" ? end.outcome : putBack(call)) }, waitMs);
    if (end.kind === "later" && end.of === "node") {
      this.#claims.holdBack(end.waitMs);
      for (const id of this.#concurrency.batchIds()) this.#giveBack(id);
    } else if (waitMs > 0) {
      this.#concurrency.hold(batchId);
      this.#giveBack(batchId);
    }
  }

  /** Gives back calls that were not begun, so that any process may claim them. */
  #giveBack(batchId: string): void {
    for (const { call } of this.#concurrency.drop(batchId)) this.#note({ ...call, ...putBack(call) }, 0);
  }

  #note(outcome: CallOutcome, waitMs: number): void {
    const waitsUntilMs = waitMs > 0 ? performance.now() + waitMs : null;
    this.#gather(outcome.batchId, { outcomes: [outcome], waitsUntilMs, failingSinceMs: null });
    this.#writes.soon();
  }

  #gather(batchId: string, more: Ended): void {
    const ended = this.#ended.get(batchId);
    this.#ended.set(batchId, {
      outcomes: [...(ended?.outcomes ?? []), ...more.outcomes],
      waitsUntilMs: later(ended?.waitsUntilMs ?? null, more.waitsUntilMs),
      failingSinceMs: more.failingSinceMs ?? ended?.failingSinceMs ?? null,
    });
  }

  /** All that ended during the last write goes into one transaction of its batch. Never rejects. */
  async #write(): Promise<void> {
    let isWanted = false;
    for (let [next] = this.#ended; next !== undefined; [next] = this.#ended) {
      const [batchId] = next;
      // What ends at the same moment is included.
      if (this.#claims.isOpen) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      const ended = this.#ended.get(batchId) ?? next[1];
      this.#ended.delete(batchId);
      const { outcomes, waitsUntilMs } = ended;
      // The time that it has waited until now counts.
      const waitMs = waitsUntilMs === null ? 0 : Math.max(1, Math.ceil(waitsUntilMs - performance.now()));
      if (!(await this.#keep(batchId, ended, waitMs))) continue;
      if (waitMs > 0) this.#concurrency.release(batchId);
      for (const { claimId } of outcomes) this.#held.delete(claimId);
      this.#wakeIn(waitMs);
      // A claim skips a batch while its outcomes are written.
      isWanted ||= this.#concurrency.wants(batchId);
    }
    if (isWanted) this.wake();
  }

  /** False: they wait for a retry, after those of other batches. */
  async #keep(batchId: string, ended: Ended, waitMs: number): Promise<boolean> {
    const { db, log } = this.#deps;
    const { outcomes } = ended;
    const failingSinceMs = ended.failingSinceMs ?? performance.now();
    try {
      const stored = await storeCallOutcomes(db, batchId, outcomes, waitMs);
      const pauseReason = stored?.pauseReason ?? null;
      if (pauseReason !== null) log.warn({ batchId, pauseReason }, "a batch was paused");
      return true;
    } catch (error) {
      const fields = { batchId, outcomes: outcomes.length, error: String(error) };
      log.warn(fields, "outcomes of scheduled calls could not be stored");
      if (!(await isTriedAgain(failingSinceMs, () => this.#claims.isOpen))) {
        log.error(
          fields,
          "outcomes of scheduled calls are dropped; the calls are settled when their claims expire",
        );
        return true;
      }
    }
    this.#gather(batchId, { ...ended, failingSinceMs });
    return false;
  }

  #renew(): void {
    if (this.#held.size === 0 || this.#renewing !== null) return;
    const { db, log } = this.#deps;
    const places = [...this.#held.values()].map(({ place }) => place);
    this.#renewing = renewClaims(db, places)
      .then((stored) => {
        for (const { claimId } of places) if (!stored.has(claimId)) this.#lose(claimId);
      })
      .catch((error: unknown) => log.warn({ error: String(error) }, "claims could not be renewed; retrying"))
      .finally(() => {
        this.#renewing = null;
      });
  }

  /** Another process settled it, or its outcome was stored while the claims were renewed. */
  #lose(claimId: string): void {
    this.#concurrency.remove(claimId);
    this.#held.get(claimId)?.lost.abort(new Error("the claim on a scheduled call is lost"));
    this.#held.delete(claimId);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const claimed = this.#claims.close();
    for (const timer of this.#timers) clearTimeout(timer);
    await claimed;
    for (const batchId of this.#concurrency.batchIds()) this.#giveBack(batchId);
    const limit = setTimeout(
      () => this.#stopping.abort(new Error("the service is stopping")),
      CLOSE_LIMIT_MS,
    );
    await Promise.all(this.#running);
    clearTimeout(limit);
    await this.#writes.settle();
    for (const poll of this.#polls) clearInterval(poll);
    await this.#renewing;
    await this.#sweeps.close();
  }
}

/** The call as it was before it was claimed. */
function putBack({ callId }: ClaimedCall): Omit<CallOutcome, keyof ScheduledPlace> {
  return {
    status: "FUTURE",
    error: null,
    callId,
    dueInMs: 0,
    attempted: false,
    lapsed: false,
    counts: null,
  };
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function paceAfter(end: AttemptEnd): CallPace {
  if (end.kind === "later") return "later";
  return end.kind === "ended" && end.outcome.status === "SUCCESS" ? "well" : "badly";
}

function waitOf(end: AttemptEnd): number {
  if (end.kind === "ended") return end.batchWaitMs ?? 0;
  return end.kind === "later" && end.of === "batch" ? end.waitMs : 0;
}

function labelOf(end: AttemptEnd): string {
  if (end.kind !== "ended") return end.kind;
  const labels = { SUCCESS: "success", ERROR: "error", FUTURE: "put_off" } as const;
  return labels[end.outcome.status];
}
