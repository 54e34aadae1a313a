/**
 * Marks over the waveform: speakers, tools, interruptions and stages. They are inside the library's shadow root, which
 * style sheets of this page do not reach, but CSS variables do.
 */

import { type CSSProperties, memo } from "react";
import { msOf, clockOf } from "./call-words.ts";
import type { Line } from "./lines.ts";
import { AXIS_HEIGHT, SIDE_HEIGHT } from "./recording/wave-sizes.ts";

export type MarkKind = "caller" | "agent" | "tool" | "interruption" | "stage" | "problem";

export interface Mark {
  readonly key: string;
  readonly kind: MarkKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly title: string;
}

/** More than fits on a screen; an hour of fast talk has half as many. */
const MAX_MARKS = 2_000;

export function marksOf(lines: readonly Line[]): readonly Mark[] {
  const marks = lines.flatMap((line): Mark[] => {
    const { span, key } = line;
    if (span === null) return [];
    if (line.kind === "tool") {
      return [{ key, kind: "tool", startMs: span.startMs, endMs: span.startMs, title: `Tool ${line.name}` }];
    }
    if (line.kind === "event") {
      const kind = kindOf(line.event.type, line.event.severity);
      return kind === null ? [] : [{ key, kind, ...span, title: line.event.text }];
    }
    if (line.message.medium === "MESSAGE_MEDIUM_TEXT") return [];
    const turn: Mark = { key, kind: line.isAgent ? "agent" : "caller", ...span, title: line.message.text };
    if (!line.interrupted) return [turn];
    const atMs = msOf(line.interruption?.callTimestamp) ?? span.endMs;
    const cut: Mark = {
      key: `${key}/cut`,
      kind: "interruption",
      startMs: atMs,
      endMs: atMs,
      title: "Interrupted",
    };
    return [turn, cut];
  });
  return marks.slice(0, MAX_MARKS);
}

function kindOf(type: string, severity: string): MarkKind | null {
  if (type === "stage.changed") return "stage";
  if (type === "turn.interrupted") return "interruption";
  return severity === "warning" || severity === "error" ? "problem" : null;
}

export const MARK_COLOURS: Readonly<Record<MarkKind, string>> = {
  caller: "var(--caller)",
  agent: "var(--accent)",
  tool: "var(--ink)",
  interruption: "var(--bad)",
  stage: "var(--good)",
  problem: "var(--warn)",
};

interface MarksProps {
  readonly marks: readonly Mark[];
  readonly seconds: number;
}

export const Marks = memo(function Marks({ marks, seconds }: MarksProps) {
  const percent = (ms: number) => `${(ms / 10 / seconds).toFixed(3)}%`;
  return (
    <div aria-hidden="true" style={LAYER}>
      {marks.map(({ key, kind, startMs, endMs, title }) => (
        <div
          key={key}
          title={title}
          style={{
            ...(kind === "caller" || kind === "agent" ? bandOf(kind) : lineOf(kind)),
            left: percent(Math.min(startMs, seconds * 1000)),
            ...(kind === "caller" || kind === "agent"
              ? { width: percent(Math.max(0, Math.min(endMs, seconds * 1000) - startMs)) }
              : {}),
          }}
        />
      ))}
    </div>
  );
});

const LAYER: CSSProperties = { position: "absolute", inset: 0, pointerEvents: "none", overflow: "hidden" };

function bandOf(kind: "caller" | "agent"): CSSProperties {
  return {
    position: "absolute",
    top: kind === "caller" ? 0 : SIDE_HEIGHT,
    height: SIDE_HEIGHT,
    background: MARK_COLOURS[kind],
    opacity: 0.12,
    borderRadius: 4,
  };
}

function lineOf(kind: MarkKind): CSSProperties {
  return {
    position: "absolute",
    top: 0,
    height: SIDE_HEIGHT * 2,
    width: 0,
    borderLeft: `2px ${kind === "tool" ? "dotted" : "solid"} ${MARK_COLOURS[kind]}`,
  };
}

/** Width of one label. */
const LABEL_WIDTH = 72;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400];
/** A step that no zoom reaches; limits the number of labels. */
const MAX_LABELS = 3_000;

export const Axis = memo(function Axis({
  seconds,
  pixelsPerSecond,
}: {
  readonly seconds: number;
  readonly pixelsPerSecond: number;
}) {
  const step = STEPS.find((each) => each * pixelsPerSecond >= LABEL_WIDTH) ?? 14_400;
  const count = Math.min(MAX_LABELS, Math.floor(seconds / step) + 1);
  return (
    <div aria-hidden="true" style={AXIS}>
      {Array.from({ length: count }, (_, index) => index * step)
        // The last one would be cut off.
        .filter((at) => at === 0 || (seconds - at) * pixelsPerSecond > LABEL_WIDTH / 2)
        .map((at) => (
          <span key={at} style={{ ...LABEL, left: `${String((at / seconds) * 100)}%` }}>
            {clockOf(at * 1000)}
          </span>
        ))}
    </div>
  );
});

const AXIS: CSSProperties = {
  position: "absolute",
  left: 0,
  right: 0,
  bottom: 0,
  height: AXIS_HEIGHT,
  overflow: "hidden",
  borderTop: "1px solid var(--line)",
  color: "var(--soft)",
  font: "400 11px/1.6 var(--font)",
  fontVariantNumeric: "tabular-nums",
};

const LABEL: CSSProperties = {
  position: "absolute",
  top: 0,
  height: "100%",
  paddingLeft: 4,
  borderLeft: "1px solid var(--line)",
};
