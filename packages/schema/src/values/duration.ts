/** Durations on the wire: seconds as text with an `s`, such as `30s` or `0.384s`. */

import { z } from "zod";

export const DURATION_PATTERN = /^-?(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?s$/;

const PARTS = /^(-?)(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,9}))?s$/;

/** Largest whole number of seconds that the pattern can hold. */
const MAX_SECONDS = 999_999_999_999;
const NANOS_PER_MS = 1_000_000;
const NANOS_PER_SECOND = 1_000_000_000;

interface DurationParts {
  readonly negative: boolean;
  readonly seconds: string;
  /** Digits after the point, without trailing zeros. */
  readonly fraction: string;
}

function partsOf(text: string): DurationParts {
  const match = PARTS.exec(text);
  if (match === null) throw new RangeError(`not a duration: ${JSON.stringify(text.slice(0, 40))}`);
  const [, sign = "", seconds = "0", digits = ""] = match;
  const fraction = digits.replace(/0+$/, "");
  return { negative: sign === "-" && (seconds !== "0" || fraction !== ""), seconds, fraction };
}

/** Milliseconds, exact to the microsecond. Throws a `RangeError` if the text is not a duration. */
export function parseDurationMs(text: string): number {
  const { negative, seconds, fraction } = partsOf(text);
  const ms = Number(seconds) * 1000 + Number(fraction.padEnd(9, "0")) / NANOS_PER_MS;
  return negative ? -ms : ms;
}

/** The same duration in its shortest form: `3600.000s` becomes `3600s`. Throws like `parseDurationMs`. */
export function normalizeDuration(text: string): string {
  const { negative, seconds, fraction } = partsOf(text);
  return `${negative ? "-" : ""}${seconds}${fraction === "" ? "" : `.${fraction}`}s`;
}

/** Shortest text for milliseconds, rounded to the nanosecond. Throws a `RangeError` outside the wire's range. */
export function formatDurationMs(ms: number): string {
  const size = Math.abs(ms);
  let seconds = Math.floor(size / 1000);
  let nanos = Math.round((size - seconds * 1000) * NANOS_PER_MS);
  if (nanos >= NANOS_PER_SECOND) {
    seconds += 1;
    nanos = 0;
  }
  if (!(seconds <= MAX_SECONDS)) throw new RangeError(`not a length of time on the wire: ${ms} ms`);
  return normalizeDuration(`${ms < 0 ? "-" : ""}${seconds}.${String(nanos).padStart(9, "0")}s`);
}

export interface DurationBounds {
  /** Inclusive; default 0. */
  readonly minMs?: number;
  /** Inclusive. */
  readonly maxMs?: number;
  /** The duration must be more than `minMs`. */
  readonly exclusiveMin?: boolean;
  /** Shown in the OpenAPI document; values are not filled in. */
  readonly default?: string;
}

function boundsProblem(
  text: string,
  { minMs = 0, maxMs, exclusiveMin = false }: DurationBounds,
): string | null {
  const ms = parseDurationMs(text);
  if (exclusiveMin && ms <= minMs) return `must be more than ${formatDurationMs(minMs)}`;
  if (ms < minMs) return `must be at least ${formatDurationMs(minMs)}`;
  if (maxMs !== undefined && ms > maxMs) return `must be at most ${formatDurationMs(maxMs)}`;
  return null;
}

/**
 * A duration within bounds, by default 0 or more; parses to its shortest form. JSON Schema has no keyword for bounds
 * of such texts, so the OpenAPI document shows them as extensions.
 */
export function boundedDuration(bounds: DurationBounds) {
  return z
    .string()
    .regex(DURATION_PATTERN, { error: 'must be a duration such as "30s" or "0.384s"' })
    .superRefine(
      (text, context) => {
        const problem = boundsProblem(text, bounds);
        if (problem !== null) context.addIssue({ code: "custom", message: problem });
      },
      { when: ({ value }) => typeof value === "string" && DURATION_PATTERN.test(value) },
    )
    .overwrite((text) => (DURATION_PATTERN.test(text) ? normalizeDuration(text) : text))
    .meta({
      format: "duration-seconds",
      ...(bounds.default === undefined ? {} : { default: bounds.default }),
      ...(bounds.minMs === undefined ? {} : { "x-minimum": formatDurationMs(bounds.minMs) }),
      ...(bounds.maxMs === undefined ? {} : { "x-maximum": formatDurationMs(bounds.maxMs) }),
    });
}

/** Any duration of 0 or more. */
export const Duration = boundedDuration({});
export type Duration = z.output<typeof Duration>;
