/**
 * Continues a joined call whose process has ended, when its client opens the join URL again. Decision 54.
 */

import type { Logger } from "pino";
import { SNAPSHOT_VERSION } from "../../call/adoption/snapshot.ts";
import type { Clock } from "../../pacing/clock.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { Db } from "../../store/database/db.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import { LEASE_MS, RENEW_INTERVAL_MS } from "../../store/nodes/announcements.ts";
import { claimOrphan, readHeldCall, type ClaimedCall, type HeldCall } from "../../store/snapshots/orphans.ts";
import type { CallStorage } from "../storage.ts";
import { GiveBacks } from "./give-backs.ts";
import { readSnapshot } from "./read-snapshot.ts";

/** A client that comes back before the lease of the dead process has lapsed is held: the lease, and a slow renewal. */
export const HOLD_LIMIT_MS = LEASE_MS + RENEW_INTERVAL_MS;
/** Between two looks at the lease. */
const LOOK_INTERVAL_MS = 250;
/** Clients that are held at a time. Others are told to come again, so that they take no places of joins. */
export const MAX_HELD = 48;
/** Clients whose calls are taken up at a time: those of a node that stops come back within a second. */
const MAX_UNDER_WAY = 256;
/** A client that was answered has this long to connect: longer than the handshakes of WebRTC. */
export const CONNECT_LIMIT_MS = 20_000;

/**
 * `resumed`: runs here, and waits for its client. `later`: another process may still run it, or take it up. `gone`: it
 * has ended, or cannot be continued.
 */
export type AdoptionOutcome = "resumed" | "later" | "gone";

export interface Adoption {
  /** To be called for a joined call that does not run here, once its join token is proved. */
  readonly resume: (callId: string) => Promise<AdoptionOutcome>;
  /**
   * The call was released here before its client had connected, because another process was asked for it: it is given
   * back, so that others may take it. Nothing for other calls.
   */
  readonly left: (callId: string) => Promise<void>;
  /**
   * Gives a joined call up that is of this process and does not run here, because an answer of the database was lost when
   * it was taken or handed over. Nothing for other calls. Never rejects.
   */
  readonly giveUpLost: (callId: string) => Promise<void>;
  /** The calls that a shutdown has released before their clients had connected are given back. Never rejects. */
  readonly giveUpReleased: () => Promise<void>;
  /** Stops waiting: clients that are held are told to come again. Idempotent. */
  readonly close: () => void;
}

export interface AdoptionDeps {
  readonly db: Db;
  readonly boot: NodeBoot;
  readonly liveCalls: Pick<LiveCalls, "startCall" | "isLeaving" | "joinState" | "release">;
  readonly storage: Pick<CallStorage, "remember" | "forget">;
  /** Whether records of the call wait in the journal of this process: without them another one could not continue it. */
  readonly isJournaled: (callId: string) => boolean;
  /** Whether a lapsed lease proves that its process is gone: this process has reached the database all the time. */
  readonly trustsLeases: () => boolean;
  readonly clock: Pick<Clock, "after" | "nowMs">;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
}

export function openAdoption(deps: AdoptionDeps): Adoption {
  const underWay = new Map<string, Promise<AdoptionOutcome>>();
  const closing = new AbortController();
  const unconnected: Unconnected = new Map();
  const held = new Set<string>();
  const giveBacks = new GiveBacks(deps, closing.signal);
  const left = async (callId: string): Promise<void> => {
    const giveBack = unconnected.get(callId);
    unconnected.delete(callId);
    await giveBack?.();
  };
  const isLost = (callId: string): boolean =>
    deps.liveCalls.joinState(callId) === "not_live" && !deps.liveCalls.isLeaving(callId);
  return {
    left,
    async giveUpLost(callId) {
      if (underWay.has(callId) || giveBacks.has(callId) || !isLost(callId) || deps.isJournaled(callId))
        return;
      await giveBacks.start(callId, null);
    },
    async giveUpReleased() {
      const released = [...unconnected.keys()].filter(
        (callId) => deps.liveCalls.joinState(callId) === "not_live",
      );
      await Promise.all(released.map(left));
    },
    resume(callId) {
      const known = underWay.get(callId);
      if (known !== undefined) return known;
      const isFull = underWay.size + giveBacks.count >= MAX_UNDER_WAY;
      // The row says that this process has the call until the database has answered.
      if (isFull || giveBacks.has(callId) || closing.signal.aborted) return Promise.resolve("later");
      const resuming = resume({ ...deps, unconnected, held, giveBacks }, callId, closing.signal).finally(
        () => {
          held.delete(callId);
          underWay.delete(callId);
        },
      );
      underWay.set(callId, resuming);
      return resuming;
    },
    close: () => closing.abort(),
  };
}

/** How calls are given back that were taken here, and whose clients may not have connected yet. */
type Unconnected = Map<string, () => Promise<void>>;

interface Adopting extends AdoptionDeps {
  readonly unconnected: Unconnected;
  /** Calls whose clients wait for the lease of another process. */
  readonly held: Set<string>;
  readonly giveBacks: GiveBacks;
}

async function resume(deps: Adopting, callId: string, signal: AbortSignal): Promise<AdoptionOutcome> {
  const { db, boot, liveCalls, clock, trustsLeases } = deps;
  const untilMs = clock.nowMs() + HOLD_LIMIT_MS;
  let firstLeaseMs: number | null = null;
  let looks = 0;
  for (;;) {
    const held = await readHeldCall(db, callId, trustsLeases());
    if (held === null || !held.hasState) return "gone";
    if (held.owner.nodeId === boot.nodeId && held.owner.bootId === boot.bootId) {
      if (liveCalls.joinState(callId) !== "not_live") return "resumed";
      if (!liveCalls.isLeaving(callId)) {
        if (deps.isJournaled(callId)) return "later";
        // At the first look it may have been given up since the row was read. At the third one it cannot be given up.
        if (looks === 1) await deps.giveBacks.start(callId, null);
        if (looks === 2) return "gone";
        looks += 1;
      }
    }
    // A process of another version may take it up.
    if (held.version !== SNAPSHOT_VERSION) return "later";
    // What is given up in the database may not have left this process yet, and then cannot begin here.
    if (held.isGone && !liveCalls.isLeaving(callId)) return await take(deps, callId, held);
    // Renewed since: the process is alive, and only the network of the client was lost.
    if (firstLeaseMs !== null && held.leaseUntilMs !== null && held.leaseUntilMs > firstLeaseMs)
      return "later";
    firstLeaseMs ??= held.leaseUntilMs;
    if (deps.held.size >= MAX_HELD && !deps.held.has(callId)) return "later";
    deps.held.add(callId);
    if (clock.nowMs() >= untilMs || signal.aborted) return "later";
    await new Promise<void>((done) => void clock.after(LOOK_INTERVAL_MS, done));
  }
}

async function take(deps: Adopting, callId: string, held: HeldCall): Promise<AdoptionOutcome> {
  const { db, liveCalls, storage, giveBacks, logger } = deps;
  const claimed = await claim(deps, callId, held);
  if (claimed === null) return "later";
  const giveBack = (): Promise<void> => giveBacks.start(callId, claimed.orphanedAtMs);
  try {
    const { plan, createdAt, resumed } = await readSnapshot(db, callId, claimed);
    storage.remember(plan);
    const outcome = liveCalls.startCall(plan, { createdAt, resumed });
    if (outcome !== "started") {
      storage.forget(callId);
      await giveBack();
      return "later";
    }
  } catch (error) {
    storage.forget(callId);
    logger.error({ callId, error: messageOf(error) }, "a call of a process that is gone cannot be continued");
    await giveBack();
    return "gone";
  }
  logger.info({ callId, from: held.owner.nodeId }, "a call of another process goes on here");
  deps.unconnected.set(callId, giveBack);
  watchForClient(deps, callId, giveBack);
  return "resumed";
}

/** Where the answer is lost, the call may have been taken: it is given back, because it does not run here. */
async function claim(
  { db, boot, trustsLeases, giveBacks }: Adopting,
  callId: string,
  { owner }: HeldCall,
): Promise<ClaimedCall | null> {
  try {
    return await claimOrphan(db, boot, { callId, owner, trustsLeases: trustsLeases() });
  } catch (error) {
    void giveBacks.start(callId, null);
    throw error;
  }
}

/** A client that does not connect after all leaves the call to the next one, or to its end. */
function watchForClient(
  { liveCalls, storage, clock, logger, unconnected }: Adopting,
  callId: string,
  giveBack: () => Promise<void>,
): void {
  clock.after(CONNECT_LIMIT_MS, () => {
    // It was given back already, and may have been taken again since.
    if (unconnected.get(callId) !== giveBack) return;
    unconnected.delete(callId);
    liveCalls
      .release(callId)
      .then(async (isReleased) => {
        if (!isReleased) return;
        storage.forget(callId);
        await giveBack();
      })
      .catch((error: unknown) => {
        logger.error({ callId, error: messageOf(error) }, "a call could not be given back");
      });
  });
}
