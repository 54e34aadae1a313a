/** Settings of the deployment's engines that the operator has stored. They are sealed as a whole: they have keys. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import { sql } from "kysely";
import type { Db } from "../database/db.ts";

/** Everything is for the server at `baseUrl`: a key is never used for another one. */
export interface StoredEngine {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string | null;
  readonly voice: string | null;
}

export type StoredEngines = Readonly<Partial<Record<EngineKind, StoredEngine>>>;

/** Null removes the settings of an engine; those of an absent engine stay as they are. */
export type EngineChanges = Readonly<Partial<Record<EngineKind, StoredEngine | null>>>;

export async function readEngineSettings(db: Db): Promise<StoredEngines> {
  const rows = await db.query
    .selectFrom("deployment_engines")
    .select(["engine", "sealed_settings"])
    .execute();
  return Object.fromEntries(
    rows.map(({ engine, sealed_settings: sealed }) => [
      engine,
      JSON.parse(db.sealer.open(sealed, contextOf(engine))) as StoredEngine,
    ]),
  );
}

/** The same, until the end of the transaction: a change that reads them waits for another one. */
export async function lockEngineSettings(tx: Db): Promise<StoredEngines> {
  // An engine may have no row yet, so that there is none to lock. Reading goes on meanwhile.
  await sql`lock table deployment_engines in share row exclusive mode`.execute(tx.query);
  return readEngineSettings(tx);
}

export async function storeEngineSettings(tx: Db, changes: EngineChanges): Promise<void> {
  for (const engine of ENGINE_KINDS) {
    const change = changes[engine];
    if (change === null) {
      await tx.query.deleteFrom("deployment_engines").where("engine", "=", engine).execute();
    } else if (change !== undefined) {
      const sealed = tx.sealer.seal(JSON.stringify(change), contextOf(engine));
      await sql`
        insert into deployment_engines (engine, sealed_settings) values (${engine}, ${sealed})
        on conflict (engine) do update set sealed_settings = excluded.sealed_settings`.execute(tx.query);
    }
  }
}

function contextOf(engine: string): string {
  return `deployment_engines:${engine}`;
}
