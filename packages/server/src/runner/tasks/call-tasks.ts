/** Tasks of one call outside the engine: replies, side threads, tools, stages and the greeting. Each reports its result as an event. */

import type { CallEngineEventBody } from "../../call/events.ts";
import { THREADS_LIVE_MAX } from "../../call/threads/thread-limits.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { UseListener } from "../../ports/engine-use.ts";
import type { CallDeps } from "../call-deps.ts";
import { engineUser, type Served } from "../engine-user.ts";
import { prepareGreeting, type PreparedGreeting } from "../speech/prepared-greeting.ts";
import type { CallUse } from "../use/call-use.ts";
import { Generations, SIDE_EVENTS } from "./generation.ts";
import { StageRuns } from "./stage-runs.ts";
import type { CheckArguments } from "./tool-call-check.ts";
import { ToolRuns } from "./tool-runs.ts";

/** Generations of side threads at once: one for each thread that the engine lets live. */
const MAX_SIDE_GENERATIONS = THREADS_LIVE_MAX;

export interface CallTasksOptions {
  readonly use: Pick<CallUse, "ofReply" | "ofThreads" | "aside">;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called with the model of a list that answers. */
  readonly served: Served;
  readonly faulted: (error: unknown) => void;
}

export class CallTasks {
  readonly generations: Generations;
  /** Of side threads, in a set of their own, so that they never take the place of a reply. */
  readonly sideGenerations: Generations;
  readonly toolRuns: ToolRuns;
  readonly stageRuns: StageRuns;
  /** Null: the call has none. */
  readonly greeting: PreparedGreeting | null;

  constructor(plan: CallPlan, deps: CallDeps, { use, post, served, faulted }: CallTasksOptions) {
    const { callId, accountId } = plan;
    const { engines, toolInvoker, prepareStage, clock } = deps;
    const checkArguments: CheckArguments = (schema, value) => deps.checkArguments(accountId, schema, value);
    const user = engineUser("llm", post);
    const generation = { llm: engines.llm, checkArguments, post, faulted };
    const meterOf = (replyId: number): UseListener => use.ofReply(replyId);
    this.generations = new Generations({ ...generation, user, meterOf, served });
    // Not a user of a list of models: a step for a thread is no event of the conversation.
    this.sideGenerations = new Generations({
      ...generation,
      meterOf: () => use.ofThreads,
      served,
      events: SIDE_EVENTS,
      maxRunning: MAX_SIDE_GENERATIONS,
    });
    this.toolRuns = new ToolRuns({ callId, accountId, invoker: toolInvoker, clock, post, faulted });
    this.greeting = prepareGreeting(plan, deps, use.aside);
    this.stageRuns = new StageRuns({ plan, prepareStage, clock, post, faulted });
  }

  /** After it nothing is posted. */
  close(): void {
    this.generations.close();
    this.sideGenerations.close();
    this.toolRuns.close();
    this.stageRuns.close();
    this.greeting?.close();
  }
}
