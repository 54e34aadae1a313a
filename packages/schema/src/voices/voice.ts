/** Voices that are not stored in the service, and overrides for stored ones. */

import { z } from "zod";
import { asObject, withRule, type Report } from "../values/check.ts";
import { FreeObject, ranged, wholeNumber } from "../values/fields.ts";
import { headerMap, url } from "../values/http-parts.ts";
import { oneOf, setKeys } from "../values/one-of.ts";

const text = z.string().min(1).max(256).optional();

const provider1 = {
  voiceId: text,
  model: text,
  speed: ranged(0.7, 1.2).meta({ default: 1 }).optional(),
  stability: ranged(0, 1).optional(),
  similarityBoost: ranged(0, 1).optional(),
  style: ranged(0, 1).optional(),
  useSpeakerBoost: z.boolean().optional(),
  pronunciationDictionaries: z
    .array(z.strictObject({ dictionaryId: z.string(), versionId: z.string().optional() }))
    .max(3)
    .optional(),
  optimizeStreamingLatency: wholeNumber(0, 4).optional(),
  maxSampleRate: wholeNumber(8000, 48_000).optional().describe("Hz"),
  enableSsmlParsing: z.boolean().optional(),
};

const provider2 = {
  voiceId: text,
  model: text,
  speed: ranged(-1, 1)
    .meta({ default: 0, deprecated: true })
    .optional()
    .describe("Obsolete, like `emotion` and `emotions`; use `generationConfig`."),
  emotion: z.string().meta({ deprecated: true }).optional(),
  emotions: z.array(z.string()).meta({ deprecated: true }).optional(),
  generationConfig: z
    .strictObject({
      volume: ranged(0.5, 2).meta({ default: 1 }).optional(),
      speed: ranged(0.6, 1.5).meta({ default: 1 }).optional(),
      emotion: z.string().optional(),
      pronunciationDictId: z.string().optional(),
    })
    .optional(),
};

const provider3 = {
  voiceId: text,
  model: text,
  speed: ranged(0.25, 2).meta({ default: 1 }).optional(),
  conversational: z.boolean().optional(),
};

const provider4 = { voiceId: text, speakingRate: ranged(0.25, 2).meta({ default: 1 }).optional() };

const provider5 = {
  voiceId: text,
  modelId: text,
  speakingRate: ranged(0.5, 1.5).meta({ default: 1 }).optional(),
  temperature: z
    .number()
    .gt(0, { error: "must be more than 0 and at most 2" })
    .max(2, { error: "must be more than 0 and at most 2" })
    .optional(),
  applyTextNormalization: z.boolean().optional(),
};

const provider6 = {
  voiceId: text,
  model: text,
  seed: z.int().optional(),
  temperature: z.number().min(0).optional(),
  topK: z
    .int()
    .min(-1)
    .refine((value) => value !== 0, { error: "must be -1 (off) or more than 0" })
    .optional(),
  topP: z
    .number()
    .gt(0, { error: "must be more than 0 and at most 1" })
    .max(1, { error: "must be more than 0 and at most 1" })
    .optional(),
  minP: ranged(0, 1).optional(),
  presencePenalty: ranged(0, 2).optional(),
  frequencyPenalty: ranged(0, 2).optional(),
  repetitionPenalty: ranged(1, 2).optional(),
};

/** Placeholder for the sentence in the body of a generic voice. */
export const TEXT_PLACEHOLDER = "{text}";

function holdsPlaceholder(value: unknown): boolean {
  if (typeof value === "string") return value.includes(TEXT_PLACEHOLDER);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsPlaceholder);
}

const genericBody = FreeObject.refine(holdsPlaceholder, {
  error: `must contain ${TEXT_PLACEHOLDER} in one of its texts`,
});

const generic = {
  url: url(["http", "https"]),
  headers: headerMap().optional(),
  body: genericBody.optional(),
  responseSampleRate: wholeNumber(8000, 48_000).optional().describe("In Hz, for audio without a header."),
  responseWordsPerMinute: wholeNumber(1, 1000)
    .meta({ default: 150 })
    .optional()
    .describe("Used to estimate word times if the voice returns none."),
  responseMimeType: z.enum(["audio/l16", "audio/wav", "application/json", "application/jsonl"]).optional(),
  jsonAudioFieldPath: z
    .string()
    .regex(/^[^.]+(?:\.[^.]+)*$/, { error: "must be a dotted path" })
    .optional()
    .describe("Dotted path to the audio in a JSON response."),
  jsonByteEncoding: z
    .enum(["JSON_BYTE_ENCODING_BASE64", "JSON_BYTE_ENCODING_HEX"])
    .meta({ default: "JSON_BYTE_ENCODING_BASE64" })
    .optional(),
};

/**
 * Exactly one provider. Numbers out of range are refused with the range; unset numbers are not sent to the provider.
 */
export const ExternalVoice = oneOf({
  provider1: z.strictObject(provider1),
  provider2: z.strictObject(provider2),
  provider3: z.strictObject(provider3),
  provider4: z.strictObject(provider4),
  provider5: z.strictObject(provider5),
  provider6: z.strictObject(provider6),
  generic: z.strictObject(generic),
});
export type ExternalVoice = z.output<typeof ExternalVoice>;

/** Voice providers that need an API key of the account. */
export const VOICE_PROVIDERS = [
  "provider1",
  "provider2",
  "provider3",
  "provider4",
  "provider5",
  "provider6",
] as const;
export type VoiceProvider = (typeof VOICE_PROVIDERS)[number];

/** The keys of `ExternalVoice`. */
export const VOICE_KINDS = [...VOICE_PROVIDERS, "generic"] as const;
export type VoiceKind = (typeof VOICE_KINDS)[number];

/** The provider of a voice or of its overrides. */
export function voiceKindOf(voice: ExternalVoice | VoiceOverrides): VoiceKind {
  const kind = VOICE_KINDS.find((each) => voice[each] !== undefined);
  if (kind === undefined) throw new RangeError("a voice without a provider");
  return kind;
}

/** Fields that would change the price or the voice itself. */
const FIXED_FIELDS = [
  "voiceId",
  "model",
  "modelId",
  "url",
  "headers",
  "maxSampleRate",
  "optimizeStreamingLatency",
] as const;
type FixedField = (typeof FIXED_FIELDS)[number];

/** The fields of a provider that can be overridden; others are refused with a reason instead of as unknown. */
function overridable<F extends Readonly<Record<string, z.ZodType>>>(fields: F) {
  const isFixed = (key: string): boolean => FIXED_FIELDS.some((field) => field === key);
  const free = Object.fromEntries(Object.entries(fields).filter(([key]) => !isFixed(key)));
  const refused = Object.keys(fields).filter(isFixed);
  const reason = "cannot be overridden, because it would change the price or the voice itself";
  return z
    .strictObject(free as Omit<F, FixedField>)
    .meta({ refusedKeys: Object.fromEntries(refused.map((key) => [key, reason])) });
}

/** Changes to the voice named by `voice`: exactly one provider, which must be the provider of that voice. */
export const VoiceOverrides = oneOf({
  provider1: overridable(provider1),
  provider2: overridable(provider2),
  provider3: overridable(provider3),
  provider4: overridable(provider4),
  provider5: overridable(provider5),
  provider6: overridable(provider6),
  generic: overridable(generic),
});
export type VoiceOverrides = z.output<typeof VoiceOverrides>;

interface VoiceRules {
  /** Without a voice of its own the object keeps an earlier one, which its overrides are for. */
  readonly inheritsVoice?: boolean;
}

/** `voice` and `externalVoice` exclude each other; `voiceOverrides` needs `voice`. */
function checkVoiceFields(value: unknown, { inheritsVoice = false }: VoiceRules, report: Report): void {
  const fields = setKeys(value, ["voice", "externalVoice", "voiceOverrides"]);
  if (fields.includes("voice") && fields.includes("externalVoice")) {
    report(["externalVoice"], "must not be given together with voice");
  }
  const hasVoice = fields.includes("voice") || (inheritsVoice && !fields.includes("externalVoice"));
  if (fields.includes("voiceOverrides") && !hasVoice) {
    report(["voiceOverrides"], "must only be given together with voice");
  }
}

/** Adds the rules on `voice`, `externalVoice` and `voiceOverrides` to an object that has them. */
export function withVoiceRules<S extends z.ZodType>(schema: S, rules: VoiceRules = {}): S {
  return withRule(schema, (value, report) => {
    if (asObject(value) !== null) checkVoiceFields(value, rules, report);
  });
}
