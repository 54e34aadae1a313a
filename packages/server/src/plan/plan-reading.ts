/** Parsers of stored JSON: each returns its value in its type, or reports where it is something else. */

/** A stored plan that cannot be read; `message` says where and why. */
export class UnreadablePlan extends Error {
  override readonly name = "UnreadablePlan";
}

/** Returns the value in its type, or throws an `UnreadablePlan` that names `path`. */
export type Read<T> = (value: unknown, path: string) => T;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function wrong(path: string, wanted: string): never {
  throw new UnreadablePlan(`${path} is not ${wanted}`);
}

export const text: Read<string> = (value, path) =>
  typeof value === "string" ? value : wrong(path, "a text");
export const flag: Read<boolean> = (value, path) =>
  typeof value === "boolean" ? value : wrong(path, "true or false");
export const number: Read<number> = (value, path) =>
  typeof value === "number" && Number.isFinite(value) ? value : wrong(path, "a number");
/** A length of time or a rate. */
export const amount: Read<number> = (value, path) =>
  number(value, path) >= 0 ? (value as number) : wrong(path, "0 or more");

export function nullable<T>(read: Read<T>): Read<T | null> {
  return (value, path) => (value === null ? null : read(value, path));
}

/** A member that earlier versions did not have. */
export function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value, path) => (value === undefined ? undefined : read(value, path));
}

export function word<const T extends string>(...words: readonly T[]): Read<T> {
  return (value, path) => words.find((each) => each === value) ?? wrong(path, `one of ${words.join(", ")}`);
}

export function list<T>(read: Read<T>): Read<readonly T[]> {
  return (value, path) =>
    Array.isArray(value) ? value.map((item, index) => read(item, `${path}.${index}`)) : wrong(path, "a list");
}

export function map<T>(read: Read<T>): Read<Readonly<Record<string, T>>> {
  return (value, path) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item, `${path}.${key}`)]))
      : wrong(path, "an object");
}

/** The type requires a reader for every member, so a new part of the plan cannot be forgotten here. */
export function object<T extends object>(fields: { readonly [K in keyof T]-?: Read<T[K]> }): Read<T> {
  const readers = Object.entries<Read<unknown>>(fields);
  return (value, path) =>
    isObject(value)
      ? (Object.fromEntries(readers.map(([key, read]) => [key, read(value[key], `${path}.${key}`)])) as T)
      : wrong(path, "an object");
}

/** An object with these members, which all have one type. */
export function members<K extends string, V>(
  keys: readonly K[],
  read: Read<V>,
): Read<Readonly<Record<K, V>>> {
  return (value, path) =>
    isObject(value)
      ? (Object.fromEntries(keys.map((key) => [key, read(value[key], `${path}.${key}`)])) as Record<K, V>)
      : wrong(path, "an object");
}

/** Reads a union by the word in `key`, which discriminates its shapes. */
export function oneOf<T>(key: string, readers: Readonly<Record<string, Read<T>>>): Read<T> {
  return (value, path) => {
    const kind = isObject(value) ? value[key] : undefined;
    const read = typeof kind === "string" && Object.hasOwn(readers, kind) ? readers[kind] : undefined;
    if (read === undefined) return wrong(`${path}.${key}`, `one of ${Object.keys(readers).join(", ")}`);
    return read(value, path);
  };
}

/** A value that a schema of the wire accepts, unchanged. */
export function wire<T>(schema: { safeParse: (value: unknown) => { readonly success: boolean } }): Read<T> {
  return (value, path) =>
    schema.safeParse(value).success ? (value as T) : wrong(path, "as the interface shows it");
}

export const anything: Read<unknown> = (value) => value;
