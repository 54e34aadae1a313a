/** What the operator pays for engines: `PRICES_FILE`. Without it, calls have amounts and no costs. */

import { z } from "zod";
import { optional } from "./env-fields.ts";
import { readJsonFile } from "./json-file.ts";

/** Prices in 1e-9 units of the currency. */
export type Price =
  | {
      readonly kind: "llm";
      /** Patterns of names, in which `*` stands for any characters. */
      readonly engine: string;
      readonly model: string;
      /** For a million tokens each. */
      readonly inputNanos: bigint;
      readonly cachedInputNanos: bigint;
      readonly outputNanos: bigint;
    }
  | {
      readonly kind: "stt";
      readonly engine: string;
      readonly model: string;
      readonly minuteNanos: bigint;
    }
  | {
      readonly kind: "tts";
      readonly engine: string;
      readonly model: string;
      /** For a million characters, and for a minute of audio; both are added up. */
      readonly charactersNanos: bigint;
      readonly minuteNanos: bigint;
    };

export interface PriceTable {
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
  /** The first one that matches an engine is its price. */
  readonly prices: readonly Price[];
}

export const PRICE_FIELDS = { PRICES_FILE: optional };

/** Engines, models and aliases of a large deployment; each use of a new engine looks through all of them once. */
const MAX_PRICES = 500;
/** Of a price: a million tokens, characters or minutes cost less in any currency. */
const HIGHEST = 1_000_000_000;
const DECIMALS = 6;
/** A price with six decimals is a whole number of these. */
const NANOS_PER_MICRO = 1_000n;

const pattern = z
  .string("must be a text")
  .trim()
  .min(1, "must not be empty")
  .max(200, "must have at most 200 characters");

const price = z
  .number("must be a number")
  .min(0, "must not be negative")
  .max(HIGHEST, `must be at most ${String(HIGHEST)}`)
  .refine((value) => Number(value.toFixed(DECIMALS)) === value, {
    message: `must have at most ${String(DECIMALS)} decimals`,
  })
  .transform(nanosOf);

const names = { engine: pattern.default("*"), model: pattern.default("*") };

const Entry = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({
      kind: z.literal("model"),
      ...names,
      inputPerMillionTokens: price,
      cachedInputPerMillionTokens: price.optional(),
      outputPerMillionTokens: price,
    }),
    z.strictObject({ kind: z.literal("recogniser"), ...names, perAudioMinute: price }),
    z
      .strictObject({
        kind: z.literal("voice"),
        ...names,
        perMillionCharacters: price.optional(),
        perAudioMinute: price.optional(),
      })
      .refine((entry) => entry.perMillionCharacters !== undefined || entry.perAudioMinute !== undefined, {
        message: "must have perMillionCharacters or perAudioMinute",
      }),
  ],
  "has a kind that is not known: model, recogniser and voice are",
);

const PricesFile = z.strictObject({
  currency: z
    .string("must be a text")
    .regex(/^[A-Z]{3}$/, "must be the code of a currency, three capital letters such as USD"),
  prices: z.array(Entry, "must be a list").max(MAX_PRICES, `must have at most ${String(MAX_PRICES)} prices`),
});

/** Null: there is no file. @throws ConfigError that names the file and the place in it */
export function pricesOf({
  PRICES_FILE: path,
}: {
  readonly PRICES_FILE?: string | undefined;
}): PriceTable | null {
  if (path === undefined) return null;
  const { currency, prices } = readJsonFile("PRICES_FILE", path, PricesFile).content;
  return { currency, prices: prices.map(priceOf) };
}

/** Exactly, although the number is a binary one: it was checked to have so few decimals. */
function nanosOf(value: number): bigint {
  return BigInt(value.toFixed(DECIMALS).replace(".", "")) * NANOS_PER_MICRO;
}

function priceOf(entry: z.output<typeof Entry>): Price {
  const { engine, model } = entry;
  if (entry.kind === "recogniser") return { kind: "stt", engine, model, minuteNanos: entry.perAudioMinute };
  if (entry.kind === "voice") {
    const { perMillionCharacters: charactersNanos = 0n, perAudioMinute: minuteNanos = 0n } = entry;
    return { kind: "tts", engine, model, charactersNanos, minuteNanos };
  }
  const inputNanos = entry.inputPerMillionTokens;
  const cachedInputNanos = entry.cachedInputPerMillionTokens ?? inputNanos;
  const outputNanos = entry.outputPerMillionTokens;
  return { kind: "llm", engine, model, inputNanos, cachedInputNanos, outputNanos };
}
