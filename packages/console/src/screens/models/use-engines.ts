/** The engines of the deployment, as read and changed by this page. */

import type { RestClient } from "@parley/client/rest";
import type { DeploymentEngines, DeploymentEnginesPatch, EngineKind } from "@parley/schema";
import { useChange, useRead } from "../../data/api.tsx";

const PATH = "/api/deployment/engines";
/** Everything that names engines, models or voices. */
const STALE = ["/api/deployment", "/api/models", "/api/voices"];

/** The operator key, as an option of requests; empty: it was not entered. */
export interface OperatorKey {
  readonly operatorKey?: string;
}

export function useEngines(operator: OperatorKey) {
  return useRead(PATH, operator);
}

export function useLocalServers(operator: OperatorKey, enabled: boolean) {
  return useRead("/api/deployment/local_servers", operator, { enabled });
}

/** Throws what the service says of a wrong key. */
export async function checkOperatorKey(api: RestClient, operator: OperatorKey): Promise<void> {
  await api.fetch("GET", PATH, operator);
}

export type ChangeEngines = (patch: DeploymentEnginesPatch) => Promise<DeploymentEngines>;

export function useChangeEngines(operator: OperatorKey): ChangeEngines {
  return useChange(
    (api, body: DeploymentEnginesPatch) => api.fetch("PATCH", PATH, { ...operator, body }),
    STALE,
  ).mutateAsync;
}

export function useTestEngine(operator: OperatorKey, engine: EngineKind) {
  return useChange<null, { works: boolean; latencyMs: number; detail: string }>(
    (api) => api.fetch("POST", "/api/deployment/engines/test", { ...operator, body: { engine } }),
    [],
  );
}
