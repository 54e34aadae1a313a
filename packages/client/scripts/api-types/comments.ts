/** Comments of the generated types: the description of a field, its default and its bounds. */

import type { JsonSchema } from "@parley/schema/openapi/described-schema";

const MAX_LINE = 110;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "A UUID.",
  uri: "A URL.",
  date: "A date, such as `2026-01-02`.",
  "date-time": "A date-time, such as `2026-01-02T03:04:05.678Z`.",
  "duration-seconds": "A duration in seconds, such as `30s`.",
};

/** A value that may be null has its format and its bounds in its other form. */
function withForm(schema: JsonSchema): JsonSchema {
  const forms = (schema.anyOf ?? []).filter(({ type }) => type !== "null");
  const [only] = forms;
  return schema.properties === undefined && forms.length === 1 && only !== undefined
    ? { ...only, ...schema }
    : schema;
}

type Bound = number | string | undefined;

function range(least: Bound, most: Bound, unit: string): string[] {
  const from = least === undefined || Math.abs(Number(least)) === Number.MAX_SAFE_INTEGER ? null : least;
  const to = most === undefined || Math.abs(Number(most)) === Number.MAX_SAFE_INTEGER ? null : most;
  const counted = unit === "" ? "" : ` ${unit}`;
  if (from !== null && to !== null) {
    if (from === to) return unit === "" ? [] : [`Exactly ${to}${counted}.`];
    return [`From ${from} to ${to}${counted}.`];
  }
  if (from !== null) return [`At least ${from}${counted}.`];
  return to === null ? [] : [`At most ${to}${counted}.`];
}

/** Whether a text must not be empty needs no words. */
function few(least: number | undefined): number | undefined {
  return least === 0 || least === 1 ? undefined : least;
}

function rulesOf(schema: JsonSchema): string[] {
  const rules = [
    ...(schema.format === undefined ? [] : [FORMATS[schema.format] ?? ""]),
    ...range(schema.minimum, schema.maximum, ""),
    ...(schema.exclusiveMinimum === undefined ? [] : [`More than ${String(schema.exclusiveMinimum)}.`]),
    ...range(schema["x-minimum"], schema["x-maximum"], ""),
    ...range(few(schema.minLength), schema.maxLength, schema.maxLength === 1 ? "character" : "characters"),
    ...range(few(schema.minItems), schema.maxItems, schema.maxItems === 1 ? "entry" : "entries"),
    ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
    ...(schema.readOnly === true ? ["Ignored in requests."] : []),
    ...(schema.writeOnly === true ? ["Never returned."] : []),
  ];
  return rules.filter((rule) => rule !== "");
}

/** What is said about a field: empty where its name says everything. */
export function textOf(given: JsonSchema): string[] {
  const schema = withForm(given);
  const words = [schema.description ?? "", ...rulesOf(schema)].filter((part) => part !== "").join(" ");
  return [...(words === "" ? [] : [words]), ...(schema.deprecated === true ? ["@deprecated"] : [])];
}

/** Paragraphs as a comment of the given indentation, with its line end; empty without paragraphs. */
export function comment(paragraphs: readonly string[], indent: string): string {
  const safe = paragraphs.map((text) => text.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ").trim());
  const [only] = safe;
  if (only === undefined) return "";
  const line = `${indent}/** ${only} */\n`;
  if (safe.length === 1 && line.length <= MAX_LINE) return line;
  const lines = safe.flatMap((text) => wrapped(text, MAX_LINE - indent.length - 3));
  return `${indent}/**\n${lines.map((text) => `${indent} * ${text}\n`).join("")}${indent} */\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
