/** Binds the sources of calls and stages to the store, the engines and the libraries. */

import { randomUUID } from "node:crypto";
import { Uuid, VOICE_KINDS, VOICE_PROVIDERS, type VoiceKind } from "@parley/schema";
import type { Config } from "../config/config.ts";
import type { Engines } from "./engines.ts";
import { checkedAliases } from "./name-aliases.ts";
import { refusedLiteral } from "../net/target-url.ts";
import type { SchemaChecks } from "../providers/json-schema/schema-checks.ts";
import { openTemplateParser } from "../providers/templates/mustache.ts";
import { publicVoices } from "../voices/public-voices.ts";
import type { PlanSources } from "../lifecycle/create/prepare-stage.ts";
import type { Db } from "../store/database/db.ts";
import { findTools } from "../store/agents/tools.ts";
import { getTtsKeyPrefixes } from "../store/accounts/tts-keys.ts";
import { findVoices } from "../store/agents/voices.ts";
import type { DeploymentTools } from "./tool-invokers.ts";
import { deploymentVoiceKeys } from "./voices/voice-providers.ts";

export function planSources(
  db: Db,
  engines: Engines,
  schemas: SchemaChecks,
  tools: Pick<DeploymentTools, "listMcpTools">,
  config: Pick<Config, "allowPrivateTargets" | "aliases" | "voiceProviders">,
): PlanSources {
  const { allowPrivateTargets } = config;
  const aliases = checkedAliases(config, engines);
  const { voiceProviders = {} } = engines;
  const spokenKinds = new Set(VOICE_KINDS.filter((kind) => voiceProviders[kind] !== undefined));
  const ofDeployment = deploymentVoiceKeys(config);
  return {
    findTools: (accountId, wanted) => findTools(db, accountId, wanted),
    listMcpTools: tools.listMcpTools,
    refusedTarget: (url, kind) => refusedLiteral(url, allowPrivateTargets, kind),
    voices: () => publicVoices(engines.tts),
    findVoices: (accountId, wanted) => {
      const id = Uuid.safeParse(wanted);
      return findVoices(db, accountId, { id: id.success ? id.data : null, name: wanted });
    },
    voiceKeys: async (accountId) => {
      const prefixes = await getTtsKeyPrefixes(db, accountId);
      const keys = new Map<VoiceKind, "account" | "deployment">();
      for (const provider of VOICE_PROVIDERS) {
        if (prefixes[provider] !== null) keys.set(provider, "account");
        else if (ofDeployment[provider] !== undefined) keys.set(provider, "deployment");
      }
      return keys;
    },
    spokenKinds: () => spokenKinds,
    models: () => ["default", ...engines.llm.models],
    takesAudio: (model) => engines.llm.takesAudio?.(model) ?? false,
    aliases,
    parseTemplate: openTemplateParser(),
    checkSchema: schemas.checkSchema,
    checkValue: schemas.checkValue,
    randomId: randomUUID,
  };
}
