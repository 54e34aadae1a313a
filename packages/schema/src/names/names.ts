/** Spellings of names: canonical neutral names, vendor names and snake_case. */

import type { z } from "zod";
import { chooseOption, viewOf } from "../values/walk.ts";

/**
 * Canonical names and their vendor spellings, which are always accepted and printed if the deployment is configured so.
 */
export const VENDOR_NAMES = {
  telephony1: "twilio",
  telephony2: "telnyx",
  telephony3: "plivo",
  telephony4: "exotel",
  provider1: "elevenLabs",
  provider2: "cartesia",
  provider3: "lmnt",
  provider4: "google",
  provider5: "inworld",
  provider6: "respeecher",
  serviceCallTokenRequirement: "ultravoxCallTokenRequirement",
} as const;

export type NeutralName = keyof typeof VENDOR_NAMES;
export type ApiNames = "neutral" | "vendor";

/** What the names of our own headers begin with: the neutral prefix, then the vendor's. */
export const HEADER_PREFIXES = ["X-Service-", "X-Ultravox-"] as const;
export type HeaderPrefix = (typeof HEADER_PREFIXES)[number];

/** The prefix of headers that are sent once. */
export function headerPrefix(apiNames: ApiNames): HeaderPrefix {
  return apiNames === "vendor" ? "X-Ultravox-" : "X-Service-";
}

/** The prefixes of headers that are sent under each name that a receiver may read: signatures. */
export function headerPrefixes(apiNames: ApiNames): readonly HeaderPrefix[] {
  return apiNames === "vendor" ? HEADER_PREFIXES : ["X-Service-"];
}

export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const NEUTRAL_BY_VENDOR: ReadonlyMap<string, string> = new Map(
  Object.entries(VENDOR_NAMES).flatMap(([neutral, vendor]) => [
    [vendor, neutral],
    [toSnakeCase(vendor), neutral],
  ]),
);

/** The canonical name for any spelling, such as `eleven_labs`; unknown names are returned unchanged. */
export function toNeutralName(name: string): string {
  return NEUTRAL_BY_VENDOR.get(name) ?? name;
}

/** The vendor spelling of a canonical name; other names are returned unchanged. */
export function toVendorName(name: string): string {
  return Object.hasOwn(VENDOR_NAMES, name) ? VENDOR_NAMES[name as NeutralName] : name;
}

const NEUTRAL_WORD = new RegExp(String.raw`\b(?:${Object.keys(VENDOR_NAMES).join("|")})\b`, "g");

/** A text for people, such as a dotted path or a message, with the vendor spelling of every name in it. */
export function toVendorText(text: string): string {
  return text.replaceAll(NEUTRAL_WORD, toVendorName);
}

/** All spellings of a field that input may use. */
export function spellingsOf(name: string): string[] {
  const vendor = toVendorName(name);
  return [name, toSnakeCase(name), toCamelCase(name), vendor, toSnakeCase(vendor)];
}

const spellings = new WeakMap<ReadonlyMap<string, z.core.$ZodType>, ReadonlyMap<string, string>>();

/** Accepted spelling → canonical name for the fields of one object schema. */
export function spellingTable(fields: ReadonlyMap<string, z.core.$ZodType>): ReadonlyMap<string, string> {
  const known = spellings.get(fields);
  if (known !== undefined) return known;
  const table = new Map<string, string>();
  for (const name of fields.keys()) for (const spelling of spellingsOf(name)) table.set(spelling, name);
  // The name of a field always wins over a spelling of another field.
  for (const name of fields.keys()) table.set(name, name);
  spellings.set(fields, table);
  return table;
}

/**
 * A copy of a response as the public service writes it: vendor spellings for the names and values that have one, and no
 * null where its schema has none. Only what is in the schema changes: metadata, context and parameters of users stay.
 */
export function toVendorNames(schema: z.core.$ZodType, value: unknown): unknown {
  const { structure, marks } = viewOf(schema);
  if (typeof value === "string") return marks.vendorValues?.[value] ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (marks.freeForm === true) return value;
  if (Array.isArray(value)) {
    return structure.kind === "list" ? value.map((item) => toVendorNames(structure.item, item)) : value;
  }
  if (structure.kind === "union") {
    const option = chooseOption(structure, value);
    return option === null ? value : toVendorNames(option, value);
  }
  const entries = Object.entries(value);
  if (structure.kind === "map") {
    return Object.fromEntries(entries.map(([key, item]) => [key, toVendorNames(structure.item, item)]));
  }
  if (structure.kind !== "object") return value;
  return Object.fromEntries(
    entries.flatMap(([key, item]): [string, unknown][] => {
      const field = structure.fields.get(key);
      if (field === undefined) return [[key, item]];
      if (item === null && viewOf(field).marks.vendorOmitsNull === true) return [];
      return [[toVendorName(key), toVendorNames(field, item)]];
    }),
  );
}
