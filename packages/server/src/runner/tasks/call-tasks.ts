/** Tasks of one call outside the engine: replies, tools and stages. Each reports its result as an event. */

import type { CallEngineEventBody } from "../../call/events.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { CallDeps } from "../call-deps.ts";
import { engineUser } from "../engine-user.ts";
import { Generations } from "./generation.ts";
import { StageRuns } from "./stage-runs.ts";
import type { CheckArguments } from "./tool-call-check.ts";
import { ToolRuns } from "./tool-runs.ts";

export class CallTasks {
  readonly generations: Generations;
  readonly toolRuns: ToolRuns;
  readonly stageRuns: StageRuns;

  constructor(
    plan: CallPlan,
    deps: CallDeps,
    post: (event: CallEngineEventBody) => void,
    faulted: (error: unknown) => void,
  ) {
    const { callId, accountId } = plan;
    const { engines, toolInvoker, prepareStage, clock } = deps;
    const checkArguments: CheckArguments = (schema, value) => deps.checkArguments(accountId, schema, value);
    const user = engineUser("llm", post);
    this.generations = new Generations({ llm: engines.llm, user, checkArguments, post, faulted });
    this.toolRuns = new ToolRuns({ callId, accountId, invoker: toolInvoker, clock, post, faulted });
    this.stageRuns = new StageRuns({ plan, prepareStage, clock, post, faulted });
  }

  /** After it nothing is posted. */
  close(): void {
    this.generations.close();
    this.toolRuns.close();
    this.stageRuns.close();
  }
}
