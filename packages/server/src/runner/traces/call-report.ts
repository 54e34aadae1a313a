/** What the operator learns about a call: its spans, and one line of the log when it ends. Nothing that was said. */

import type { CallState } from "../../call/call.ts";
import type { CallEffect, EffectOf } from "../../call/effects.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import type { CallPlan } from "../../plan/plan.ts";
import { stackOf } from "../../pacing/error-text.ts";
import type { CallDeps } from "../call-deps.ts";
import type { Served } from "../engine-user.ts";
import { traceCall, type CallSpans } from "./call-spans.ts";
import { CallTally } from "./call-tally.ts";

export type CallReportDeps = Pick<CallDeps, "traces" | "engines" | "voices" | "logger">;

export class CallReport {
  readonly #plan: CallPlan;
  readonly #logger: CallDeps["logger"];
  readonly #tally = new CallTally();
  /** Null: the call is not traced. */
  #spans: CallSpans | null = null;

  /** @param wallMs wall clock of a time of the call */
  constructor(plan: CallPlan, deps: CallReportDeps, wallMs: (atMs: number) => number) {
    const { traces, engines, voices, logger } = deps;
    this.#plan = plan;
    this.#logger = logger;
    if (traces !== null)
      this.#trace(() => (this.#spans = traceCall({ plan, traces, engines, voices, wallMs })));
  }

  /** @param state after the event */
  observe(event: CallEngineEvent, state: CallState, effects: readonly CallEffect[]): void {
    for (const effect of effects) this.#tally.add(effect);
    if (this.#spans !== null) this.#trace(() => this.#spans?.observe(event, state, effects));
  }

  /** An engine of a list answers a request. */
  readonly served: Served = (request, engine) => {
    if (this.#spans !== null) this.#trace(() => this.#spans?.served(request, engine));
  };

  /** @param joinedAtMs null: nobody joined */
  ended(
    { reason, detail }: Omit<EffectOf<"endCall">, "type">,
    joinedAtMs: number | null,
    atMs: number,
  ): void {
    if (this.#spans !== null) this.#trace(() => this.#spans?.finish(reason, atMs));
    const { callId, accountId, agentId, medium } = this.#plan;
    const line = {
      callId,
      accountId,
      agentId,
      medium: medium.kind,
      durationMs: joinedAtMs === null ? null : atMs - joinedAtMs,
      reason,
      ...this.#tally.figures(),
      ...(detail === null ? {} : { detail }),
    };
    this.#logger.info(line, "call ended");
  }

  /** A fault of the traces ends the traces of this call, never the call. */
  #trace(act: () => unknown): void {
    try {
      act();
    } catch (error) {
      this.#spans = null;
      this.#logger.error({ callId: this.#plan.callId, error: stackOf(error) }, "the traces of a call failed");
    }
  }
}
