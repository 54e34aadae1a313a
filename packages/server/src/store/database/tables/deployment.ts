/** Tables of the deployment itself: applied migrations, settings, engines, and the processes that share the database. */

import type { EngineKind } from "@parley/schema";
import type { ColumnsOf, Defaulted, Timestamp } from "./columns.ts";

export interface SchemaMigrationsTable {
  version: number;
  name: string;
  checksum: string;
  applied_at: Timestamp;
}

export const schemaMigrations: ColumnsOf<SchemaMigrationsTable> = {
  version: "integer",
  name: "text",
  checksum: "text",
  applied_at: "timestamptz",
};

export interface StoreSettingsTable {
  name: string;
  value: string;
}

export const storeSettings: ColumnsOf<StoreSettingsTable> = { name: "text", value: "text" };

export interface NodesTable {
  id: string;
  /** The last heartbeat. */
  seen_at: Timestamp;
  /** How often its calls were ended because it counted as lost. */
  times_lost: Defaulted<number>;
  /** The process that runs as the node; null: none, or one of an earlier version. */
  boot_id: string | null;
}

export const nodes: ColumnsOf<NodesTable> = {
  id: "text",
  seen_at: "timestamptz",
  times_lost: "integer",
  boot_id: "text null",
};

/** What the operator has stored for an engine. */
export interface DeploymentEnginesTable {
  engine: EngineKind;
  sealed_settings: string;
}

export const deploymentEngines: ColumnsOf<DeploymentEnginesTable> = {
  engine: "text",
  sealed_settings: "text",
};
