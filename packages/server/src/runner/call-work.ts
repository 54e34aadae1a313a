/** What one call has under way outside the engine: replies, tools and stages. Each answers by an event. */

import type { CallEffect } from "../call/effects.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import type { CallPlan } from "../call/plan.ts";
import type { CallDeps } from "./call-deps.ts";
import { Generations } from "./generation.ts";
import { StageRuns } from "./stage-runs.ts";
import { ToolRuns } from "./tool-runs.ts";

export type WorkEffect = Extract<
  CallEffect,
  { type: "generateReply" | "abortReply" | "invokeTool" | "abortTool" | "prepareStage" }
>;

export class CallWork {
  readonly #generations: Generations;
  readonly #toolRuns: ToolRuns;
  readonly #stageRuns: StageRuns;

  constructor(
    plan: CallPlan,
    deps: CallDeps,
    post: (event: CallEngineEventBody) => void,
    faulted: (error: unknown) => void,
  ) {
    const { callId, accountId } = plan;
    const { engines, checkArguments, toolInvoker, prepareStage, clock } = deps;
    this.#generations = new Generations({ llm: engines.llm, checkArguments, post, faulted });
    this.#toolRuns = new ToolRuns({ callId, accountId, invoker: toolInvoker, clock, post, faulted });
    this.#stageRuns = new StageRuns({ plan, prepareStage, clock, post, faulted });
  }

  apply(effect: WorkEffect): void {
    switch (effect.type) {
      case "generateReply":
        this.#generations.start(effect.replyId, effect.request);
        break;
      case "abortReply":
        this.#generations.abort(effect.replyId);
        break;
      case "invokeTool":
        this.#toolRuns.start(effect.invocation);
        break;
      case "abortTool":
        this.#toolRuns.abort(effect.invocationId);
        break;
      case "prepareStage":
        this.#stageRuns.start(effect);
        break;
    }
  }

  /** Nothing is posted afterwards. */
  close(): void {
    this.#generations.close();
    this.#toolRuns.close();
    this.#stageRuns.close();
  }
}
