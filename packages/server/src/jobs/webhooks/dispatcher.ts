/**
 * Delivers due webhooks: claims as many as there is capacity for, sends them concurrently, and stores the outcomes in
 * groups. It is woken when this process writes a delivery, and polls for what other processes wrote.
 */

import type { HeaderPrefix } from "@parley/schema";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { CallRow } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import {
  claimDeliveries,
  countPendingDeliveries,
  DELIVERY_LEASE_MS,
  storeBodies,
  storeOutcomes,
  releaseClaims,
  type AttemptOutcome,
  type ClaimedDelivery,
  type RenderedBody,
} from "../../store/webhooks/webhook-queue.ts";
import { ClaimLoop, isTriedAgain, WriteLoop } from "../claim-loop.ts";
import { ATTEMPT_LIMIT_MS, attemptDelivery, unsendable } from "./attempt.ts";
import { deliveryBody } from "./body.ts";
import { openDeliveryConcurrency } from "./delivery-concurrency.ts";

export interface WebhookDispatcher {
  /** Something may be due: call it after the transaction that wrote it. */
  wake(): void;
  start(): void;
  /** Waits for running attempts, then gives back those that were not completed. Idempotent. */
  close(): Promise<void>;
}

export interface DeliveryMetrics {
  /** `delivered`, `retry`, `failed` or `cut_off`. */
  attempted(outcome: string, durationMs: number): void;
  /** Time from the event to its first attempt. */
  firstAttempt(delayMs: number): void;
  pending(count: number): void;
}

export interface DispatcherDeps {
  readonly db: Db;
  readonly client: Pick<GuardedClient, "request">;
  /** The Call resource as answers have it. */
  readonly renderCall: (row: CallRow) => unknown;
  readonly prefixes: readonly HeaderPrefix[];
  readonly metrics: DeliveryMetrics;
  readonly log: {
    readonly warn: (fields: object, message: string) => void;
    readonly error: (fields: object, message: string) => void;
  };
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Interval of the poll for what other processes wrote and did not send, and for retries. */
const POLL_INTERVAL_MS = 1_000;
/** Limit of one claim, whose bodies are made at once: about 5 ms of the thread that also moves audio. */
const CLAIMED_AT_ONCE = 32;
/** Wait between claims while there is much to do: each takes all that came meanwhile. */
const CLAIM_INTERVAL_MS = 15;
/** Wait after a claim that the database refused. */
const FAILED_CLAIM_WAIT_MS = 1_000;
/** Interval of the counts of pending deliveries. */
const COUNT_INTERVAL_MS = 10_000;
/** Limit of running attempts at shutdown. The next process repeats those that take longer. */
const CLOSE_LIMIT_MS = 5_000;
/**
 * Limit from the claim to the start of the attempt. A later one, after a pause of the database or this process, might
 * be sent when others have sent it already, and what follows it.
 */
const MAX_CLAIM_AGE_MS = DELIVERY_LEASE_MS - ATTEMPT_LIMIT_MS;

export function openDispatcher(deps: DispatcherDeps): WebhookDispatcher {
  const dispatcher = new Dispatcher(deps);
  return {
    wake: () => dispatcher.wake(),
    start: () => dispatcher.start(),
    close: () => dispatcher.close(),
  };
}

/** The request to send, or why it cannot be sent. */
type Body = { readonly body: string } | { readonly problem: string };

class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #concurrency = openDeliveryConcurrency();
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #claims: ClaimLoop;
  readonly #writes = new WriteLoop({ hasMore: () => this.#ended.length > 0, write: () => this.#write() });
  #closed: Promise<void> | null = null;
  #poll: NodeJS.Timeout | null = null;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #ended: AttemptOutcome[] = [];

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    const claim = () => this.#claim();
    this.#claims = new ClaimLoop({ claim, intervalMs: CLAIM_INTERVAL_MS });
  }

  start(): void {
    if (!this.#claims.open()) return;
    this.#poll = setInterval(() => {
      this.wake();
      this.#count();
    }, POLL_INTERVAL_MS);
    this.#poll.unref();
    this.wake();
  }

  wake(): void {
    this.#claims.wake();
  }

  /** Never rejects. */
  async #claim(): Promise<void> {
    const { db, log } = this.#deps;
    const room = this.#concurrency.room();
    if (room.total <= 0) return;
    const begunAtMs = performance.now();
    try {
      const claimed = await claimDeliveries(db, { ...room, total: Math.min(room.total, CLAIMED_AT_ONCE) });
      if (claimed.length === 0) return;
      for (const delivery of claimed) this.#concurrency.start(delivery);
      const bodies = await this.#bodiesOf(claimed);
      if (performance.now() - begunAtMs > MAX_CLAIM_AGE_MS) {
        for (const delivery of claimed) this.#concurrency.finish(delivery, null);
        log.warn({ deliveries: claimed.length }, "deliveries were claimed too long ago and are released");
        await releaseClaims(db, claimed);
      } else for (const delivery of claimed) this.#run(delivery, bodies.get(delivery.deliveryId));
      // If the capacity of receivers was not the limit, there may be more.
      this.wake();
    } catch (error) {
      log.error({ error: String(error) }, "deliveries could not be claimed; retrying");
      this.#claims.holdBack(FAILED_CLAIM_WAIT_MS);
      this.wake();
    }
  }

  async #bodiesOf(claimed: readonly ClaimedDelivery[]): Promise<Map<string, Body>> {
    const bodies = new Map<string, Body>();
    const made: RenderedBody[] = [];
    for (const delivery of claimed) {
      const { deliveryId, attemptId, content } = delivery;
      try {
        if ("call" in content) {
          const body = deliveryBody(delivery, this.#deps.renderCall(content.call));
          made.push({ deliveryId, attemptId, body });
        } else bodies.set(deliveryId, content);
      } catch (error) {
        bodies.set(deliveryId, { problem: String(error) });
      }
    }
    try {
      const stored = await storeBodies(this.#deps.db, made);
      for (const { deliveryId, body } of made) if (stored.has(deliveryId)) bodies.set(deliveryId, { body });
      return bodies;
    } catch (error) {
      for (const delivery of claimed) this.#concurrency.finish(delivery, null);
      throw error;
    }
  }

  #run(delivery: ClaimedDelivery, body: Body | undefined): void {
    const attempt = this.#attempt(delivery, body).finally(() => this.#running.delete(attempt));
    this.#running.add(attempt);
  }

  /** Never rejects. Without a body it was deleted since it was claimed. */
  async #attempt(delivery: ClaimedDelivery, content: Body | undefined): Promise<void> {
    const { log, metrics, nowMs } = this.#deps;
    const { deliveryId, tries } = delivery;
    if (content === undefined || "problem" in content) {
      this.#concurrency.finish(delivery, null);
      if (content === undefined) return;
      log.error({ deliveryId, error: content.problem }, "a webhook delivery cannot be read and is dropped");
      this.#note(unsendable(delivery, "the delivery cannot be read", nowMs()));
      return;
    }
    if (tries === 0) metrics.firstAttempt(delivery.waitedMs);
    try {
      const outcome = await attemptDelivery(delivery, content.body, this.#deps, this.#stopping.signal);
      this.#concurrency.finish(delivery, outcome.attempt.failure !== null);
      metrics.attempted(labelOf(outcome), outcome.attempt.durationMs);
      this.#note(outcome);
    } catch (error) {
      this.#concurrency.finish(delivery, null);
      metrics.attempted("cut_off", 0);
      await this.#giveBack(delivery, error);
    }
  }

  async #giveBack(delivery: ClaimedDelivery, reason: unknown): Promise<void> {
    const { db, log } = this.#deps;
    if (!this.#stopping.signal.aborted) {
      log.error(
        { deliveryId: delivery.deliveryId, error: String(reason) },
        "a webhook delivery failed unexpectedly",
      );
    }
    await releaseClaims(db, [delivery]).catch((error: unknown) => {
      log.warn({ error: String(error) }, "a claim could not be released; it expires by itself");
    });
  }

  #note(outcome: AttemptOutcome): void {
    this.#ended.push(outcome);
    this.#writes.soon();
  }

  /** All that ended during the last write goes into one transaction. Never rejects. */
  async #write(): Promise<void> {
    while (this.#ended.length > 0) {
      const outcomes = this.#ended;
      this.#ended = [];
      await this.#keep(outcomes);
      // Deliveries that waited for these may be sent now.
      this.wake();
    }
  }

  async #keep(outcomes: readonly AttemptOutcome[]): Promise<void> {
    const { db, log } = this.#deps;
    const begunAtMs = performance.now();
    const isOpen = (): boolean => this.#claims.isOpen;
    for (;;) {
      try {
        return await storeOutcomes(db, outcomes);
      } catch (error) {
        const fields = { outcomes: outcomes.length, error: String(error) };
        log.warn(fields, "outcomes of deliveries could not be stored");
        if (await isTriedAgain(begunAtMs, isOpen)) continue;
        log.error(fields, "outcomes of deliveries are dropped; the deliveries are sent again");
        return;
      }
    }
  }

  #count(): void {
    const { db, log, metrics } = this.#deps;
    if (performance.now() - this.#countedAtMs < COUNT_INTERVAL_MS) return;
    this.#countedAtMs = performance.now();
    countPendingDeliveries(db).then(
      (count) => metrics.pending(count),
      (error: unknown) => log.warn({ error: String(error) }, "pending deliveries could not be counted"),
    );
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#poll !== null) clearInterval(this.#poll);
    await this.#claims.close();
    const limit = setTimeout(
      () => this.#stopping.abort(new Error("the service is stopping")),
      CLOSE_LIMIT_MS,
    );
    await Promise.all(this.#running);
    clearTimeout(limit);
    await this.#writes.settle();
  }
}

function labelOf({ status }: AttemptOutcome): string {
  return status === "pending" ? "retry" : status;
}
