/** The form of the file of engines. */

import type { EngineKind } from "@parley/schema";
import { z } from "zod";
import { httpUrl } from "../env-fields.ts";

/** Of one kind in the file: a caller does not wait for more. */
const MAX_LISTED = 5;

const printable = (most: number) =>
  z
    .string("must be a text")
    .max(most, `must have at most ${String(most)} characters`)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

const common = {
  name: z
    .string("must be a text")
    .trim()
    .min(1, "must not be empty")
    .max(60, "must have at most 60 characters")
    .optional(),
  /** The variable of the environment that has the key, so that the file has no secret. */
  apiKeyVariable: z
    .string("must be a text")
    .regex(/^[A-Z_][A-Z0-9_]*$/, "must be the name of a variable")
    .optional(),
};

const server = { ...common, baseUrl: httpUrl, model: printable(200), apiKey: printable(4_096).optional() };
const openAi = { ...server, kind: z.literal("openai") };
const { name } = common;
const builtIn = z.strictObject({ kind: z.literal("built_in"), name });
const local = { kind: z.literal("local"), name, model: printable(100) };

/** The forms of an entry; new kinds of engines are added here, in `engine-entries.ts` and where they are opened. */
const FORMS = {
  stt: [
    z.strictObject(openAi),
    z.strictObject({ ...server, kind: z.literal("openai_realtime") }),
    z.strictObject({
      ...common,
      kind: z.literal("deepgram"),
      model: printable(64).optional(),
      baseUrl: httpUrl.optional(),
    }),
    z.strictObject(local),
    builtIn,
  ],
  llm: [
    z.strictObject(openAi),
    z.strictObject({ ...common, kind: z.literal("sdk"), model: printable(200) }),
    z.strictObject(local),
    builtIn,
  ],
  tts: [
    z.strictObject({ ...openAi, voice: printable(200) }),
    z.strictObject({
      ...common,
      kind: z.literal("external"),
      // Its own form, with its bounds, is checked with the rest of what the entry means.
      voice: z.record(z.string(), z.unknown(), "must be an object with the settings of one vendor"),
    }),
    z.strictObject({ ...local, voice: printable(100).optional() }),
    builtIn,
  ],
} as const;

const ENTRIES = {
  stt: z.discriminatedUnion("kind", FORMS.stt, kindsOf(FORMS.stt)),
  llm: z.discriminatedUnion("kind", FORMS.llm, kindsOf(FORMS.llm)),
  tts: z.discriminatedUnion("kind", FORMS.tts, kindsOf(FORMS.tts)),
};

type KindForm = { readonly shape: { readonly kind: { readonly value: string } } };

function kindsOf(forms: readonly KindForm[]): string {
  return `has a kind that is not known here: it may be ${forms.map(({ shape }) => shape.kind.value).join(", ")}`;
}

export type EntryForm = { readonly [Kind in EngineKind]: z.output<(typeof ENTRIES)[Kind]> };

const withKind = (given: unknown): unknown =>
  typeof given === "object" && given !== null && !Array.isArray(given) ? { kind: "openai", ...given } : given;

function listOf<Schema extends z.ZodType>(schema: Schema) {
  return z
    .array(z.preprocess(withKind, schema), "must be a list")
    .max(MAX_LISTED, `must have at most ${String(MAX_LISTED)} engines`)
    .default([]);
}

export const EnginesFile = z.strictObject({
  stt: listOf(ENTRIES.stt),
  llm: listOf(ENTRIES.llm),
  tts: listOf(ENTRIES.tts),
});
