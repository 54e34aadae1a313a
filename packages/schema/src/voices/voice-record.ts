/** Stored voices, which calls and agents refer to, and the accounts' API keys of voice providers. */

import { z } from "zod";
import { asObject } from "../values/check.ts";
import { FreeValue, ignoring, name, nullUnlessVendor, text, Uuid, writeOnly } from "../values/fields.ts";
import { withWholeSecrets } from "../values/masked.ts";
import { toNeutralName, VENDOR_NAMES } from "../names/names.ts";
import { pageQuery } from "../values/page.ts";
import { ToolOwnership } from "../tools/tool-record.ts";
import { ExternalVoice, VOICE_KINDS, VOICE_PROVIDERS } from "./voice.ts";

export const MAX_VOICE_NAME_LENGTH = 40;
const MAX_VOICE_DESCRIPTION_LENGTH = 240;
const MAX_PRIMARY_LANGUAGE_LENGTH = 10;

const OwnVoiceName = name(MAX_VOICE_NAME_LENGTH);
const VoiceDescription = text(0, MAX_VOICE_DESCRIPTION_LENGTH);

/** Also accepts `und` and private tags: it is not checked whether the language exists. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

const PrimaryLanguage = text(1, MAX_PRIMARY_LANGUAGE_LENGTH)
  .refine((tag) => isLanguageTag(tag), { error: "must be a BCP 47 language tag such as en or de-CH" })
  .describe("BCP 47, such as `en` or `de-CH`.");

export const VoiceOwnership = ToolOwnership;

export const VoiceBillingStyle = z.enum(["VOICE_BILLING_STYLE_INCLUDED", "VOICE_BILLING_STYLE_EXTERNAL"]);
export type VoiceBillingStyle = z.output<typeof VoiceBillingStyle>;

/** A voice as the API returns it. */
export const Voice = z.strictObject({
  voiceId: Uuid,
  name: z
    .string()
    .describe("At most 40 characters for your own voices; public voices are named by their engine."),
  description: z.string().nullable(),
  primaryLanguage: z.string().nullable().describe("BCP 47. Null: not limited to one language."),
  languageLabel: z
    .string()
    .nullable()
    .describe("The English name of the language, such as `German (Switzerland)`."),
  previewUrl: z.string().meta({ format: "uri" }),
  ownership: VoiceOwnership,
  billingStyle: VoiceBillingStyle.describe(
    "Whether the deployment's own engine or an account with a provider speaks.",
  ),
  provider: z
    .string()
    .nullable()
    .meta({ vendorValues: VENDOR_NAMES })
    .describe(
      "`provider1` (ElevenLabs), `provider2` (Cartesia), `provider3` (LMNT), `provider4` (Google), `provider5` (Inworld), `provider6` (Respeecher) or `generic`. Null: an engine of the deployment.",
    ),
  definition: nullUnlessVendor(ExternalVoice).describe("No value if an engine of the deployment speaks."),
});
export type Voice = z.output<typeof Voice>;

const READ_ONLY = ["voiceId", "languageLabel", "previewUrl", "ownership", "billingStyle", "provider"];

/** The body that creates or replaces a voice. */
export const VoiceWrite = ignoring(
  z.strictObject({
    name: OwnVoiceName,
    description: VoiceDescription.nullable().optional(),
    primaryLanguage: PrimaryLanguage.nullable().optional(),
    definition: ExternalVoice,
  }),
  READ_ONLY,
).meta({
  examples: [
    { name: "Ada", primaryLanguage: "en", definition: { provider1: { voiceId: "21m00Tcm4TlvDq8ikWAM" } } },
  ],
});
export type VoiceWrite = z.output<typeof VoiceWrite>;

/** The body that changes a voice. Absent fields stay unchanged; `definition` is replaced as a whole. */
export const VoicePatch = ignoring(
  z.strictObject({
    name: OwnVoiceName.optional(),
    description: VoiceDescription.nullable().optional(),
    primaryLanguage: PrimaryLanguage.nullable().optional(),
    definition: ExternalVoice.optional(),
  }),
  READ_ONLY,
);
export type VoicePatch = z.output<typeof VoicePatch>;

/** A voice to preview before it is stored. */
export const VoicePreviewRequest = ignoring(
  z.strictObject({
    name: OwnVoiceName.optional(),
    description: VoiceDescription.optional(),
    primaryLanguage: PrimaryLanguage.optional(),
    definition: withWholeSecrets(ExternalVoice),
  }),
  READ_ONLY,
).meta({ examples: [{ definition: { provider1: { voiceId: "21m00Tcm4TlvDq8ikWAM" } } }] });
export type VoicePreviewRequest = z.output<typeof VoicePreviewRequest>;

/** The texts beside a recording that a voice is made from. */
export const VoiceCloneForm = z.strictObject({
  name: OwnVoiceName,
  description: VoiceDescription.optional(),
  language: PrimaryLanguage.meta({ default: "en" }).optional(),
});
export type VoiceCloneForm = z.output<typeof VoiceCloneForm>;

/** All spellings, such as `provider1`, `elevenLabs` and `eleven_labs`. */
const ProviderFilter = z
  .string()
  .overwrite(toNeutralName)
  .refine((kind) => VOICE_KINDS.some((known) => known === kind), {
    error: `must be one of ${VOICE_KINDS.join(", ")}`,
  });

export const ListVoicesQuery = z.strictObject({
  ...pageQuery,
  billingStyle: VoiceBillingStyle.optional(),
  ownership: VoiceOwnership.optional(),
  primaryLanguage: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("A BCP 47 tag; case is ignored. `en` also finds `en-GB`."),
  provider: z
    .array(ProviderFilter)
    .max(VOICE_KINDS.length * 2)
    .optional()
    .describe("`provider1` to `provider6` or `generic`. Repeat the parameter to match any of several."),
  search: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe("Part of the name or the description; case is ignored."),
});
export type ListVoicesQuery = z.output<typeof ListVoicesQuery>;

/** The visible part of a stored key. */
const KeyPrefix = z.strictObject({ prefix: z.string() });

type PerProvider<T> = Readonly<Record<(typeof VOICE_PROVIDERS)[number], T>>;

function perProvider<S>(schemaOf: (provider: (typeof VOICE_PROVIDERS)[number]) => S): PerProvider<S> {
  const entries = VOICE_PROVIDERS.map((provider) => [provider, schemaOf(provider)]);
  return Object.fromEntries(entries) as PerProvider<S>;
}

/** The first characters of an account's API keys of voice providers; null without a key. */
export const AccountTtsKeys = z.strictObject(perProvider(() => nullUnlessVendor(KeyPrefix)));
export type AccountTtsKeys = z.output<typeof AccountTtsKeys>;

/** Limits a header; the longest known keys are tokens of about 1,500 characters. */
const MAX_KEY_LENGTH = 4096;
/** A key with line breaks or spaces was copied wrongly and cannot be sent as a header. */
const KEY_TEXT = /^[\x21-\x7e]*$/;

const ProviderKey = writeOnly(
  z
    .string()
    .min(1)
    .max(MAX_KEY_LENGTH)
    .regex(KEY_TEXT, { error: "must be printable ASCII without spaces" })
    .nullable()
    .optional(),
);

/** Limits a service-account document; real ones have about 2,400 characters. */
const MAX_KEY_DOCUMENT_LENGTH = 16_384;

/** The fields that tokens are made from; other fields are stored unchanged. */
const KEY_DOCUMENT_TEXTS = ["client_email", "private_key"] as const;

/** A service-account document, given as an object or as JSON text. Null if it is neither. */
export function keyDocumentOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== "string") return asObject(value);
  try {
    return asObject(JSON.parse(value));
  } catch {
    return null;
  }
}

function keyDocumentProblem(value: unknown): string | null {
  const document = keyDocumentOf(value);
  if (document === null) return "must be the JSON document of a service account, as an object or as its text";
  if (document["type"] !== "service_account") return 'must be of the type "service_account"';
  const missing = KEY_DOCUMENT_TEXTS.filter(
    (key) => typeof document[key] !== "string" || document[key] === "",
  );
  if (missing.length > 0) return `must have ${missing.join(" and ")}`;
  if (!String(document["private_key"]).includes("PRIVATE KEY-----"))
    return "must have a private_key in PEM form";
  return JSON.stringify(document).length > MAX_KEY_DOCUMENT_LENGTH
    ? `must have at most ${MAX_KEY_DOCUMENT_LENGTH} characters`
    : null;
}

const KeyDocument = writeOnly(
  FreeValue.superRefine((value, context) => {
    const problem = value === null || value === undefined ? null : keyDocumentProblem(value);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  })
    .nullable()
    .optional(),
).describe("A service-account document, as a JSON object or as its text; null removes it.");

/** The body that sets API keys of voice providers. Null removes a key; absent keys stay unchanged. */
export const SetTtsApiKeysRequest = z
  .strictObject({ ...perProvider(() => ProviderKey), provider4: KeyDocument })
  .meta({ examples: [{ provider1: "sk_0123456789abcdef0123456789abcdef", provider2: null }] });
export type SetTtsApiKeysRequest = z.output<typeof SetTtsApiKeysRequest>;
