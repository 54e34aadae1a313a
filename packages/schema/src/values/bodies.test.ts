/** Random bodies for every operation that accepts one. */

import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "./errors.ts";
import { SchemaPrinter } from "../openapi/openapi-schemas.ts";
import { parseBody } from "./parse-body.ts";
import { ROUTE_NAMES, routeOf, type RouteName } from "../routes/routes.ts";
import { type Place, spoilt, valueOf } from "../testing/arbitrary.ts";

const printer = new SchemaPrinter();
const RUNS = 60;
/** The largest share of schema-valid values that may be refused by rules that the schema cannot express. */
const MOST_REFUSED = 0.9;

/** The values for a test of a tool are free-form: none of them is invalid. */
const FREE: ReadonlySet<RouteName> = new Set(["testTool"]);
const withBody = ROUTE_NAMES.filter((name) => routeOf(name).request !== null && !FREE.has(name));

function bodies(name: RouteName): fc.Arbitrary<object> {
  const { request } = routeOf(name);
  if (request === null) throw new Error(`${name} takes no body`);
  return valueOf(printer.print(request), printer.printed).filter(
    (value): value is object => typeof value === "object" && value !== null,
  );
}

/** The parsed body, or its invalid fields. Any other error is a fault. */
function read(
  name: RouteName,
  body: object,
): { readonly body: unknown } | { readonly wrong: readonly string[] } {
  const { request, partial } = routeOf(name);
  if (request === null) throw new Error(`${name} takes no body`);
  try {
    return { body: parseBody(request, structuredClone(body), { partial }) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "validation_failed") throw error;
    return { wrong: error.errors.map(({ field }) => field) };
  }
}

/** Whether a change at `place` can cause a problem of `field`: the same path, a parent, or a path below it. */
function concerns(field: string, place: Place): boolean {
  const named = field === "" ? [] : field.split(".");
  const changed = place.flatMap((step) => String(step).split("."));
  const shared = Math.min(named.length, changed.length);
  return named.slice(0, shared).every((step, index) => step === changed[index]);
}

describe.each(withBody)("a random body of %s", (name) => {
  it("is taken or refused by its fields, and reads the same when it is read again", () => {
    let refused = 0;
    fc.assert(
      fc.property(bodies(name), (body) => {
        const first = read(name, body);
        if ("wrong" in first) refused += 1;
        // The body is refused with a reason, or parsing it again gives the same.
        const again =
          "wrong" in first
            ? first.wrong.length > 0
            : isDeepStrictEqual(read(name, first.body as object), first);
        expect([first, again]).toEqual([first, true]);
      }),
      { numRuns: RUNS },
    );
    expect(refused / RUNS).toBeLessThan(MOST_REFUSED);
  });

  it("with one thing spoilt is refused where it was spoilt, if at all", () => {
    const cases = bodies(name)
      .filter((body) => "body" in read(name, body))
      .chain((body) => spoilt(body));
    let refused = 0;
    fc.assert(
      fc.property(cases, ({ value, place }) => {
        const result = read(name, value as object);
        if ("body" in result) return;
        refused += 1;
        expect([place, result.wrong, result.wrong.every((field) => concerns(field, place))]).toEqual([
          place,
          result.wrong,
          true,
        ]);
      }),
      { numRuns: RUNS },
    );
    expect(refused).toBeGreaterThan(0);
  });
});
