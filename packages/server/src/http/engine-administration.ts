/** What requests may see and change of the deployment's engines: functions that `app` gives. */

import type {
  DeploymentEngine,
  DeploymentEnginesPatch,
  EngineKind,
  EngineTest,
  FieldError,
  LocalModelServer,
} from "@parley/schema";
import type { EngineChanges, StoredEngines } from "../store/deployment/engine-settings.ts";

export type CheckedChanges =
  | { readonly kind: "changed"; readonly changes: EngineChanges }
  | { readonly kind: "refused"; readonly errors: readonly FieldError[] };

export interface EngineAdministration {
  /** The key of the operator; null: requests cannot change anything. */
  readonly operatorKey: string | null;
  /** The engines of new calls; with `showsServers`, what belongs to their servers as well. */
  readonly show: (showsServers: boolean) => Readonly<Record<EngineKind, DeploymentEngine>>;
  /** What a change has to store, or every problem of it. */
  readonly changesOf: (stored: StoredEngines, patch: DeploymentEnginesPatch) => CheckedChanges;
  /** Uses what is stored for new calls. */
  readonly reload: () => Promise<void>;
  /** Asks the servers whether they can be used. Never rejects. */
  readonly look: () => Promise<void>;
  /** Never rejects. */
  readonly test: (engine: EngineKind) => Promise<EngineTest>;
  /** Model servers at their usual ports on this machine. Never rejects. */
  readonly findLocalServers: () => Promise<readonly LocalModelServer[]>;
}
