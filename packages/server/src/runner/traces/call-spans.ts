/** The spans of one call, made from the events that its engine gets and the effects that it answers with. */

import type { EndReason } from "@parley/schema";
import type { CallState } from "../../call/call.ts";
import type { CallEffect, CallEventRecord } from "../../call/effects.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import type { CallPlan } from "../../plan/plan.ts";
import { readTraceParent } from "../../ports/trace-parent.ts";
import type { Span, Traces } from "../../ports/traces.ts";
import type { Voices } from "../../ports/voices.ts";
import type { CallEngines } from "../call-deps.ts";
import type { Served } from "../engine-user.ts";
import { RequestSpans } from "./request-spans.ts";
import { SpanBudget } from "./span-budget.ts";
import { ThreadSpans } from "./thread-spans.ts";
import { TurnSpans } from "./turn-spans.ts";

export interface CallSpansDeps {
  readonly plan: CallPlan;
  readonly traces: Traces;
  readonly engines: Pick<CallEngines, "stt" | "llm" | "tts">;
  readonly voices: Pick<Voices, "originOf">;
  /** Wall clock of a time of the call. */
  readonly wallMs: (atMs: number) => number;
  /** Default: `SPANS_PER_CALL_MAX`. */
  readonly limit?: number;
}

/** Reasons of ends that nobody wanted. */
const FAILED: readonly EndReason[] = ["system_error", "connection_error"];

/** Null: the call is a part of a trace that is not recorded. */
export function traceCall(deps: CallSpansDeps): CallSpans | null {
  const { plan, traces, engines, wallMs } = deps;
  const { callId, accountId, agentId, medium, stage } = plan;
  const llm = engines.llm.engineOf?.(stage.model) ?? engines.llm;
  const isNamed = stage.model !== "default" && llm === engines.llm;
  const root = traces.startCall(callId, readTraceParent(plan.traceParent), {
    name: "call",
    kind: "internal",
    startMs: wallMs(0),
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": llm.name,
      "gen_ai.request.model": isNamed ? stage.model : (llm.model ?? stage.model),
      "gen_ai.conversation.id": callId,
      ...(agentId === null ? {} : { "gen_ai.agent.id": agentId }),
      "parley.account_id": accountId,
      "parley.medium": medium.kind,
    },
  });
  return root === null ? null : new CallSpans(root, deps);
}

export class CallSpans {
  readonly #root: Span;
  readonly #wallMs: (atMs: number) => number;
  readonly #budget: SpanBudget;
  readonly #turns: TurnSpans;
  readonly #threads: ThreadSpans;
  readonly #requests: RequestSpans;

  constructor(root: Span, { engines, voices, wallMs, limit }: CallSpansDeps) {
    this.#root = root;
    this.#wallMs = wallMs;
    this.#budget = new SpanBudget(limit);
    const below = { root, budget: this.#budget, wallMs };
    this.#turns = new TurnSpans(below);
    this.#threads = new ThreadSpans(below);
    this.#requests = new RequestSpans({
      engines,
      voices,
      turns: this.#turns,
      threads: this.#threads,
      budget: this.#budget,
      wallMs,
    });
  }

  /** @param state after the event */
  observe(event: CallEngineEvent, state: CallState, effects: readonly CallEffect[]): void {
    const { atMs } = event;
    this.#turns.take(event, state, effects);
    this.#requests.take(event);
    for (const effect of effects) {
      if (effect.type === "recordTurnLatency") this.#turns.answered(effect.latency, atMs);
      else if (effect.type === "recordCallEvent") this.#recorded(effect.event, atMs);
      else if (effect.type === "recordJoined") this.#root.note("joined", this.#wallMs(atMs));
      else if (effect.type === "beginStage") this.#noteStage(effect.stage.stageId, atMs);
      else this.#requests.act(effect, event, state);
    }
    this.#requests.settle(event, state);
    this.#turns.settle(state, atMs);
    this.#threads.settle(state, atMs);
  }

  /** An engine of a list answers a request. */
  served(...[request, engine]: Parameters<Served>): void {
    this.#requests.served(request, engine);
  }

  /** Ends all that is open, and the call. */
  finish(reason: EndReason, atMs: number): void {
    this.#requests.finish(atMs);
    this.#turns.finish(atMs);
    this.#threads.finish(atMs);
    const { inputTokens, outputTokens } = this.#requests;
    this.#root.set({
      "parley.call.end_reason": reason,
      "parley.call.turns": this.#turns.count,
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
      ...(this.#budget.dropped === 0 ? {} : { "parley.call.requests_without_span": this.#budget.dropped }),
    });
    this.#root.end(this.#wallMs(atMs), FAILED.includes(reason) ? reason : null);
  }

  #recorded(event: CallEventRecord, atMs: number): void {
    this.#turns.recorded(event, atMs);
    this.#threads.recorded(event, atMs);
  }

  #noteStage(stageId: string, atMs: number): void {
    this.#root.note("stage began", this.#wallMs(atMs), { "parley.stage_id": stageId });
  }
}
