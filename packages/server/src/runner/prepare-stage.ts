/** Makes the next stage of a live call from the answer of one of its tools. */

import { compileNewStage, readNewStage, stageRefusal } from "../call/new-stage.ts";
import type { NewStage } from "../call/new-stage.ts";
import type { CheckValue } from "../call/context-schema.ts";
import type { CallPlan, StagePlan } from "../call/plan.ts";
import type { ParseTemplate } from "../call/template-text.ts";
import { prepareTools } from "./asked-tools.ts";
import type { ToolSources } from "./asked-tools.ts";
import { availableFor } from "./asked-voices.ts";
import type { VoiceSources } from "./asked-voices.ts";

/** What calls and stages are made from. */
export interface PlanSources extends ToolSources, VoiceSources {
  readonly parseTemplate: ParseTemplate;
  readonly checkValue: CheckValue;
}

export type PrepareStage = (plan: CallPlan, from: StagePlan, document: string) => Promise<NewStage>;

export function createStagePreparer(sources: PlanSources): PrepareStage {
  return async (plan, from, document) => {
    const read = readNewStage(document, plan.templateContext, sources);
    if ("error" in read) return read;
    const { selectedTools } = read.body;
    const available = await availableFor(plan.accountId, read.body, sources);
    const ground = { stageId: sources.randomId(), from, available };
    if (selectedTools === undefined) return compileNewStage(read.body, { ...ground, tools: null });
    const asked = selectedTools.map((tool, index) => ({ tool, field: `selectedTools.${index}` }));
    const { tools, errors, unavailable } = await prepareTools(plan.accountId, asked, plan.callToken, sources);
    if (errors.length > 0) return stageRefusal(errors);
    if (unavailable.length > 0) {
      return stageRefusal(unavailable.map((sentence) => ({ field: "", message: sentence })));
    }
    return compileNewStage(read.body, { ...ground, tools });
  };
}
