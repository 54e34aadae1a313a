/** A call template that is being edited: JSON, changed by dotted paths with list positions as numbers. */

export type Json = Readonly<Record<string, unknown>>;

/** Objects without a meaning when empty. Others, such as `medium.webRtc`, are a choice even when empty. */
const SAYS_NOTHING_EMPTY = new Set(["vadSettings", "voiceOverrides", "audioConfig", "dataMessages"]);

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function child(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)] as unknown;
  return isObject(value) ? value[key] : undefined;
}

export function valueAt(document: unknown, path: string): unknown {
  return path.split(".").reduce(child, document);
}

/** A copy with another value at the path. `undefined` removes the field, and parents that become empty. */
export function withValueAt(document: Json, path: string, value: unknown): Json {
  return changed(document, path.split("."), value) as Json;
}

function changed(document: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  const next = rest.length === 0 ? value : changed(child(document, key), rest, value);
  if (Array.isArray(document)) {
    return next === undefined
      ? document.filter((_, index) => index !== Number(key))
      : document.map((item: unknown, index) => (index === Number(key) ? next : item));
  }
  const { [key]: _, ...others } = isObject(document) ? document : {};
  const empty = isObject(next) && Object.keys(next).length === 0 && SAYS_NOTHING_EMPTY.has(key);
  if (next === undefined || empty) return others;
  // An existing field keeps its position, so that a diff shows only the change.
  return isObject(document) && key in document ? { ...document, [key]: next } : { ...others, [key]: next };
}

/** The template without fields that only responses have. */
export function writable(template: Json): Json {
  const { name: _, created: __, updated: ___, ...rest } = template;
  return rest;
}

export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && isSame(a[key], b[key]));
}

/** The texts of a list that is written one in each line. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The name of a copy, within the length limit. */
export function nameOfCopy(name: string, maxLength: number): string {
  const suffix = " copy";
  return `${Array.from(name)
    .slice(0, maxLength - suffix.length)
    .join("")}${suffix}`;
}
