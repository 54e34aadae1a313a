/** Makes the next stage of a live call from the answer of one of its tools. */

import type { NewStageBody } from "@parley/schema";
import {
  compileNewStage,
  contextRefusal,
  fillNewStage,
  readNewStage,
  stageRefusal,
  voiceToFind,
} from "../../plan/new-stage.ts";
import type { CallPlan } from "../../plan/plan.ts";
import { toolsOfCall } from "../../plan/tools-of-call.ts";
import type { ParseTemplate } from "../../plan/template-text.ts";
import type { PrepareStage } from "../../runner/tasks/stage-runs.ts";
import type { CheckValue } from "./schema-checks.ts";
import { refusedAddresses } from "./requested-addresses.ts";
import { prepareTools } from "./requested-tools.ts";
import type { ToolSources } from "./requested-tools.ts";
import { availableFor } from "./requested-voices.ts";
import type { VoiceSources } from "./requested-voices.ts";

/** The sources of calls and stages. */
export interface PlanSources extends ToolSources, VoiceSources {
  readonly parseTemplate: ParseTemplate;
  readonly checkValue: CheckValue;
}

export function createStagePreparer(sources: PlanSources): PrepareStage {
  return async (plan, from, document, onlyToolsOfCall) => {
    const read = await filledStage(plan, document, sources);
    if ("error" in read) return read;
    const { selectedTools, externalVoice } = read.body;
    const requested = { values: { externalVoice }, tools: [], fieldOf: (key: string) => key };
    const refused = refusedAddresses(requested, sources);
    if (refused.length > 0) return stageRefusal(refused);
    const wanted = { voice: voiceToFind(read.body, from), externalVoice };
    const available = await availableFor(plan.accountId, wanted, sources);
    const ground = { stageId: sources.randomId(), from, available };
    if (selectedTools === undefined) return compileNewStage(read.body, { ...ground, tools: null });
    if (onlyToolsOfCall) {
      const had = toolsOfCall(selectedTools, [from, plan.stage]);
      return "errors" in had ? stageRefusal(had.errors) : compileNewStage(read.body, { ...ground, ...had });
    }
    const selected = selectedTools.map((tool, index) => ({ tool, field: `selectedTools.${index}` }));
    const { tools, errors, unavailable } = await prepareTools(
      plan.accountId,
      selected,
      plan.callToken,
      sources,
    );
    if (errors.length > 0) return stageRefusal(errors);
    if (unavailable.length > 0) {
      return stageRefusal(unavailable.map((sentence) => ({ field: "", message: sentence })));
    }
    return compileNewStage(read.body, { ...ground, tools });
  };
}

/** The answer with its texts filled from the call's context and its own. */
async function filledStage(
  { accountId, templateContext }: CallPlan,
  document: string,
  { parseTemplate, checkSchema, checkValue }: PlanSources,
): Promise<{ readonly body: NewStageBody } | { readonly error: string }> {
  const read = readNewStage(document, templateContext, parseTemplate);
  if ("error" in read) return read;
  const unusable = await checkSchema(accountId, read.schema);
  if (unusable.length > 0) return contextRefusal("contextSchema", unusable);
  const unsatisfied = await checkValue(accountId, read.schema, read.context);
  if (unsatisfied.length > 0) return contextRefusal("templateContext", unsatisfied);
  return fillNewStage(read, parseTemplate);
}
