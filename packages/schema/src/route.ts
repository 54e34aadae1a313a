/** What an operation of the interface is described by, and what most have in common. */

import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { NoQuery } from "./queries.ts";

export type HttpMethod = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export interface RouteResponse {
  readonly description: string;
  /** Null: no body, or one that is not JSON. */
  readonly schema: z.ZodType | null;
  readonly contentType: string | null;
  /** Further headers with their meanings. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bodies whose form depends on a parameter of the path. */
export interface RouteRequestBy {
  readonly param: string;
  /** By the value of the parameter. */
  readonly schemas: Readonly<Record<string, z.ZodType>>;
}

/** A file that is taken instead of a JSON body. */
export interface RouteUpload {
  /** Of the part of the form that holds it. */
  readonly field: string;
  readonly description: string;
  readonly maxBytes: number;
  /** An object of texts that come beside the file. Absent: whatever comes beside it is not looked at. */
  readonly texts?: z.ZodType;
}

/** A member of a JSON body that may hold so many entries that they are read one by one, between other work. */
export interface LongList {
  readonly field: string;
  readonly entry: z.ZodType;
  /** The body without the list. */
  readonly rest: z.ZodType;
  readonly maxEntries: number;
  /** Of the whole body. */
  readonly maxBytes: number;
}

export interface Route {
  readonly method: HttpMethod;
  /** With parameters as `{agent_id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Whether an API key is needed. */
  readonly authenticated: boolean;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** Null: no body is taken. */
  readonly request: z.ZodType | null;
  /** Which of the forms of `request` is meant; null: it has one. */
  readonly requestBy: RouteRequestBy | null;
  /** Null: the body is read as a whole, and has the usual size. */
  readonly longList: LongList | null;
  /** Null: no form is taken. */
  readonly upload: RouteUpload | null;
  /** The body changes a record: null clears a stored value. */
  readonly partial: boolean;
  /** An `Idempotency-Key` is honoured: a repeated request gets the first answer again. */
  readonly idempotent: boolean;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Failures besides those that every operation has. */
  readonly errors: readonly ErrorCode[];
}

const NoParams = z.strictObject({});

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, schema, contentType: "application/json" } as const;
}

export const noContent = { description: "Done.", schema: null, contentType: null } as const;

/** What most routes are like. */
export const plain = {
  authenticated: true,
  params: NoParams,
  query: NoQuery,
  request: null,
  requestBy: null,
  longList: null,
  upload: null,
  partial: false,
  idempotent: false,
  errors: [],
} as const;
