/** When speech counts as a turn, and when a turn is over. */

import { z } from "zod";
import { boundedDuration } from "../values/duration.ts";

/** Limits the three durations: after more silence a caller believes that the line is dead. */
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
      "Silence before the agent answers. Speech is detected in windows of 32 ms, so only multiples of 32 ms matter.",
    ),
  minimumTurnDuration: boundedDuration({
    maxMs: MAX_VAD_MS,
    default: VAD_DEFAULTS.minimumTurnDuration,
  })
    .optional()
    .describe("Shorter speech is not a turn."),
  minimumInterruptionDuration: boundedDuration({
    maxMs: MAX_VAD_MS,
    default: VAD_DEFAULTS.minimumInterruptionDuration,
  })
    .optional()
    .describe(
      "Shorter speech does not interrupt the agent. The larger of this and `minimumTurnDuration` applies.",
    ),
  frameActivationThreshold: z
    .number()
    .min(0.1)
    .max(1)
    .meta({ default: VAD_DEFAULTS.frameActivationThreshold })
    .optional()
    .describe(
      "Probability from which a window counts as speech. Higher values ignore more quiet speech and noise.",
    ),
});
export type VadSettings = z.output<typeof VadSettings>;
