/** The description of an API operation, and the defaults that most share. */

import { z } from "zod";
import type { Scope } from "../values/scope.ts";
import type { ErrorCode } from "../values/errors.ts";
import { NoQuery } from "./queries.ts";

export type HttpMethod = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export interface RouteResponse {
  readonly description: string;
  /** Null: no body, or a body that is not JSON. */
  readonly schema: z.ZodType | null;
  readonly contentType: string | null;
  /** Additional headers, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bodies whose schema depends on a path parameter. */
export interface RouteRequestBy {
  readonly param: string;
  /** Keyed by the value of the parameter. */
  readonly schemas: Readonly<Record<string, z.ZodType>>;
}

/** A file upload that is accepted instead of a JSON body. */
export interface RouteUpload {
  /** Name of the form part with the file. */
  readonly field: string;
  readonly description: string;
  readonly maxBytes: number;
  /** An object of texts, the other form parts. Absent: other form parts are ignored. */
  readonly texts?: z.ZodType;
}

/** A long list in a JSON body, whose entries are read one by one, between other work. */
export interface LongList {
  readonly field: string;
  readonly entry: z.ZodType;
  /** The body without the list. */
  readonly rest: z.ZodType;
  readonly maxEntries: number;
  /** Limit of the whole body. */
  readonly maxBytes: number;
}

export interface Route {
  readonly method: HttpMethod;
  /** With parameters such as `{agent_id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Whether an API key is needed. */
  readonly authenticated: boolean;
  /** The scope that the API key needs; null where no key is needed. */
  readonly scope: Scope | null;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** Null: no body is accepted. */
  readonly request: z.ZodType | null;
  /** Selects one of several schemas for `request`; null: it has one. */
  readonly requestBy: RouteRequestBy | null;
  /** Null: the body is read as a whole, within the usual size limit. */
  readonly longList: LongList | null;
  /** Null: no form is accepted. */
  readonly upload: RouteUpload | null;
  /** The body changes a record: null clears a stored value. */
  readonly partial: boolean;
  /** `Idempotency-Key` is supported: a repeated request gets the first response again. */
  readonly idempotent: boolean;
  /** The call belongs to the trace of the header `traceparent`. */
  readonly takesTraceParent: boolean;
  /** The operator key, in its own header, allows more than the API key alone. */
  readonly takesOperatorKey: boolean;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Errors besides those that every operation can return. */
  readonly errors: readonly ErrorCode[];
}

const NoParams = z.strictObject({});

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, schema, contentType: "application/json" } as const;
}

export const noContent = { description: "Done.", schema: null, contentType: null } as const;

/** The defaults of a route. */
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
  takesTraceParent: false,
  takesOperatorKey: false,
  errors: [],
} as const;
