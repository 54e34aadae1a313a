import { describe, expect, it } from "vitest";
import { toYaml } from "./yaml.ts";

describe("toYaml", () => {
  it("prints nested objects and lists as blocks", () => {
    expect(
      toYaml({
        openapi: "3.1.0",
        info: { title: "A service", empty: {}, none: [], nothing: null },
        tags: ["a", { name: "b", x: [1, 2.5, true] }],
        left: undefined,
      }),
    ).toBe(
      [
        'openapi: "3.1.0"',
        "info:",
        "  title: A service",
        "  empty: {}",
        "  none: []",
        "  nothing: null",
        "tags:",
        "  - a",
        "  -",
        "    name: b",
        "    x:",
        "      - 1",
        "      - 2.5",
        "      - true",
        "",
      ].join("\n"),
    );
  });

  it.each([
    "no",
    "true",
    "1",
    "3.1",
    "a: b",
    "#x",
    "x #y",
    "a\nb",
    "",
    " a",
    "a ",
    "{}",
    "*a",
    "é",
    "- a",
    "2026-01-01",
    "~",
  ])("quotes %j, which would be read otherwise", (text) => {
    expect(toYaml({ key: text })).toBe(`key: ${JSON.stringify(text)}\n`);
  });

  it("quotes keys that are numbers or paths", () => {
    expect(toYaml({ "200": { "/api/x": 1 } })).toBe('"200":\n  "/api/x": 1\n');
  });
});
