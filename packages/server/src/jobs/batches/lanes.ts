/** How many scheduled calls are made at a time, of each batch and in all. */

import { changeCount, mostOfAccount } from "../account-shares.ts";
import type { CallRoom, ClaimedBatch, ClaimedCall } from "../../store/batch-claims.ts";

/** In all. Most of them wait for the receiver of their batch, up to 10 s each. */
const MAX_UNDER_WAY = 64;
/** Of one account, however many batches it has. */
const MAX_PER_ACCOUNT = mostOfAccount(MAX_UNDER_WAY);
/** Of one batch: with 20 ms for a call and its webhook 800 in a second. */
const MAX_PER_BATCH = 16;
/** Calls that are claimed for each place, so that none is idle while the next ones are claimed. */
const CLAIMED_PER_PLACE = 2;
/** Batches whose pace is remembered; a forgotten one begins anew with a single call. */
const MAX_REMEMBERED = 1_000;

/** A claimed call, and what it is to be made with. */
export interface Work {
  readonly batch: ClaimedBatch;
  readonly call: ClaimedCall;
}

/** `well`: the batch may go quicker. `badly`: it goes one by one. `later`: a limit said no, and it goes slower. */
export type CallPace = "well" | "badly" | "later";

export interface BatchLanes {
  /** Null: nothing more can be taken for now. */
  room(): CallRoom | null;
  enter(batch: ClaimedBatch): void;
  /** A call whose place is taken with this. Null: none waits that may be made now. */
  next(): Work | null;
  /** The place is free again. */
  leave(batchId: string, went: CallPace): void;
  /** Takes out the calls of a batch that were not begun. */
  drop(batchId: string): readonly Work[];
  /** Nothing of the batch is begun or claimed until it is let go: its wait is not on record yet. */
  hold(batchId: string): void;
  letGo(batchId: string): void;
  isHeld(batchId: string): boolean;
  /** Takes out one call. */
  remove(claimId: string): void;
  /** A claim of more of the batch is worth its while. */
  wants(batchId: string): boolean;
  batchIds(): readonly string[];
}

interface Lane {
  readonly accountId: string;
  /** Begins with one, so that what goes wrong goes wrong once, and doubles with each that goes well. */
  places: number;
  underWay: number;
  waiting: Work[];
}

/** Many at once: a claim costs about as much for one call as for sixteen. */
function roomOf(lane: Lane): number {
  const room = lane.places * CLAIMED_PER_PLACE - lane.underWay - lane.waiting.length;
  return room < lane.places ? 0 : room;
}

function roomBeside(lanes: ReadonlyMap<string, Lane>, held: ReadonlySet<string>): CallRoom | null {
  let waiting = 0;
  const batches = new Map<string, number>();
  const claimed = new Map<string, number>();
  for (const [batchId, lane] of lanes) {
    waiting += lane.waiting.length;
    claimed.set(lane.accountId, (claimed.get(lane.accountId) ?? 0) + lane.waiting.length + lane.underWay);
    batches.set(batchId, roomOf(lane));
  }
  for (const batchId of held) batches.set(batchId, 0);
  if (waiting >= MAX_UNDER_WAY * CLAIMED_PER_PLACE) return null;
  const isFull = (calls: number): boolean => calls >= MAX_PER_ACCOUNT * CLAIMED_PER_PLACE;
  const fullAccounts = [...claimed].flatMap(([id, calls]) => (isFull(calls) ? [id] : []));
  return { perBatch: CLAIMED_PER_PLACE, batches, fullAccounts };
}

export function openBatchLanes(): BatchLanes {
  const lanes = new Map<string, Lane>();
  const held = new Set<string>();
  /** Calls under way, of accounts that have some. */
  const ofAccounts = new Map<string, number>();
  let underWay = 0;
  const isIdle = (lane: Lane): boolean => lane.underWay === 0 && lane.waiting.length === 0;
  const forget = (): void => {
    for (const [batchId, lane] of lanes) {
      if (lanes.size <= MAX_REMEMBERED) return;
      if (isIdle(lane)) lanes.delete(batchId);
    }
  };
  const laneOf = ({ batchId, accountId }: ClaimedBatch): Lane => {
    const lane = lanes.get(batchId) ?? { accountId, places: 1, underWay: 0, waiting: [] };
    lanes.set(batchId, lane);
    return lane;
  };
  const count = (lane: Lane, change: 1 | -1): void => {
    lane.underWay += change;
    underWay += change;
    changeCount(ofAccounts, lane.accountId, change);
  };
  return {
    room: () => roomBeside(lanes, held),
    enter(batch) {
      laneOf(batch).waiting.push(...batch.calls.map((call) => ({ batch, call })));
      forget();
    },
    next() {
      if (underWay >= MAX_UNDER_WAY) return null;
      for (const [batchId, lane] of lanes) {
        if (lane.underWay >= lane.places || held.has(batchId)) continue;
        if ((ofAccounts.get(lane.accountId) ?? 0) >= MAX_PER_ACCOUNT) continue;
        const work = lane.waiting.shift();
        if (work === undefined) continue;
        count(lane, 1);
        // To the end of the line: the others have their turn first.
        lanes.delete(batchId);
        lanes.set(batchId, lane);
        return work;
      }
      return null;
    },
    leave(batchId, went) {
      const lane = lanes.get(batchId);
      if (lane === undefined) return;
      count(lane, -1);
      // Of those that a limit sends back together, one counts.
      if (went !== "later" || !held.has(batchId)) lane.places = placesAfter(lane.places, went);
      if (went !== "well" && isIdle(lane)) lanes.delete(batchId);
    },
    drop(batchId) {
      return lanes.get(batchId)?.waiting.splice(0) ?? [];
    },
    hold: (batchId) => void held.add(batchId),
    letGo: (batchId) => void held.delete(batchId),
    isHeld: (batchId) => held.has(batchId),
    remove(claimId) {
      for (const lane of lanes.values()) {
        lane.waiting = lane.waiting.filter(({ call }) => call.claimId !== claimId);
      }
    },
    wants(batchId) {
      const lane = lanes.get(batchId);
      return !held.has(batchId) && (lane === undefined || roomOf(lane) > 0);
    },
    batchIds: () => [...lanes.keys()],
  };
}

function placesAfter(places: number, went: CallPace): number {
  if (went === "badly") return 1;
  return went === "well" ? Math.min(MAX_PER_BATCH, places * 2) : Math.max(1, places / 2);
}
