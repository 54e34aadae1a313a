/** The table of `docs/api-keys.md` has the scope of every operation besides the GETs, as the routes state it. */

import { ROUTE_NAMES, routeOf } from "@parley/schema";
import { expect, test } from "vitest";
import { tableRows } from "./markdown.ts";
import { readSource } from "./source-text.ts";

test("the page lists every operation besides the GETs with its scope", () => {
  const stated = ROUTE_NAMES.map((name) => ({ name, ...routeOf(name) }))
    .filter(({ method, scope }) => method !== "GET" && scope !== null)
    .map(({ name, method, path, scope }) => [`\`${name}\``, `\`${method} ${path}\``, `\`${scope ?? ""}\``]);
  expect(
    tableRows(readSource("docs/api-keys.md"), /^`[a-zA-Z]+`$/).filter(({ length }) => length === 3),
  ).toEqual(stated);
});

test("every GET needs `read`, except the audit log", () => {
  const others = ROUTE_NAMES.filter((name) => {
    const { method, scope } = routeOf(name);
    return method === "GET" && scope !== null && scope !== "read";
  });
  expect(others).toEqual(["listAuditLog"]);
});
