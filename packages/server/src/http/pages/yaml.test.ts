import { openApiDocument } from "@parley/schema";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
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
        "openapi: 3.1.0",
        "info:",
        "  title: A service",
        "  empty: {}",
        "  none: []",
        "  nothing: null",
        "tags:",
        "  - a",
        "  - name: b",
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
    "yes",
    "12:30:00",
    "- a",
    "2026-01-01",
    "~",
  ])("quotes %j, which would be read otherwise", (text) => {
    expect(toYaml({ key: text })).toBe(`key: ${JSON.stringify(text)}\n`);
  });

  it("reads back as the same document", () => {
    const document = openApiDocument({ baseUrl: "https://voice.example", version: "1", names: "neutral" });
    expect(parse(toYaml(document))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("quotes keys that are numbers", () => {
    expect(toYaml({ "200": { "/api/x": 1 } })).toBe('"200":\n  /api/x: 1\n');
  });
});
