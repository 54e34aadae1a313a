import type { RouteName, routes } from "@parley/schema";
import { describe, expectTypeOf, it } from "vitest";
import type { z } from "zod";
import type { InputOf, Method, OutputOf, PagedPath, PathOf, RowOf } from "./operations.ts";

type Routes = typeof routes;
type MethodOf<N extends RouteName> = Routes[N]["method"];

/** What the service sends, where it is JSON. */
type Sent<N extends RouteName> = {
  [S in keyof Routes[N]["responses"]]: Routes[N]["responses"][S] extends { readonly schema: infer Schema }
    ? Schema extends z.ZodType
      ? z.output<Schema>
      : never
    : never;
}[keyof Routes[N]["responses"]];

/** What a handler gets: defaults are filled in. */
type Handled<N extends RouteName> = Routes[N]["request"] extends z.ZodType
  ? z.output<Routes[N]["request"]>
  : never;

/** What a request may contain. Where a schema has rules across fields, its type is unknown. */
type Taken<N extends RouteName> = Routes[N]["request"] extends z.ZodType
  ? z.input<Routes[N]["request"]>
  : never;

type Output<N extends RouteName> =
  Routes[N]["path"] extends PathOf<MethodOf<N>> ? OutputOf<MethodOf<N>, Routes[N]["path"]> : never;

type Body<N extends RouteName> =
  Routes[N]["path"] extends PathOf<MethodOf<N>>
    ? InputOf<MethodOf<N>, Routes[N]["path"]> extends infer Input
      ? Input extends { readonly body?: infer B }
        ? Exclude<B, undefined>
        : never
      : never
    : never;

/** The names of the routes for which something does not hold. */
type Where<Holds extends Record<RouteName, boolean>> = {
  [N in RouteName]: Holds[N] extends true ? never : N;
}[RouteName];

describe("the types of operations", () => {
  it("cover every route", () => {
    type Covered = { [N in RouteName]: Routes[N]["path"] extends PathOf<MethodOf<N>> ? true : false };
    expectTypeOf<Where<Covered>>().toBeNever();
  });

  it("allow what the service sends", () => {
    type Allowed = { [N in RouteName]: [Sent<N>] extends [Output<N>] ? true : false };
    expectTypeOf<Where<Allowed>>().toBeNever();
  });

  it("allow the bodies that the service takes, and no others", () => {
    type Complete = { [N in RouteName]: [Handled<N>] extends [Body<N>] ? true : false };
    expectTypeOf<Where<Complete>>().toBeNever();
    type Sound = { [N in RouteName]: [Body<N>] extends [Taken<N>] ? true : false };
    expectTypeOf<Where<Sound>>().toBeNever();
  });

  it("know the methods, the paged lists and their rows", () => {
    expectTypeOf<Method>().toEqualTypeOf<"GET" | "POST" | "PATCH" | "PUT" | "DELETE">();
    expectTypeOf<"/api/agents">().toExtend<PagedPath>();
    expectTypeOf<"/api/calls/{call_id}/tools">().not.toExtend<PagedPath>();
    expectTypeOf<RowOf<"/api/agents">>().toEqualTypeOf<OutputOf<"GET", "/api/agents">["results"][number]>();
    expectTypeOf<OutputOf<"GET", "/api/calls/{call_id}/recording">>().toEqualTypeOf<Response>();
    expectTypeOf<OutputOf<"DELETE", "/api/agents/{agent_id}">>().toEqualTypeOf<undefined>();
  });
});
