/** A call template while it is edited: JSON as it came, changed by dotted paths. Positions of lists are numbers in them. */

export type Json = Readonly<Record<string, unknown>>;

/** Objects that say nothing when they are empty; others, such as `medium.webRtc`, are a choice by being there. */
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

/** A copy with another value at the path; `undefined` takes the field out, and what is then empty around it. */
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
  // An existing field stays where it was, so that a difference shows what was meant.
  return isObject(document) && key in document ? { ...document, [key]: next } : { ...others, [key]: next };
}

/** What a new document of the template may hold: without what only answers have. */
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

/** The name of a copy, within the limit of names. */
export function nameOfCopy(name: string, maxLength: number): string {
  const suffix = " copy";
  return `${Array.from(name)
    .slice(0, maxLength - suffix.length)
    .join("")}${suffix}`;
}
