/** Stages that are being prepared for one call. Each request is answered exactly once, or never after the end. */

import type { EffectOf } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { NewStage } from "../../plan/new-stage.ts";
import type { CallPlan, StagePlan } from "../../plan/plan.ts";
import { STAGE_LIMIT_MS } from "../../call/tools/stage.ts";
import type { Clock } from "../../pacing/clock.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** Creates the stage that a tool has returned, or returns why it cannot begin. */
export type PrepareStage = (
  plan: CallPlan,
  from: StagePlan,
  document: string,
  onlyToolsOfCall: boolean,
) => Promise<NewStage>;

export interface StageRunsDeps {
  readonly plan: CallPlan;
  readonly prepareStage: PrepareStage;
  readonly clock: Clock;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called for a throw that only a bug of ours can cause. */
  readonly faulted: (error: unknown) => void;
}

export class StageRuns {
  readonly #deps: StageRunsDeps;
  /** Pending requests, with the functions that cancel their timeouts. */
  readonly #open = new Map<string, () => void>();

  constructor(deps: StageRunsDeps) {
    this.#deps = deps;
  }

  start({ invocationId, from, document, onlyToolsOfCall }: EffectOf<"prepareStage">): void {
    const { plan, prepareStage, clock } = this.#deps;
    if (this.#open.has(invocationId)) return;
    const refuse = (error: string): void => {
      this.#answer(invocationId, { type: "stageRefused", invocationId, error });
    };
    const cancelLimit = clock.after(STAGE_LIMIT_MS, () => {
      refuse(`The new stage cannot begin: it was not ready within ${STAGE_LIMIT_MS / 1000}s.`);
    });
    this.#open.set(invocationId, cancelLimit);
    prepareStage(plan, from, document, onlyToolsOfCall)
      .then(
        (prepared) => {
          if ("error" in prepared) refuse(prepared.error);
          else this.#answer(invocationId, { type: "stagePrepared", invocationId, ...prepared });
        },
        (error: unknown) => {
          refuse(`The new stage cannot begin: ${messageOf(error)}`);
        },
      )
      .catch(this.#deps.faulted);
  }

  /** Nothing is posted afterwards. */
  close(): void {
    for (const cancelLimit of this.#open.values()) cancelLimit();
    this.#open.clear();
  }

  #answer(invocationId: string, event: CallEngineEventBody): void {
    const cancelLimit = this.#open.get(invocationId);
    if (cancelLimit === undefined) return;
    this.#open.delete(invocationId);
    cancelLimit();
    this.#deps.post(event);
  }
}
