/**
 * Limits how many scheduled calls are created concurrently: in all, per account and per batch. A batch starts with one
 * call (slow start), doubles after each success, halves when a limit is reached, and goes back to one after a failure.
 */

import { changeCount, mostOfAccount } from "../account-shares.ts";
import type { CallRoom, ClaimedBatch, ClaimedCall } from "../../store/batches/batch-claims.ts";

/** Limit in all. Most of them wait for the receiver of their batch, up to 10 s each. */
const MAX_UNDER_WAY = 64;
/** Limit of one account, however many batches it has. */
const MAX_PER_ACCOUNT = mostOfAccount(MAX_UNDER_WAY);
/** Limit of one batch: with 20 ms for a call and its webhook, 800 a second. */
const MAX_PER_BATCH = 16;
/** Calls that are claimed for each place, so that none is idle during the next claim. */
const CLAIMED_PER_PLACE = 2;
/** Batches whose pace is stored; one that was evicted starts with a single call again. */
const MAX_REMEMBERED = 1_000;

/** A claimed call, and the settings to create it with. */
export interface Work {
  readonly batch: ClaimedBatch;
  readonly call: ClaimedCall;
}

/** `well`: the batch may go faster. `badly`: it goes one by one. `later`: a limit was reached, and it goes slower. */
export type CallPace = "well" | "badly" | "later";

export interface BatchConcurrency {
  /** Null: nothing more can be claimed for now. */
  room(): CallRoom | null;
  add(batch: ClaimedBatch): void;
  /** A call, which takes its place. Null: no waiting call may be created now. */
  next(): Work | null;
  /** The place is free again. */
  finish(batchId: string, went: CallPace): void;
  /** Removes the calls of a batch that were not begun. */
  drop(batchId: string): readonly Work[];
  /** Nothing of the batch is begun or claimed until it is released: its wait is not stored yet. */
  hold(batchId: string): void;
  release(batchId: string): void;
  isHeld(batchId: string): boolean;
  /** Removes one call. */
  remove(claimId: string): void;
  /** Whether another claim of the batch is worthwhile. */
  wants(batchId: string): boolean;
  batchIds(): readonly string[];
}

interface BatchQueue {
  readonly accountId: string;
  /** Starts with one, so that a fault occurs once, and doubles after each success. */
  places: number;
  underWay: number;
  waiting: Work[];
}

/** Claims many at once: a claim costs about as much for one call as for sixteen. */
function roomOf(queue: BatchQueue): number {
  const room = queue.places * CLAIMED_PER_PLACE - queue.underWay - queue.waiting.length;
  return room < queue.places ? 0 : room;
}

function totalRoom(queues: ReadonlyMap<string, BatchQueue>, held: ReadonlySet<string>): CallRoom | null {
  let waiting = 0;
  const batches = new Map<string, number>();
  const claimed = new Map<string, number>();
  for (const [batchId, queue] of queues) {
    waiting += queue.waiting.length;
    claimed.set(queue.accountId, (claimed.get(queue.accountId) ?? 0) + queue.waiting.length + queue.underWay);
    batches.set(batchId, roomOf(queue));
  }
  for (const batchId of held) batches.set(batchId, 0);
  if (waiting >= MAX_UNDER_WAY * CLAIMED_PER_PLACE) return null;
  const isFull = (calls: number): boolean => calls >= MAX_PER_ACCOUNT * CLAIMED_PER_PLACE;
  const fullAccounts = [...claimed].flatMap(([id, calls]) => (isFull(calls) ? [id] : []));
  return { perBatch: CLAIMED_PER_PLACE, batches, fullAccounts };
}

export function openBatchConcurrency(): BatchConcurrency {
  const queues = new Map<string, BatchQueue>();
  const held = new Set<string>();
  /** Number of calls under way, by account; none with zero. */
  const ofAccounts = new Map<string, number>();
  let underWay = 0;
  const isIdle = (queue: BatchQueue): boolean => queue.underWay === 0 && queue.waiting.length === 0;
  const evict = (): void => {
    for (const [batchId, queue] of queues) {
      if (queues.size <= MAX_REMEMBERED) return;
      if (isIdle(queue)) queues.delete(batchId);
    }
  };
  const queueOf = ({ batchId, accountId }: ClaimedBatch): BatchQueue => {
    const queue = queues.get(batchId) ?? { accountId, places: 1, underWay: 0, waiting: [] };
    queues.set(batchId, queue);
    return queue;
  };
  const count = (queue: BatchQueue, change: 1 | -1): void => {
    queue.underWay += change;
    underWay += change;
    changeCount(ofAccounts, queue.accountId, change);
  };
  return {
    room: () => totalRoom(queues, held),
    add(batch) {
      queueOf(batch).waiting.push(...batch.calls.map((call) => ({ batch, call })));
      evict();
    },
    next() {
      if (underWay >= MAX_UNDER_WAY) return null;
      for (const [batchId, queue] of queues) {
        if (queue.underWay >= queue.places || held.has(batchId)) continue;
        if ((ofAccounts.get(queue.accountId) ?? 0) >= MAX_PER_ACCOUNT) continue;
        const work = queue.waiting.shift();
        if (work === undefined) continue;
        count(queue, 1);
        // Moves to the end of the line, so that the other batches come first.
        queues.delete(batchId);
        queues.set(batchId, queue);
        return work;
      }
      return null;
    },
    finish(batchId, went) {
      const queue = queues.get(batchId);
      if (queue === undefined) return;
      count(queue, -1);
      // Of those that a limit sends back together, only one counts.
      if (went !== "later" || !held.has(batchId)) queue.places = placesAfter(queue.places, went);
      if (went !== "well" && isIdle(queue)) queues.delete(batchId);
    },
    drop(batchId) {
      return queues.get(batchId)?.waiting.splice(0) ?? [];
    },
    hold: (batchId) => void held.add(batchId),
    release: (batchId) => void held.delete(batchId),
    isHeld: (batchId) => held.has(batchId),
    remove(claimId) {
      for (const queue of queues.values()) {
        queue.waiting = queue.waiting.filter(({ call }) => call.claimId !== claimId);
      }
    },
    wants(batchId) {
      const queue = queues.get(batchId);
      return !held.has(batchId) && (queue === undefined || roomOf(queue) > 0);
    },
    batchIds: () => [...queues.keys()],
  };
}

function placesAfter(places: number, went: CallPace): number {
  if (went === "badly") return 1;
  return went === "well" ? Math.min(MAX_PER_BATCH, places * 2) : Math.max(1, places / 2);
}
