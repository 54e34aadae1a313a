/**
 * A lock that a process holds on its node for as long as it is connected: where it is free, the process that had it is
 * gone. It belongs to a transaction that stays open, so that it also works behind poolers which share connections
 * between transactions. The transaction reads and writes nothing, and keeps no old rows from being cleaned up.
 */

import { createHash } from "node:crypto";
import { sql, type Kysely, type Transaction } from "kysely";
import type { Database } from "../database/database.ts";

/** First half of the key; nothing else in the database uses it: "node" in ASCII. */
const LOCK_CLASS = 0x6e6f6465;
/** Interval at which the connection is used and, where it was lost, the lock is taken again. */
const CHECK_INTERVAL_MS = 5_000;

export interface NodeLock {
  /** Tries to take the lock, and holds it from then on. False: another process has it. */
  take(nodeId: string): Promise<boolean>;
  /** Releases the lock, and closes the connection. Idempotent. */
  close(): Promise<void>;
}

/** @param connect opens a pool of one connection */
export function openNodeLock(connect: () => Kysely<Database>): NodeLock {
  let held: HeldLock | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  /** Null: another process has the lock. Rejects when the database cannot be reached. */
  async function acquire(nodeId: string): Promise<HeldLock | null> {
    const query = connect();
    const opened = await openHeldLock(query, lockNumber(nodeId));
    if (opened === null) await query.destroy();
    return opened;
  }

  /** Uses the connection, so that nothing between closes it as idle, and takes a lost lock again. */
  async function check(nodeId: string): Promise<void> {
    if (held !== null && (await held.isAlive())) return;
    await held?.close();
    held = null;
    held = await acquire(nodeId).catch(() => null);
  }

  function schedule(nodeId: string): void {
    timer = setTimeout(() => {
      void check(nodeId)
        .catch(() => undefined)
        .then(() => {
          if (isClosed) void held?.close();
          else schedule(nodeId);
        });
    }, CHECK_INTERVAL_MS).unref();
  }

  return {
    async take(nodeId) {
      if (timer !== null) clearTimeout(timer);
      await held?.close();
      held = await acquire(nodeId);
      schedule(nodeId);
      return held !== null;
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await held?.close();
    },
  };
}

interface HeldLock {
  readonly isAlive: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Null: another transaction holds the lock. */
async function openHeldLock(query: Kysely<Database>, number: number): Promise<HeldLock | null> {
  const taken = Promise.withResolvers<Transaction<Database> | null>();
  const released = Promise.withResolvers<void>();
  const ended = query
    .transaction()
    .execute(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout to 0`.execute(tx);
      // Without parameters: the result of a statement with parameters keeps its snapshot until the next statement.
      const tried = await sql
        .raw<{ isTaken: boolean }>(`select pg_try_advisory_xact_lock(${LOCK_CLASS}, ${number}) as "isTaken"`)
        .execute(tx);
      const isTaken = tried.rows[0]?.isTaken === true;
      taken.resolve(isTaken ? tx : null);
      if (isTaken) await released.promise;
    })
    .catch((error: unknown) => taken.reject(error));
  const tx = await taken.promise.catch(async (error: unknown) => {
    await query.destroy();
    throw error;
  });
  if (tx === null) return null;
  return {
    isAlive: () =>
      sql`select 1`.execute(tx).then(
        () => true,
        () => false,
      ),
    async close() {
      released.resolve();
      await ended;
      await query.destroy();
    },
  };
}

function lockNumber(nodeId: string): number {
  return createHash("sha256").update(nodeId).digest().readInt32BE(0);
}
