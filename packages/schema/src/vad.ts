/** When speech counts, and when a turn is over. */

import { z } from "zod";
import { boundedDuration } from "./duration.ts";

/** Bounds the three waits: beyond it a caller takes the line for dead. */
const MAX_VAD_MS = 10_000;

export const VAD_DEFAULTS = {
  turnEndpointDelay: "0.384s",
  minimumTurnDuration: "0s",
  minimumInterruptionDuration: "0.09s",
  frameActivationThreshold: 0.1,
} as const;

export const VadSettings = z.strictObject({
  turnEndpointDelay: boundedDuration({
    maxMs: MAX_VAD_MS,
    default: VAD_DEFAULTS.turnEndpointDelay,
  })
    .optional()
    .describe(
      "Least silence before an answer. Speech is judged in windows of 32 ms, so only multiples of 32 ms matter.",
    ),
  minimumTurnDuration: boundedDuration({
    maxMs: MAX_VAD_MS,
    default: VAD_DEFAULTS.minimumTurnDuration,
  })
    .optional()
    .describe("Shorter speech makes no turn."),
  minimumInterruptionDuration: boundedDuration({
    maxMs: MAX_VAD_MS,
    default: VAD_DEFAULTS.minimumInterruptionDuration,
  })
    .optional()
    .describe(
      "Shorter speech does not interrupt the agent; the larger of this and `minimumTurnDuration` counts.",
    ),
  frameActivationThreshold: z
    .number()
    .min(0.1)
    .max(1)
    .meta({ default: VAD_DEFAULTS.frameActivationThreshold })
    .optional()
    .describe("Probability from which a window counts as speech; more makes the agent harder of hearing."),
});
export type VadSettings = z.output<typeof VadSettings>;
