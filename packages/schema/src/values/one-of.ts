/** Rules about how many keys of a group are set. */

import { z } from "zod";
import { asObject, withRule } from "./check.ts";

/** Exactly one key of `T` is set. The others are `undefined`, so `if (value.agent)` narrows. */
export type ExactlyOne<T> = {
  [K in keyof T]: { [P in K]: T[P] } & { [P in Exclude<keyof T, K>]?: never };
}[keyof T];

/** At most one key of `T` is set. */
export type AtMostOne<T> = ExactlyOne<T> | { [K in keyof T]?: never };

type Fields = Readonly<Record<string, z.ZodType>>;
type Values<F extends Fields> = { [K in keyof F]: z.output<F[K]> };

/** A rule about a group of sibling keys. */
interface KeyCount {
  readonly keys: readonly string[];
  readonly least: 0 | 1;
}

/** The keys of `group` that `value` sets; null counts as unset. */
export function setKeys(value: unknown, group: readonly string[]): string[] {
  const object = asObject(value);
  if (object === null) return [];
  return group.filter((key) => Object.hasOwn(object, key) && (object[key] ?? null) !== null);
}

function countingKeys<S extends z.ZodType>(schema: S, { keys, least }: KeyCount): S {
  return withRule(schema, (value, report) => {
    if (asObject(value) === null) return;
    const found = setKeys(value, keys);
    if (found.length >= least && found.length <= 1) return;
    const wanted = `must have ${least === 1 ? "exactly" : "at most"} one of ${keys.join(", ")}`;
    report([], found.length === 0 ? wanted : `${wanted}; it has ${found.join(" and ")}`);
  });
}

function optionalFields(fields: Fields): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.optional()])),
  );
}

/** An object with exactly one of the given keys. */
export function oneOf<F extends Fields>(fields: F): z.ZodType<ExactlyOne<Values<F>>> {
  const counted = countingKeys(optionalFields(fields), { keys: Object.keys(fields), least: 1 });
  return counted.meta({ minProperties: 1, maxProperties: 1 }) as unknown as z.ZodType<ExactlyOne<Values<F>>>;
}

/** An object with one of the given keys or none. */
export function atMostOneOf<F extends Fields>(fields: F): z.ZodType<AtMostOne<Values<F>>> {
  const counted = countingKeys(optionalFields(fields), { keys: Object.keys(fields), least: 0 });
  return counted.meta({ maxProperties: 1 }) as unknown as z.ZodType<AtMostOne<Values<F>>>;
}

/** The fields `K` of `T`, each present. */
type Present<T, K extends keyof T> = { [P in K]-?: Exclude<T[P], undefined> };

type WithExactlyOne<T, K extends keyof T> = Omit<T, K> & ExactlyOne<Present<T, K>>;

/** An object of which exactly one of `keys` is set, beside fields that may go with any of them. */
export function withExactlyOne<S extends z.ZodObject, K extends keyof z.output<S> & string>(
  schema: S,
  keys: readonly K[],
): z.ZodType<WithExactlyOne<z.output<S>, K>> {
  const counted = countingKeys(schema, { keys, least: 1 });
  return counted.meta({
    oneOf: keys.map((key) => ({ required: [key] })),
  }) as unknown as z.ZodType<WithExactlyOne<z.output<S>, K>>;
}

/** An object of which at most one of `keys` is set, beside fields that may go with any of them. */
export function withAtMostOne<S extends z.ZodType>(schema: S, keys: readonly string[]): S {
  return countingKeys(schema, { keys, least: 0 });
}
