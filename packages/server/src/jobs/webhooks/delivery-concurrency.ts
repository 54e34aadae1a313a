/**
 * Limits how many deliveries are sent concurrently: in all, per account and per receiver. A receiver whose last attempt
 * failed gets less.
 */

import { changeCount, mostOfAccount } from "../account-shares.ts";

/** Limit in all. Each is a socket and a body; with 10 s for an attempt, so many receivers may hang and others pass. */
const MAX_IN_FLIGHT = 512;
/** Limit of one account, however many receivers it has. */
const MAX_PER_ACCOUNT = mostOfAccount(MAX_IN_FLIGHT);
/** Limit of one receiver that answers. At 20 ms an answer that is 1,600 a second. */
const MAX_PER_RECEIVER = 32;
/** Limit of one receiver whose last attempt failed: enough to notice its recovery. */
const MAX_PER_FAILING_RECEIVER = 2;
/** Beyond this many in all a receiver gets a single one, so that a few slow ones cannot take all places. */
const CROWDED = MAX_IN_FLIGHT / 2;
/** Receivers whose last attempt is stored as failed; an evicted one is treated as one that answers. */
const MAX_REMEMBERED_FAILING = 2_000;

export interface DeliveryConcurrency {
  readonly inFlight: () => number;
  /** What may be claimed now. */
  readonly room: () => {
    readonly total: number;
    readonly perReceiver: number;
    readonly receivers: ReadonlyMap<string, number>;
    readonly perAccount: number;
    readonly accounts: ReadonlyMap<string, number>;
  };
  start(delivery: DeliveryPlaces): void;
  /** `failed` null: the attempt was not completed. */
  finish(delivery: DeliveryPlaces, failed: boolean | null): void;
}

/** The account and the receiver whose places a delivery takes. */
export interface DeliveryPlaces {
  readonly receiver: string;
  readonly accountId: string;
}

export function openDeliveryConcurrency(): DeliveryConcurrency {
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
    start({ receiver, accountId }) {
      inFlight += 1;
      changeCount(underWay, receiver, 1);
      changeCount(ofAccounts, accountId, 1);
    },
    finish({ receiver, accountId }, failed) {
      inFlight -= 1;
      changeCount(underWay, receiver, -1);
      changeCount(ofAccounts, accountId, -1);
      if (failed === false) failing.delete(receiver);
      else if (failed === true && failing.size < MAX_REMEMBERED_FAILING) failing.add(receiver);
    },
  };
}
