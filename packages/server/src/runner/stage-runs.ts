/** Stages that are being prepared for one call. Each request is answered exactly once, or never after the end. */

import type { CallEffect } from "../call/effects.ts";
import type { CallEngineEventBody } from "../call/events.ts";
import type { CallPlan } from "../call/plan.ts";
import { STAGE_LIMIT_MS } from "../call/stage.ts";
import type { Clock } from "./clock.ts";
import { messageOf } from "./error-text.ts";
import type { PrepareStage } from "./prepare-stage.ts";

export interface StageRunsDeps {
  readonly plan: CallPlan;
  readonly prepareStage: PrepareStage;
  readonly clock: Clock;
  readonly post: (event: CallEngineEventBody) => void;
  /** Called for a throw where nothing but a mistake of ours can throw. */
  readonly faulted: (error: unknown) => void;
}

type PrepareStageEffect = Extract<CallEffect, { readonly type: "prepareStage" }>;

export class StageRuns {
  readonly #deps: StageRunsDeps;
  /** Those without an answer so far, with what cancels their limits. */
  readonly #open = new Map<string, () => void>();

  constructor(deps: StageRunsDeps) {
    this.#deps = deps;
  }

  start({ invocationId, from, document }: PrepareStageEffect): void {
    const { plan, prepareStage, clock } = this.#deps;
    if (this.#open.has(invocationId)) return;
    const refuse = (error: string): void => {
      this.#answer(invocationId, { type: "stageRefused", invocationId, error });
    };
    const cancelLimit = clock.after(STAGE_LIMIT_MS, () => {
      refuse(`The new stage cannot begin: it was not ready within ${STAGE_LIMIT_MS / 1000}s.`);
    });
    this.#open.set(invocationId, cancelLimit);
    prepareStage(plan, from, document)
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
