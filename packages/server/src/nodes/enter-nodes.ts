/** Announces a process that starts, unless another one runs that it could not work with. */

import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { messageOf } from "../pacing/error-text.ts";
import type { Db } from "../store/database/db.ts";
import { StoreStartError } from "../store/database/store-errors.ts";
import {
  announceNode,
  LEASE_MS,
  type Announced,
  type NodesSeen,
  type RunningNode,
} from "../store/nodes/announcements.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";

/** Between two looks at another process that may be gone. */
const LOOK_INTERVAL_MS = 500;

export interface EnteringNode {
  readonly leaseDb: Db;
  readonly node: NodeBoot;
  /** Where the others reach this process; null: `NODE_ADDRESS` is not set. */
  readonly address: string | null;
  /** Which loopback interface this process has. */
  readonly loopbackId: string;
  readonly isLoopback: (address: string) => boolean;
  readonly version: string;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** For tests. */
  readonly leaseMs?: number | undefined;
}

export interface Entered extends NodesSeen {
  /** When the statement was sent that began the lease, by `performance.now()`. */
  readonly sentAtMs: number;
}

/**
 * A lease of a process that has crashed runs on for up to six seconds, so it is watched until it is renewed or lapses.
 * @throws StoreStartError when another process runs, and one of the two cannot reach the other
 */
export async function enterNodes(entering: EnteringNode): Promise<Entered> {
  const leases = new Map<string, number>();
  const untilMs = performance.now() + 2 * LEASE_MS;
  for (;;) {
    const sentAtMs = performance.now();
    const announced = await tryToEnter(entering, untilMs);
    if (announced?.kind === "announced") {
      for (const other of announced.others) noteOther(entering, other);
      return { ...announced, sentAtMs };
    }
    if (announced?.kind === "taken")
      throw new StoreStartError("Another process runs as this node; the service must be started again.");
    for (const other of announced?.others ?? []) {
      const conflict = conflictOf(entering, other);
      if (conflict === null) continue;
      const before = leases.get(other.bootId);
      if (before !== undefined && other.leaseUntilMs > before) throw refusal(conflict, entering, other);
      leases.set(other.bootId, other.leaseUntilMs);
      if (performance.now() > untilMs) throw refusal(conflict, entering, other);
    }
    await wait(LOOK_INTERVAL_MS);
  }
}

/** Null: it is to be tried again. The server gives up the transaction of a process that is too slow at its start. */
async function tryToEnter(entering: EnteringNode, untilMs: number): Promise<Announced | null> {
  const { leaseDb, node, address, loopbackId, version, leaseMs, logger } = entering;
  // The calls of before this start are resumed later.
  const announcement = { address, loopbackId, version, isDraining: false, liveCalls: 0, leaseMs };
  try {
    return await announceNode(leaseDb, node, announcement, (others) =>
      others.every((other) => conflictOf(entering, other) === null),
    );
  } catch (error) {
    if (performance.now() > untilMs) throw error;
    logger.warn({ error: messageOf(error) }, "the node could not be announced and is retried");
    return null;
  }
}

/** `no_address`: one of the two has none. `loopback`: one has an address that only its own machine or container reaches. */
type Conflict = "no_address" | "loopback";

type OwnPlace = Pick<EnteringNode, "address" | "loopbackId" | "isLoopback">;

function conflictOf({ address, loopbackId, isLoopback }: OwnPlace, other: RunningNode): Conflict | null {
  if (address === null || other.address === null) return "no_address";
  if (loopbackId === other.loopbackId) return null;
  return isLoopback(address) || isLoopback(other.address) ? "loopback" : null;
}

/** Another process runs. Where the two cannot reach each other it has begun since, or this one has no address. */
export function noteOther(entering: OwnPlace & Pick<EnteringNode, "logger">, other: RunningNode): void {
  const { logger } = entering;
  const fields = { nodeId: other.nodeId, address: other.address, version: other.version };
  const conflict = conflictOf(entering, other);
  if (conflict === "no_address")
    logger.error(fields, "another process uses this database, and NODE_ADDRESS is not set for both of them");
  else if (conflict === "loopback")
    logger.error(fields, "another process uses this database, and NODE_ADDRESS of one is a loopback address");
  else logger.info(fields, "another node runs");
}

function refusal(conflict: Conflict, { address }: EnteringNode, other: RunningNode): StoreStartError {
  const which = `Another process of the service (node ${other.nodeId}) uses the database of DATABASE_URL`;
  const how = "such as http://10.0.0.5:8090, the address at which the others reach it";
  if (conflict === "loopback") {
    const where = `on another machine or in another container, and ${other.address ?? ""} and ${address ?? ""} cannot both be reached`;
    return new StoreStartError(
      `${which} ${where}. Set NODE_ADDRESS for each of them, ${how}; or stop the other one.`,
    );
  }
  return new StoreStartError(
    address === null
      ? `${which}. Set NODE_ADDRESS for each of them, ${how}; or stop the other one.`
      : `${which} without NODE_ADDRESS. Restart it with NODE_ADDRESS set, ${how}; or stop it.`,
  );
}
