/** What calls and stages are made from, bound to the store, the engines and the libraries. */

import { randomUUID } from "node:crypto";
import { Uuid, VOICE_PROVIDERS } from "@parley/schema";
import type { Config } from "./config.ts";
import type { Engines } from "./engines.ts";
import { refusedLiteral } from "./net/target-url.ts";
import type { JsonSchemaChecker } from "./providers/json-schema/json-schema.ts";
import { openTemplateParser } from "./providers/templates/mustache.ts";
import { publicVoices } from "./public-voices.ts";
import type { PlanSources } from "./runner/prepare-stage.ts";
import type { Db } from "./store/db.ts";
import { findTools } from "./store/tools.ts";
import { getTtsKeyPrefixes } from "./store/tts-keys.ts";
import { findVoices } from "./store/voices.ts";
import type { DeploymentTools } from "./tool-invokers.ts";

export function planSources(
  db: Db,
  engines: Engines,
  schemas: JsonSchemaChecker,
  tools: Pick<DeploymentTools, "listMcpTools">,
  { allowPrivateTargets }: Pick<Config, "allowPrivateTargets">,
): PlanSources {
  const models = ["default", ...engines.llm.models];
  const voices = publicVoices(engines.tts);
  return {
    findTools: (accountId, wanted) => findTools(db, accountId, wanted),
    listMcpTools: tools.listMcpTools,
    refusedTarget: (url, kind) => refusedLiteral(url, allowPrivateTargets, kind),
    voices: () => voices,
    findVoices: (accountId, wanted) => {
      const id = Uuid.safeParse(wanted);
      return findVoices(db, accountId, { id: id.success ? id.data : null, name: wanted });
    },
    voiceKeys: async (accountId) => {
      const prefixes = await getTtsKeyPrefixes(db, accountId);
      return new Set(VOICE_PROVIDERS.filter((provider) => prefixes[provider] !== null));
    },
    models: () => models,
    parseTemplate: openTemplateParser(),
    checkSchema: schemas.checkSchema,
    checkValue: schemas.checkValue,
    randomId: randomUUID,
  };
}
