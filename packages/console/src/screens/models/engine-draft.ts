/** The form of an engine: what it shows, and what it sends. */

import type { DeploymentEngine, DeploymentEnginesPatch, EngineKind } from "@parley/schema";

export interface EngineDraft {
  /** Empty: OpenAI. */
  readonly baseUrl: string;
  /** Empty: the stored key stays. */
  readonly apiKey: string;
  readonly removesKey: boolean;
  readonly model: string;
  readonly voice: string;
}

export type EngineFieldName = "baseUrl" | "apiKey" | "model" | "voice";

export function draftOf({ baseUrl, model, voice }: DeploymentEngine): EngineDraft {
  return { baseUrl: baseUrl ?? "", apiKey: "", removesKey: false, model: model ?? "", voice: voice ?? "" };
}

/** Fields that the environment sets are not sent: the service would refuse them. */
export function patchOf(
  kind: EngineKind,
  { setBy }: Pick<DeploymentEngine, "setBy">,
  draft: EngineDraft,
): DeploymentEnginesPatch {
  const apiKey = draft.removesKey ? "" : draft.apiKey.trim();
  const given: Partial<Record<EngineFieldName, string>> = {
    baseUrl: draft.baseUrl.trim(),
    model: draft.model.trim(),
    ...(kind === "tts" ? { voice: draft.voice.trim() } : {}),
  };
  const sent = Object.entries(given).filter(
    ([name, value]) => value !== "" && setBy[name as EngineFieldName] === null,
  );
  const sendsKey = setBy.apiKey === null && (draft.removesKey || apiKey !== "");
  return { [kind]: { ...Object.fromEntries(sent), ...(sendsKey ? { apiKey } : {}) } };
}
