/** How many deliveries are on their way at a time, of each receiver and in all. */

import { changeCount, mostOfAccount } from "../account-shares.ts";

/** In all. Each is a socket and a body; with 10 s for an attempt, that many receivers may hang and others still pass. */
const MAX_IN_FLIGHT = 512;
/** Of one account, however many receivers it has. */
const MAX_PER_ACCOUNT = mostOfAccount(MAX_IN_FLIGHT);
/** Of one receiver that answers. At 20 ms an answer that is 1,600 in a second. */
const MAX_PER_RECEIVER = 32;
/** Of one receiver whose last attempt failed: enough to notice that it is back. */
const MAX_PER_FAILING_RECEIVER = 2;
/** Beyond this many in all a receiver gets a single one, so that a few slow ones cannot take everything. */
const CROWDED = MAX_IN_FLIGHT / 2;
/** Receivers whose last attempt is remembered as failed; a forgotten one is treated as one that answers. */
const MAX_REMEMBERED_FAILING = 2_000;

export interface Lanes {
  readonly inFlight: () => number;
  /** What may be claimed now. */
  readonly room: () => {
    readonly total: number;
    readonly perReceiver: number;
    readonly receivers: ReadonlyMap<string, number>;
    readonly perAccount: number;
    readonly accounts: ReadonlyMap<string, number>;
  };
  enter(delivery: Guest): void;
  /** `failed` null: the attempt did not come to an end. */
  leave(delivery: Guest, failed: boolean | null): void;
}

/** Whose places a delivery takes. */
export interface Guest {
  readonly receiver: string;
  readonly accountId: string;
}

export function openLanes(): Lanes {
  const underWay = new Map<string, number>();
  const ofAccounts = new Map<string, number>();
  const failing = new Set<string>();
  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    room() {
      const perReceiver = inFlight >= CROWDED ? 1 : MAX_PER_RECEIVER;
      const limitOf = (receiver: string): number =>
        failing.has(receiver) ? Math.min(perReceiver, MAX_PER_FAILING_RECEIVER) : perReceiver;
      const receivers = new Map<string, number>();
      for (const receiver of failing) receivers.set(receiver, limitOf(receiver));
      for (const [receiver, taken] of underWay) receivers.set(receiver, limitOf(receiver) - taken);
      const accounts = new Map([...ofAccounts].map(([id, taken]) => [id, MAX_PER_ACCOUNT - taken]));
      const total = MAX_IN_FLIGHT - inFlight;
      return { total, perReceiver, receivers, perAccount: MAX_PER_ACCOUNT, accounts };
    },
    enter({ receiver, accountId }) {
      inFlight += 1;
      changeCount(underWay, receiver, 1);
      changeCount(ofAccounts, accountId, 1);
    },
    leave({ receiver, accountId }, failed) {
      inFlight -= 1;
      changeCount(underWay, receiver, -1);
      changeCount(ofAccounts, accountId, -1);
      if (failed === false) failing.delete(receiver);
      else if (failed === true && failing.size < MAX_REMEMBERED_FAILING) failing.add(receiver);
    },
  };
}
