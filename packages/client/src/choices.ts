/** Objects of whose fields only one is set. */

/** Exactly one field of `T` is set. The others are absent, so `if (value.agent)` narrows. */
export type ExactlyOne<T> = {
  [K in keyof T]: { [P in K]: T[P] } & { [P in Exclude<keyof T, K>]?: never };
}[keyof T];

/** At most one field of `T` is set. */
export type AtMostOne<T> = ExactlyOne<T> | { [K in keyof T]?: never };
