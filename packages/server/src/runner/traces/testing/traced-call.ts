/** The spans of a scenario: its events are run through the engine again, with a tracer beside it. */

import { step } from "../../../call/call.ts";
import type { CallEngineEvent } from "../../../call/events.ts";
import type { Scenario } from "../../../call/testing/scenario.ts";
import { openFakeLlm } from "../../../ports/testing/fake-llm.ts";
import { openFakeStt } from "../../../ports/testing/fake-stt.ts";
import { openFakeTraces, type EndedSpan } from "../../../ports/testing/fake-traces.ts";
import { openFakeTts } from "../../../ports/testing/fake-tts.ts";
import { openFakeVoices } from "../../../ports/testing/fake-voices.ts";
import { traceCall, type CallSpans } from "../call-spans.ts";

/** Wall clock at the creation of the call. */
export const CREATED_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

const server = { address: "127.0.0.1", port: 8000 };

/**
 * @param limit of spans below that of the call
 * @param before called before each event
 */
export function traced(
  call: Scenario,
  limit?: number,
  before?: (event: CallEngineEvent, spans: CallSpans) => void,
): readonly EndedSpan[] {
  const traces = openFakeTraces();
  const spans = traceCall({
    plan: call.first.plan,
    traces,
    engines: {
      llm: { ...openFakeLlm(), model: "small", server },
      stt: { ...openFakeStt(), model: "whisper", server },
      tts: openFakeTts(),
    },
    voices: openFakeVoices(),
    wallMs: (atMs) => CREATED_MS + atMs,
    ...(limit === undefined ? {} : { limit }),
  });
  let state = call.first;
  for (const event of call.events) {
    if (spans !== null) before?.(event, spans);
    const next = step(state, event);
    state = next.state;
    spans?.observe(event, state, next.effects);
    const end = next.effects.find((effect) => effect.type === "endCall");
    if (end !== undefined) spans?.finish(end.reason, event.atMs);
  }
  if (state.phase.kind !== "ended") spans?.finish("hangup", call.atMs);
  if (traces.open() > 0) throw new Error(`${String(traces.open())} spans have not ended`);
  return traces.ended;
}

/** The spans below that of the call as lines, in the order of their beginnings. */
export function treeOf(spans: readonly EndedSpan[], parentId: string | null = null, depth = 0): string[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .toSorted((a, b) => a.startMs - b.startMs)
    .flatMap((span) => [`${"  ".repeat(depth)}${lineOf(span)}`, ...treeOf(spans, span.spanId, depth + 1)]);
}

function lineOf({ name, attributes, errorType }: EndedSpan): string {
  const cause = attributes["parley.turn.cause"];
  const outcome = attributes["parley.turn.outcome"];
  const what = cause === undefined ? [] : [`${String(cause)} ${String(outcome)}`];
  const cancelled = attributes["parley.cancelled"] === true ? ["cancelled"] : [];
  const failed = errorType === null ? [] : [`failed: ${errorType}`];
  return [name, ...what, ...cancelled, ...failed].join(", ");
}
