/** The spans of requests to model, recogniser, voice and tools, from the effect that starts one to its last event. */

import type { CallState } from "../../call/call.ts";
import type { CallEffect, EffectOf, MessageRecord } from "../../call/effects.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import { threadOfCall } from "../../call/threads/thread-state.ts";
import { findCall } from "../../call/tools/round.ts";
import type { ServingEngine } from "../../ports/engine-origin.ts";
import type { Span, SpanAttributes } from "../../ports/traces.ts";
import type { Voices } from "../../ports/voices.ts";
import type { CallEngines } from "../call-deps.ts";
import type { ServedRequest } from "../engine-user.ts";
import {
  chatStart,
  clientToolStart,
  engineAttributes,
  engineSpanName,
  recogniserStart,
  toolStart,
  voiceStart,
  type RequestStart,
} from "./request-starts.ts";
import type { SpanBudget } from "./span-budget.ts";
import type { ThreadSpans } from "./thread-spans.ts";
import type { TurnSpans } from "./turn-spans.ts";

export interface RequestSpansDeps {
  readonly engines: Pick<CallEngines, "stt" | "llm" | "tts">;
  readonly voices: Pick<Voices, "originOf">;
  readonly turns: TurnSpans;
  readonly threads: ThreadSpans;
  readonly budget: SpanBudget;
  readonly wallMs: (atMs: number) => number;
}

interface Running {
  readonly span: Span;
  readonly startAtMs: number;
  /** Requests that end together, such as those of a reply. */
  readonly owner: string;
  /** Its end is no event of its own, but read from the state. */
  readonly invocationId: string | null;
  hasBegun: boolean;
  toolCalls: number;
  /** Which engine it is; set at the end, because another one of a list may answer. */
  engine: SpanAttributes;
}

type FinishedText = Extract<CallEngineEvent, { readonly type: "replyTextFinished" | "sideTextFinished" }>;

/** A failure of which the engine says no more. */
const UNKNOWN = "_OTHER";

const model = (replyId: number): string => `model ${String(replyId)}`;
const side = (generationId: number): string => `side ${String(generationId)}`;
const transcript = (utteranceId: number, revision: number): string =>
  `transcript ${String(utteranceId)} ${String(revision)}`;
const segment = (segmentId: number): string => `segment ${String(segmentId)}`;
const tool = (invocationId: string): string => `tool ${invocationId}`;
/** As the spans of the kind are named. */
const OPERATIONS = { stt: "speech_to_text", llm: "chat", side: "chat", tts: "text_to_speech" } as const;
const ofReply = (replyId: number): string => `reply ${String(replyId)}`;
const ofUtterance = (utteranceId: number): string => `utterance ${String(utteranceId)}`;

export class RequestSpans {
  readonly #deps: RequestSpansDeps;
  readonly #running = new Map<string, Running>();
  /** Of all requests to the model that reported them. */
  inputTokens = 0;
  outputTokens = 0;

  constructor(deps: RequestSpansDeps) {
    this.#deps = deps;
  }

  /** The answers of requests. */
  take(event: CallEngineEvent): void {
    const { atMs } = event;
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most events answer no request
    switch (event.type) {
      case "replyTextReceived":
        this.#began(model(event.replyId), atMs);
        break;
      case "replyToolCalled":
        this.#calledTool(model(event.replyId), atMs);
        break;
      case "replyTextFinished":
        this.#endModel(model(event.replyId), event, atMs);
        break;
      case "replyFailed":
        this.#end(model(event.replyId), atMs, event.errorType ?? UNKNOWN);
        break;
      case "sideTextReceived":
        this.#began(side(event.generationId), atMs);
        break;
      case "sideToolCalled":
        this.#calledTool(side(event.generationId), atMs);
        break;
      case "sideTextFinished":
        this.#endModel(side(event.generationId), event, atMs);
        break;
      case "sideGenerationFailed":
        this.#end(side(event.generationId), atMs, event.errorType ?? UNKNOWN);
        break;
      case "transcriptFinished": {
        const understood = { "parley.transcript.understood": event.understood };
        this.#end(transcript(event.utteranceId, event.revision), atMs, null, understood);
        break;
      }
      case "transcriptFailed":
        this.#end(transcript(event.utteranceId, event.revision), atMs, event.errorType ?? UNKNOWN);
        break;
      case "segmentAudioReceived":
        this.#began(segment(event.segmentId), atMs);
        break;
      case "segmentSynthesized": {
        const audio = { "parley.audio_ms": event.durationMs };
        this.#end(segment(event.segmentId), atMs, event.durationMs > 0 ? null : "no_audio", audio);
        break;
      }
      case "segmentFailed": {
        const audio = { "parley.audio_ms": event.receivedMs };
        this.#end(segment(event.segmentId), atMs, event.errorType ?? UNKNOWN, audio);
        break;
      }
      case "toolFinished": {
        const { outcome } = event;
        const failure = outcome.kind === "completed" ? null : failureOf(outcome.cause === "timeout");
        this.#end(tool(event.invocationId), atMs, failure);
        break;
      }
      default:
      // No answer to a request.
    }
  }

  /** An engine of a list answers a request; of several that answer it, the last one is named. */
  served(request: ServedRequest, engine: ServingEngine): void {
    const running = this.#running.get(keyOf(request));
    if (running === undefined) return;
    running.span.rename(engineSpanName(OPERATIONS[request.kind], engine.model));
    running.engine = { ...engineAttributes(engine, engine.model), "parley.engine": engine.entry };
  }

  /** A request that begins, or that nobody waits for any more. */
  act(effect: CallEffect, event: CallEngineEvent, state: CallState): void {
    const { atMs } = event;
    const { turns, engines } = this.#deps;
    const isTimer = event.type === "timerFired";
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- most effects begin no request
    switch (effect.type) {
      case "generateReply": {
        const { replyId, request } = effect;
        const parent = turns.ofReply(replyId, state, atMs);
        this.#begin(model(replyId), ofReply(replyId), parent, atMs, chatStart(request, engines.llm));
        break;
      }
      case "generateSide": {
        const { generationId, threadId, request } = effect;
        const parent = this.#deps.threads.of(threadId, atMs);
        this.#begin(side(generationId), "", parent, atMs, chatStart(request, engines.llm));
        break;
      }
      case "abortSide":
        // By a timer where the model is silent for too long, unless the call is over.
        if (isTimer && state.phase.kind === "live") this.#end(side(effect.generationId), atMs, "timeout");
        else this.#cancel(side(effect.generationId), atMs);
        break;
      case "requestTranscript": {
        const { utteranceId, revision } = effect;
        const key = transcript(utteranceId, revision);
        const start = recogniserStart(revision, engines.stt);
        this.#begin(key, ofUtterance(utteranceId), turns.ofUtterance(utteranceId), atMs, start);
        break;
      }
      case "synthesize":
        this.#synthesize(effect, state, atMs, isTimer);
        break;
      case "invokeTool":
        this.#invoke(effect.invocation.invocationId, toolStart(effect.invocation), state, atMs, false);
        break;
      case "sendDataMessage":
      case "sendDataConnectionMessage": {
        const start = clientToolStart(effect.message);
        if (start !== null) this.#invoke(start.invocationId, start, state, atMs, true);
        break;
      }
      case "abortReply":
        // The engine gives a silent model up by a timer.
        if (isTimer && state.engines.llm.retrying) this.#end(model(effect.replyId), atMs, "timeout");
        this.#cancelAll(ofReply(effect.replyId), atMs);
        break;
      case "clearPlayout":
        this.#cancelAll(ofReply(effect.replyId), atMs, model(effect.replyId));
        break;
      case "abandonUtterance":
        this.#cancelAll(ofUtterance(effect.utteranceId), atMs);
        break;
      case "abortTool":
        // Its time is over, unless the call is.
        if (isTimer && state.phase.kind === "live") this.#end(tool(effect.invocationId), atMs, "timeout");
        else this.#cancel(tool(effect.invocationId), atMs);
        break;
      case "recordMessage":
        this.#recorded(effect.message, state, atMs, isTimer);
        break;
      default:
      // It neither begins nor ends a request.
    }
  }

  /** What the engine has given up by a timer, and tools whose end is read from the state. */
  settle(event: CallEngineEvent, state: CallState): void {
    const isTimer = event.type === "timerFired";
    const { turn, reply } = state;
    if (isTimer && turn.kind !== "quiet" && turn.request === "retrying")
      this.#end(transcript(turn.utteranceId, turn.revision), event.atMs, "timeout");
    if (isTimer && reply?.generation === "failed") this.#end(model(reply.replyId), event.atMs, "timeout");
    for (const [key, { invocationId }] of this.#running) {
      if (invocationId === null || isUnawaited(state, invocationId)) continue;
      const progress = findCall(state, invocationId)?.progress;
      if (progress?.kind === "running") continue;
      const failed = progress?.kind === "answered" && progress.answer.errorDetails !== null;
      this.#end(key, event.atMs, failed ? failureOf(isTimer) : null);
    }
  }

  /** The call is over. */
  finish(atMs: number): void {
    for (const key of this.#running.keys()) this.#cancel(key, atMs);
  }

  /** The result of a tool of the client. */
  #recorded(message: MessageRecord, state: CallState, atMs: number, isTimer: boolean): void {
    const { role, invocationId, errorDetails } = message;
    if (role !== "tool_result" || invocationId === null || isUnawaited(state, invocationId)) return;
    const key = tool(invocationId);
    if (this.#running.get(key)?.invocationId !== invocationId) return;
    this.#end(key, atMs, errorDetails === null ? null : failureOf(isTimer));
  }

  #synthesize(effect: EffectOf<"synthesize">, state: CallState, atMs: number, isTimer: boolean): void {
    const { replyId, segmentId, silent, tones = null } = effect;
    const key = segment(segmentId);
    // Another attempt replaces one that took too long.
    if (isTimer) this.#end(key, atMs, "timeout");
    else this.#cancel(key, atMs);
    if (silent || tones !== null) return;
    const { turns, engines, voices } = this.#deps;
    const parent = turns.ofReply(replyId, state, atMs);
    const origin = voices.originOf(effect.voice) ?? engines.tts;
    this.#begin(key, ofReply(replyId), parent, atMs, voiceStart(effect, origin));
  }

  #invoke(
    invocationId: string,
    start: RequestStart,
    state: CallState,
    atMs: number,
    endsByState: boolean,
  ): void {
    const { turns, threads } = this.#deps;
    const thread = threadOfCall(state.sideThreads, invocationId);
    const parent =
      thread === null ? turns.ofTool(invocationId, state, atMs) : threads.of(thread.threadId, atMs);
    this.#begin(tool(invocationId), "", parent, atMs, start, endsByState ? invocationId : null);
  }

  #begin(
    key: string,
    owner: string,
    parent: Span | null,
    atMs: number,
    { name, kind, attributes, engine = {} }: RequestStart,
    invocationId: string | null = null,
  ): void {
    const { budget, wallMs } = this.#deps;
    this.#cancel(key, atMs);
    const span = budget.begin(parent, { name, kind, attributes, startMs: wallMs(atMs) });
    if (span === null) budget.dropped += 1;
    else {
      const begun = { span, startAtMs: atMs, owner, invocationId, hasBegun: false, toolCalls: 0, engine };
      this.#running.set(key, begun);
    }
  }

  #began(key: string, atMs: number): Running | undefined {
    const running = this.#running.get(key);
    if (running === undefined || running.hasBegun) return running;
    running.hasBegun = true;
    // In seconds, as the conventions say.
    running.span.set({ "gen_ai.response.time_to_first_chunk": (atMs - running.startAtMs) / 1000 });
    return running;
  }

  #calledTool(key: string, atMs: number): void {
    const running = this.#began(key, atMs);
    if (running !== undefined) running.toolCalls += 1;
  }

  #endModel(key: string, event: FinishedText, atMs: number): void {
    const { inputTokens, outputTokens, cachedInputTokens } = event;
    const toolCalls = this.#running.get(key)?.toolCalls ?? 0;
    this.inputTokens += inputTokens ?? 0;
    this.outputTokens += outputTokens ?? 0;
    this.#end(key, atMs, null, {
      "parley.tool_calls": toolCalls,
      ...(inputTokens === null ? {} : { "gen_ai.usage.input_tokens": inputTokens }),
      ...(outputTokens === null ? {} : { "gen_ai.usage.output_tokens": outputTokens }),
      ...(cachedInputTokens === undefined
        ? {}
        : { "gen_ai.usage.cache_read.input_tokens": cachedInputTokens }),
    });
  }

  #cancelAll(owner: string, atMs: number, except?: string): void {
    for (const [key, running] of this.#running)
      if (running.owner === owner && key !== except) this.#cancel(key, atMs);
  }

  /** Nobody waits for it any more; that is no failure. */
  #cancel(key: string, atMs: number): void {
    this.#end(key, atMs, null, { "parley.cancelled": true });
  }

  #end(key: string, atMs: number, errorType: string | null, attributes: SpanAttributes = {}): void {
    const running = this.#running.get(key);
    if (running === undefined) return;
    this.#running.delete(key);
    running.span.set({ ...running.engine, ...attributes });
    running.span.end(this.#deps.wallMs(atMs), errorType);
  }
}

function keyOf(request: ServedRequest): string {
  if (request.kind === "llm") return model(request.replyId);
  if (request.kind === "side") return side(request.generationId);
  return request.kind === "tts"
    ? segment(request.segmentId)
    : transcript(request.utteranceId, request.revision);
}

function failureOf(isTimeout: boolean): string {
  return isTimeout ? "timeout" : "tool_error";
}

function isUnawaited({ unawaitedTools }: CallState, invocationId: string): boolean {
  return unawaitedTools.some((one) => one.invocationId === invocationId);
}
