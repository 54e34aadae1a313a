/**
 * The types of all operations by method and path. None of this exists at run time, so the client stays a few kilobytes
 * small.
 */

import type { Operations } from "./api/all.ts";

type Key = keyof Operations;

export type Method = Key extends `${infer M} ${string}` ? M : never;

/** All paths that have a method, as in the API reference: `/api/agents/{agent_id}`. */
export type PathOf<M extends Method> = Key extends infer K
  ? K extends `${M} ${infer P}`
    ? P
    : never
  : never;

/** What an operation takes: `params`, `query` and `body`, as far as it has them. */
export type InputOf<M extends Method, P extends PathOf<M>> = Operations[`${M} ${P}` & Key]["input"];

/** The result of an operation: JSON as its type, nothing as undefined, anything else as a Response. */
export type OutputOf<M extends Method, P extends PathOf<M>> = Operations[`${M} ${P}` & Key]["output"];

/** The paths of paged lists. */
export type PagedPath = {
  [K in Key]: Operations[K] extends { row: unknown } ? (K extends `GET ${infer P}` ? P : never) : never;
}[Key];

/** One result of a paged list. */
export type RowOf<P extends PagedPath> = Operations[`GET ${P}` & Key] extends { row: infer Row }
  ? Row
  : never;

/** Whether an operation can be called without any input. */
export type InputArguments<Input> = Partial<Input> extends Input ? [input?: Input] : [input: Input];
