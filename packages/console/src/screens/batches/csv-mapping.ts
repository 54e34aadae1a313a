/** Maps the columns of a table to the fields of calls. */

import type { FieldFault } from "../../ui/field-errors.tsx";

export const TARGETS = [
  { value: "ignore", label: "Ignore" },
  { value: "to", label: "Phone number to call" },
  { value: "from", label: "Caller number" },
  { value: "context", label: "Variable (text)" },
  { value: "contextValue", label: "Variable (JSON)" },
  { value: "metadata", label: "Metadata" },
  { value: "medium", label: "Medium setting" },
] as const;
export type Target = (typeof TARGETS)[number]["value"];

/** Targets that need a name: the place in the context, the metadata or the medium. */
export const NAMED: readonly Target[] = ["context", "contextValue", "metadata", "medium"];

export interface ColumnMapping {
  readonly target: Target;
  /** Dots separate nested fields, except in metadata. */
  readonly name: string;
}

export const MEDIUMS = [
  { value: "agent", label: "Same as the agent" },
  { value: "webRtc", label: "WebRTC (joined by a client)" },
  { value: "serverWebSocket", label: "WebSocket (joined by a program)" },
  { value: "telephony1", label: "Phone by Twilio" },
  { value: "telephony2", label: "Phone by Telnyx" },
  { value: "telephony3", label: "Phone by Plivo" },
  { value: "sip", label: "SIP" },
] as const;
export type MediumName = (typeof MEDIUMS)[number]["value"];

export interface Mapping {
  readonly columns: readonly ColumnMapping[];
  readonly medium: MediumName;
  /** Caller number of rows without one. */
  readonly from: string;
}

/** Whether the service dials the calls of a medium. */
export function isDialled(medium: string): boolean {
  return medium === "sip" || medium.startsWith("telephony");
}

/**
 * Guesses the target of a column by its name. Without a medium that dials, a telephone number is metadata, which every
 * receiver of the call gets.
 */
export function guessColumn(title: string, dialled: boolean): ColumnMapping {
  const name = title.trim();
  const [, kind, rest = ""] = /^(metadata|context|templateContext|medium)[.:](.+)$/.exec(name) ?? [];
  if (kind !== undefined) {
    const target = kind === "metadata" || kind === "medium" ? kind : "context";
    return { target, name: rest };
  }
  if (/^(?:to|phone|mobile|tel|telephone|number|callee)$|phone.?number|telefon/i.test(name))
    return dialled ? { target: "to", name: "" } : { target: "metadata", name };
  if (dialled && /^(?:from|caller|caller.?id)$/i.test(name)) return { target: "from", name: "" };
  return name === "" ? { target: "ignore", name } : { target: "context", name };
}

/** The mapping with another medium. Columns that were not changed by hand get the target that fits it. */
export function withMedium(mapping: Mapping, medium: MediumName, titles: readonly string[]): Mapping {
  const before = isDialled(mapping.medium);
  const columns = mapping.columns.map((column, index) => {
    const title = titles[index] ?? "";
    const guessed = guessColumn(title, before);
    const isGuess = column.target === guessed.target && column.name === guessed.name;
    return isGuess ? guessColumn(title, isDialled(medium)) : column;
  });
  return { ...mapping, columns, medium };
}

/** Errors of columns have the path `columns.<position>`. */
export function mappingFaults({ columns, medium, from }: Mapping): FieldFault[] {
  const faults: FieldFault[] = [];
  const paths = columns.map((column) => pathOf(column));
  for (const [index, { target, name }] of columns.entries()) {
    const fault = (message: string) => faults.push({ field: `columns.${String(index)}`, message });
    const path = paths[index];
    if (path === undefined || path === null) continue;
    if (NAMED.includes(target) && name.trim() === "") fault("must have a name");
    else if (path.some((step) => step.trim() === "" || step === "__proto__"))
      fault("must be a name, or names separated by dots");
    else if (!isDialled(medium) && (target === "to" || target === "from"))
      fault("can only be used with a phone or SIP medium");
    const rival = paths.findIndex((other, at) => at < index && other !== null && meet(path, other));
    if (rival >= 0) fault(`is used for the same field as column ${String(rival + 1)}`);
  }
  if (!isDialled(medium)) return faults;
  const has = (target: Target, field: string) =>
    columns.some(
      (column) =>
        column.target === target ||
        (column.target === "medium" && column.name.trim() === `${medium}.outgoing.${field}`),
    );
  if (!has("to", "to"))
    faults.push({ field: "medium", message: "requires a column with phone numbers to call" });
  if (from.trim() === "" && !has("from", "from"))
    faults.push({ field: "from", message: "is required here or in a column" });
  return faults;
}

/** The path of a column in a call; null: not used. */
function pathOf({ target, name }: ColumnMapping): readonly string[] | null {
  const steps = name.trim().split(".");
  if (target === "ignore") return null;
  if (target === "to" || target === "from") return ["numbers", target];
  if (target === "metadata") return ["metadata", name.trim()];
  return [target === "medium" ? "medium" : "templateContext", ...steps];
}

/** Whether two paths overlap. */
function meet(one: readonly string[], other: readonly string[]): boolean {
  const shared = Math.min(one.length, other.length);
  return one.slice(0, shared).every((step, index) => step === other[index]);
}

type Fields = Record<string, unknown>;

/** The call of a row, in the format of the API. Empty cells are skipped. */
export function callOf(cells: readonly string[], mapping: Mapping): Fields {
  const call: Fields = {};
  const numbers: Fields =
    isDialled(mapping.medium) && mapping.from.trim() !== "" ? { from: mapping.from.trim() } : {};
  for (const [index, column] of mapping.columns.entries()) {
    const text = (cells[index] ?? "").trim();
    const path = pathOf(column);
    if (path === null || text === "") continue;
    if (column.target === "to" || column.target === "from") numbers[column.target] = text;
    else write(call, path, valueOf(column, text));
  }
  const base = mediumOf(mapping.medium, numbers);
  if (base === null) return call;
  return { medium: merged(base, call["medium"]), ...without(call, "medium") };
}

function mediumOf(medium: MediumName, numbers: Fields): Fields | null {
  if (medium === "agent") return null;
  if (medium === "webRtc") return { webRtc: {} };
  if (medium === "serverWebSocket") return { serverWebSocket: { inputSampleRate: 16_000 } };
  return { [medium]: { outgoing: numbers } };
}

/** Fields of a medium that stay text even if they look like numbers. */
const TEXTS = new Set(["to", "from", "username", "password", "text"]);

function valueOf({ target, name }: ColumnMapping, text: string): unknown {
  if (target === "contextValue") return readValue(text);
  if (target !== "medium" || TEXTS.has(name.trim().split(".").at(-1) ?? "")) return text;
  return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text) ? readValue(text) : text;
}

/** Parses JSON; any other text stays as it is. */
function readValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** Safe because the mapping has no overlapping columns and no `__proto__`. */
function write(fields: Fields, [step = "", ...inwards]: readonly string[], value: unknown): void {
  if (inwards.length === 0) {
    fields[step] = value;
    return;
  }
  const inner = isFields(fields[step]) ? fields[step] : {};
  fields[step] = inner;
  write(inner, inwards, value);
}

function merged(base: Fields, over: unknown): Fields {
  if (!isFields(over)) return base;
  const entries = Object.entries(over).map(([key, value]) => {
    const below = base[key];
    return [key, isFields(below) ? merged(below, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(entries) };
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
