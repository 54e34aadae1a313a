/** What calls and stages are made from, bound to the store, the engines and the libraries. */

import { randomUUID } from "node:crypto";
import { BUILT_IN_TOOLS } from "@parley/schema";
import type { KnownTool } from "./call/selected-tools.ts";
import type { Engines } from "./engines.ts";
import type { JsonSchemaChecker } from "./providers/json-schema/json-schema.ts";
import { openTemplateParser } from "./providers/templates/mustache.ts";
import type { PlanSources } from "./runner/prepare-stage.ts";
import type { DeploymentTools } from "./tool-invokers.ts";

export function planSources(
  engines: Engines,
  schemas: JsonSchemaChecker,
  tools: Pick<DeploymentTools, "listMcpTools">,
): PlanSources {
  const models = ["default", ...engines.llm.models];
  const voices = engines.tts.voices.map((name) => ({ voiceId: null, name }));
  return {
    findTools: (_accountId, wanted) => Promise.resolve(builtInTools(wanted)),
    listMcpTools: tools.listMcpTools,
    voices: () => voices,
    models: () => models,
    parseTemplate: openTemplateParser(),
    checkSchema: schemas.checkSchema,
    checkValue: schemas.checkValue,
    randomId: randomUUID,
  };
}

function builtInTools(wanted: {
  readonly ids: readonly string[];
  readonly names: readonly string[];
}): KnownTool[] {
  return BUILT_IN_TOOLS.filter(
    ({ toolId, name }) => wanted.ids.includes(toolId) || wanted.names.includes(name),
  ).map((tool) => ({ ...tool, own: false }));
}
