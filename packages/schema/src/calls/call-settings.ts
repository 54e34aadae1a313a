/** Settings that calls and the templates of agents share. */

import { z } from "zod";
import { asObject, withRule } from "../values/check.ts";
import { boundedDuration } from "../values/duration.ts";
import { FreeObject, sealed, template, text, writeOnly } from "../values/fields.ts";
import { url } from "../values/http-parts.ts";
import { oneOf } from "../values/one-of.ts";

export const DEFAULT_JOIN_TIMEOUT = "30s";
export const DEFAULT_MAX_DURATION = "3600s";

export const JoinTimeout = boundedDuration({
  minMs: 1000,
  maxMs: 3_600_000,
  default: DEFAULT_JOIN_TIMEOUT,
}).describe("From creation. A call that is not joined by then ends with `unjoined`.");
export const MaxDuration = boundedDuration({
  minMs: 1000,
  maxMs: 86_400_000,
  default: DEFAULT_MAX_DURATION,
}).describe("From the join. The call then ends with `timeout`, after `timeExceededMessage` if it is set.");

export const Temperature = z
  .number()
  .min(0)
  .max(1)
  .meta({ default: 0 })
  .describe("Randomness of the model's output.");

export const ModelName = z
  .string()
  .min(1)
  .max(128)
  .meta({ default: "default" })
  .describe("The name of a model from the list of models.");

export const VoiceName = z
  .string()
  .min(1)
  .max(128)
  .describe("Name or id of a voice. Unset: the voice engine's default.");

export const MAX_LANGUAGE_HINT_LENGTH = 16;
export const LanguageHint = text(0, MAX_LANGUAGE_HINT_LENGTH).describe(
  "Language of the conversation as a BCP 47 tag, such as `en` or `de-CH`.",
);

/** Vendors take about 100 terms; one has a name or a short phrase. */
export const MAX_TRANSCRIPT_HINTS = 100;
export const MAX_TRANSCRIPT_HINT_LENGTH = 100;

export const TranscriptHints = z.array(text(1, MAX_TRANSCRIPT_HINT_LENGTH)).max(MAX_TRANSCRIPT_HINTS);

export const MAX_INACTIVITY_MESSAGES = 100;

/** What the agent says when the caller was silent for `duration` after the previous message. */
export const TimedMessage = z.strictObject({
  duration: boundedDuration({ exclusiveMin: true }),
  message: template(z.string()),
  endBehavior: z
    .enum(["END_BEHAVIOR_HANG_UP_SOFT", "END_BEHAVIOR_HANG_UP_STRICT"])
    .optional()
    .describe(
      "After the message: SOFT ends the call unless the caller acts, STRICT ends it. Unset: the call goes on.",
    ),
});
export type TimedMessage = z.output<typeof TimedMessage>;

export const InactivityMessages = z.array(TimedMessage).max(MAX_INACTIVITY_MESSAGES);

const opening = {
  text: z.string().optional().describe("Said word for word."),
  prompt: z.string().optional().describe("Instructions for the model's opening."),
};

/** Who speaks first. `text` is said word for word; `prompt` instructs the model. */
export const FirstSpeakerSettings = oneOf({
  user: z.strictObject({
    fallback: z
      .strictObject({ delay: boundedDuration({ default: "5s" }).optional(), ...opening })
      .optional()
      .describe("The agent speaks first if the user does not speak within `delay` of the join."),
  }),
  agent: z.strictObject({
    uninterruptible: z
      .boolean()
      .meta({ default: false })
      .optional()
      .describe("The user cannot interrupt the opening."),
    ...opening,
    delay: boundedDuration({ default: "0s" }).optional().describe("From the join to the opening."),
  }),
});
export type FirstSpeakerSettings = z.output<typeof FirstSpeakerSettings>;

export const FirstSpeaker = z.enum(["FIRST_SPEAKER_AGENT", "FIRST_SPEAKER_USER"]);
export type FirstSpeaker = z.output<typeof FirstSpeaker>;

/** The older form of the same setting. */
export function firstSpeakerOf(settings: FirstSpeakerSettings): FirstSpeaker {
  return settings.user === undefined ? "FIRST_SPEAKER_AGENT" : "FIRST_SPEAKER_USER";
}

export type RetentionPolicy = "retain" | "auto_delete";

/** Parses to `retain` or `auto_delete`. */
export const RetentionPolicyInput = z
  .enum(["retain", "auto_delete", "CALL_RETENTION_POLICY_RETAIN", "CALL_RETENTION_POLICY_AUTO_DELETE"])
  .transform((policy): RetentionPolicy =>
    policy.toLowerCase().endsWith("auto_delete") ? "auto_delete" : "retain",
  )
  .meta({
    vendorValues: {
      retain: "CALL_RETENTION_POLICY_RETAIN",
      auto_delete: "CALL_RETENTION_POLICY_AUTO_DELETE",
    },
  });

/** Each signs the data connection; use several to rotate. */
export const SharedSecrets = writeOnly(z.array(text(16, 127)).max(10));

/** Limits the storage of one call; size as JSON. */
const MAX_METADATA_BYTES = 65_536;
const RESERVED_PREFIXES = ["service.", "ultravox."] as const;

const METADATA_TOO_LARGE = `must have at most ${MAX_METADATA_BYTES} bytes as JSON`;
/** `"":"",` is the smallest member. */
const MOST_METADATA = { count: MAX_METADATA_BYTES / 6, message: METADATA_TOO_LARGE };

/** Labels that users give a call. */
export const Metadata = withRule(
  z
    .record(z.string(), z.string())
    .meta({ freeForm: true, mostMembers: MOST_METADATA, description: "At most 64 KiB." }),
  (value, report) => {
    const metadata = asObject(value) ?? {};
    for (const key of Object.keys(metadata)) {
      const prefix = RESERVED_PREFIXES.find((reserved) => key.startsWith(reserved));
      if (prefix !== undefined) report([key], `must not begin with ${prefix}, which is reserved`);
    }
    if (new TextEncoder().encode(JSON.stringify(metadata)).byteLength > MAX_METADATA_BYTES) {
      report([], METADATA_TOO_LARGE);
    }
  },
);

const Callback = z.strictObject({
  url: url(["http", "https"]).describe("Receives a POST."),
  secrets: sealed(z.array(text(1, 120)).max(10), "calls")
    .optional()
    .describe("Each signs the request; use several to rotate."),
});

/** Addresses that receive a request when the call is joined, ended or billed. */
export const Callbacks = z.strictObject({
  joined: Callback.optional(),
  ended: Callback.optional(),
  billed: Callback.optional(),
});
export type Callbacks = z.output<typeof Callbacks>;

export const MAX_INITIAL_MESSAGES = 1000;

/** Free-form settings; only `transcriptionProvider` and `transcriptHints` have an effect. */
export const ExperimentalSettings = FreeObject;

/** `firstSpeaker` and `firstSpeakerSettings` may both be given when they agree. */
export function withFirstSpeakerRule<S extends z.ZodType>(schema: S): S {
  return withRule(schema, (value, report) => {
    const { firstSpeaker, firstSpeakerSettings } = asObject(value) ?? {};
    const settings = asObject(firstSpeakerSettings);
    if (settings === null || typeof firstSpeaker !== "string") return;
    const given = Object.keys(settings);
    if (given.length !== 1 || !["user", "agent"].includes(given[0] ?? "")) return;
    const wanted = given[0] === "user" ? "FIRST_SPEAKER_USER" : "FIRST_SPEAKER_AGENT";
    if (FirstSpeaker.safeParse(firstSpeaker).success && firstSpeaker !== wanted) {
      report(["firstSpeaker"], `must agree with firstSpeakerSettings: ${wanted}`);
    }
  });
}
