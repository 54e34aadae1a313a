/** What a join URL is compared with, before anything of the call is read. */

import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { isHashOf } from "../secrets/secrets.ts";

/** What a join URL is compared with. */
export interface JoinTarget {
  readonly mediumKind: string;
  readonly joinTokenHash: string | null;
  readonly joinedAtMs: number | null;
  /** The node that has the call. */
  readonly nodeId: string;
  readonly hasEnded: boolean;
}

/**
 * By id alone, because a join has no account. Compare the token with `matchesJoinToken` before anything is disclosed.
 * Leaves the sealed plan where it is, so that a wrong token costs one read of an index.
 */
export async function getJoinTarget(db: Db, callId: string): Promise<JoinTarget | null> {
  const { rows } = await sql<
    Pick<Row<"calls">, "medium_kind" | "join_token_hash" | "joined_at" | "node_id" | "ended_at">
  >`${preparedStatement}
    select medium_kind, join_token_hash, joined_at, node_id, ended_at from calls where id = ${callId}`.execute(
    db.query,
  );
  const [read] = rows;
  if (read === undefined) return null;
  return {
    mediumKind: read.medium_kind,
    joinTokenHash: read.join_token_hash,
    joinedAtMs: read.joined_at === null ? null : Date.parse(read.joined_at),
    nodeId: read.node_id,
    hasEnded: read.ended_at !== null,
  };
}

/** In constant time. */
export function matchesJoinToken(call: Pick<JoinTarget, "joinTokenHash">, token: string): boolean {
  return call.joinTokenHash !== null && isHashOf(call.joinTokenHash, token);
}
