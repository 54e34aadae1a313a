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
  /** The process that runs as the node; null: none, or one of an earlier version. */
  boot_id: string | null;
  /** Until when that process counts as running. */
  lease_until: Timestamp;
  /** Where the other processes reach it; null: nowhere. */
  address: string | null;
  /** Which loopback interface it has; null: it is of an earlier version. */
  loopback_id: string | null;
  version: string | null;
  is_draining: Defaulted<boolean>;
  live_calls: Defaulted<number>;
  /** Its share of the request rates, in millionths. */
  rate_share: Defaulted<number>;
}

export const nodes: ColumnsOf<NodesTable> = {
  id: "text",
  boot_id: "text null",
  lease_until: "timestamptz",
  address: "text null",
  loopback_id: "text null",
  version: "text null",
  is_draining: "boolean",
  live_calls: "integer",
  rate_share: "integer",
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
