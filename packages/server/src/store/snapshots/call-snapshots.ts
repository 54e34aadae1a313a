/**
 * Snapshots of joined calls: what another process needs to continue a call. One for each call, sealed, written only by
 * the process that runs the call, deleted with its end.
 */

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { isOwnedBy, mayWrite, type NodeBoot } from "../database/running-nodes.ts";

/**
 * Characters of a snapshot as JSON: five times the history that a model sees at most. A longer one is not stored, and
 * the call cannot be continued by another process until it is shorter.
 */
export const SNAPSHOT_MAX_CHARS = 2_000_000;
/** Bounds the memory that a broken row can take: characters have up to four bytes. */
const SNAPSHOT_MAX_BYTES = 4 * SNAPSHOT_MAX_CHARS;
/** Fastest level: snapshots are replaced within seconds. */
const GZIP_LEVEL = 1;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

export interface NewSnapshot {
  readonly accountId: string;
  readonly callId: string;
  /** The version of the engine that the document is of. */
  readonly version: number;
  /** JSON. */
  readonly document: string;
}

/** `too_long`: stored without its document. `taken`: another process runs the call. `ended`: nothing was stored. */
export type SnapshotOutcome = "saved" | "too_long" | "taken" | "ended";

/** Replaces the snapshot before. */
export async function saveSnapshot(db: Db, boot: NodeBoot, snapshot: NewSnapshot): Promise<SnapshotOutcome> {
  const { accountId, callId, version, document } = snapshot;
  const isTooLong = document.length > SNAPSHOT_MAX_CHARS;
  const sealed = isTooLong ? null : await sealedDocument(db, callId, document);
  // The lock keeps the owner until the snapshot is written: an adoption waits, and reads it.
  const { rows } = await sql`${preparedStatement}
    insert into call_snapshots (call_id, account_id, engine_version, sealed_state, saved_at)
    select id, account_id, ${version}::int, ${sealed}, clock_timestamp() from calls
    where id = ${callId} and account_id = ${accountId} and ended_at is null and ${isOwnedBy(boot)}
    for share
    on conflict (call_id) do update set engine_version = excluded.engine_version,
      sealed_state = excluded.sealed_state, saved_at = excluded.saved_at
    returning call_id`.execute(db.query);
  if (rows.length === 1) return isTooLong ? "too_long" : "saved";
  return (await isTaken(db, boot, callId)) ? "taken" : "ended";
}

/**
 * Whether the call belongs to another process, or was given up. A call of an earlier boot of the same node is not taken:
 * what its journal holds is written by the next boot.
 */
export async function isTaken(db: Db, boot: NodeBoot, callId: string): Promise<boolean> {
  const read = await sql`${preparedStatement}
    select 1 from calls where id = ${callId} and not ${mayWrite(boot)}`.execute(db.query);
  return read.rows.length > 0;
}

async function sealedDocument(db: Db, callId: string, document: string): Promise<string> {
  const packed = await pack(document, { level: GZIP_LEVEL });
  return db.sealer.seal(packed.toString("base64"), snapshotContext(callId));
}

/** @throws when the row is damaged, or was sealed with another key */
export async function openSnapshot(db: Db, callId: string, sealed: string): Promise<string> {
  const packed = Buffer.from(db.sealer.open(sealed, snapshotContext(callId)), "base64");
  return (await unpack(packed, { maxOutputLength: SNAPSHOT_MAX_BYTES })).toString("utf8");
}

function snapshotContext(callId: string): string {
  return `call_snapshots:${callId}`;
}
