/**
 * The types of all operations, from the routes of the API. None of this exists at run time, so the client stays a few
 * kilobytes small.
 */

import type { RouteName, routes } from "@parley/schema";
import type { z } from "zod";

type Routes = typeof routes;

/** `GET /api/agents` to the name of the operation. */
type NamesByKey = {
  readonly [N in RouteName as `${Routes[N]["method"]} ${Routes[N]["path"]}`]: N;
};

type Key = keyof NamesByKey;

export type Method = Key extends `${infer M} ${string}` ? M : never;

/** All paths that have a method, as in the API reference: `/api/agents/{agent_id}`. */
export type PathOf<M extends Method> = Key extends infer K
  ? K extends `${M} ${infer P}`
    ? P
    : never
  : never;

type NameOf<M extends Method, P extends PathOf<M>> = `${M} ${P}` extends Key
  ? NamesByKey[`${M} ${P}`]
  : never;

type ParamsOf<N extends RouteName> = z.input<Routes[N]["params"]>;
type QueryOf<N extends RouteName> = z.input<Routes[N]["query"]>;
type BodyOf<N extends RouteName> = Routes[N]["request"] extends z.ZodType
  ? z.input<Routes[N]["request"]>
  : never;

/** A member is required if the operation needs it, and refused if the operation has none. */
type Member<Name extends string, Value> = [Value] extends [never]
  ? { readonly [K in Name]?: never }
  : Value extends Record<string, never>
    ? { readonly [K in Name]?: never }
    : Partial<Value> extends Value
      ? { readonly [K in Name]?: Value }
      : { readonly [K in Name]: Value };

/** A file instead of a body, if the operation accepts one. */
type FormOf<N extends RouteName> = Routes[N]["upload"] extends null
  ? { readonly form?: never }
  : { readonly form?: FormData };

type OperationInput<N extends RouteName> = Member<"params", ParamsOf<N>> &
  Member<"query", QueryOf<N>> &
  (Routes[N]["upload"] extends null ? Member<"body", BodyOf<N>> : { readonly body?: BodyOf<N> }) &
  FormOf<N>;

export interface RequestOptions {
  /** Aborts the request; the service may still complete it. */
  readonly signal?: AbortSignal;
  /** Makes a repeated POST safe for a day: it gets the first response again. */
  readonly idempotencyKey?: string;
  /** The key of the deployment's operator, for operations of the deployment. */
  readonly operatorKey?: string;
  /** Called with the headers of a successful response, before its body is read. */
  readonly onHeaders?: (headers: Headers) => void;
}

export type InputOf<M extends Method, P extends PathOf<M>> = OperationInput<NameOf<M, P>> & RequestOptions;

/** The result of an operation: JSON as its type, nothing as undefined, anything else as a Response. */
type AnswerOf<R> = R extends { readonly schema: infer S; readonly contentType: infer C }
  ? S extends z.ZodType
    ? z.output<S>
    : C extends null
      ? undefined
      : Response
  : never;

type ResponsesOf<N extends RouteName> = Routes[N]["responses"];

export type OutputOf<M extends Method, P extends PathOf<M>> = {
  // A redirect is followed, and its target is the response.
  [N in NameOf<M, P>]: AnswerOf<ResponsesOf<N>[Exclude<keyof ResponsesOf<N>, 302>]>;
}[NameOf<M, P>];

/** The paths of paged lists. */
export type PagedPath =
  PathOf<"GET"> extends infer P
    ? P extends PathOf<"GET">
      ? OutputOf<"GET", P> extends { readonly results: readonly unknown[] }
        ? P
        : never
      : never
    : never;

export type RowOf<P extends PagedPath> =
  OutputOf<"GET", P> extends { readonly results: readonly (infer Row)[] } ? Row : never;

/** Whether an operation can be called without any input. */
export type InputArguments<Input> = Partial<Input> extends Input ? [input?: Input] : [input: Input];
