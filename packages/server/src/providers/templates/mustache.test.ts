import { describe, expect, test } from "vitest";
import { MAX_NAME_CHARS, MAX_SECTION_DEPTH, MAX_TAG_CHARS, openTemplateParser } from "./mustache.ts";

const parse = openTemplateParser();

describe("openTemplateParser", () => {
  test("turns text, values, sections and comments into a tree", () => {
    expect(
      parse("Hi {{ user.name }}{{! not shown }}, {{#items}}{{.}};{{/items}}{{^items}}none{{/items}}"),
    ).toEqual({
      nodes: [
        { kind: "text", text: "Hi " },
        { kind: "value", name: "user.name" },
        { kind: "text", text: ", " },
        {
          kind: "section",
          name: "items",
          inverted: false,
          nodes: [
            { kind: "value", name: "." },
            { kind: "text", text: ";" },
          ],
        },
        { kind: "section", name: "items", inverted: true, nodes: [{ kind: "text", text: "none" }] },
      ],
    });
  });

  test("takes the three spellings of a value alike", () => {
    const value = { nodes: [{ kind: "value", name: "a" }] };
    expect(parse("{{a}}")).toEqual(value);
    expect(parse("{{{a}}}")).toEqual(value);
    expect(parse("{{&a}}")).toEqual(value);
    expect(parse("{{ { a }}}")).toEqual(value);
  });

  test("leaves single braces alone", () => {
    expect(parse("{text} {digits} } {")).toEqual({ nodes: [{ kind: "text", text: "{text} {digits} } {" }] });
    expect(parse("")).toEqual({ nodes: [] });
  });

  test("drops the line of a tag that stands alone on it", () => {
    expect(parse("a\n{{#b}}\nc\n{{/b}}\nd")).toEqual({
      nodes: [
        { kind: "text", text: "a\n" },
        { kind: "section", name: "b", inverted: false, nodes: [{ kind: "text", text: "c\n" }] },
        { kind: "text", text: "d" },
      ],
    });
  });

  test.each([
    ["a partial", "Hi {{> card}}", /partial/],
    ["changed delimiters", "{{=<% %>=}} <% a %>", /delimiters/],
    ["an open tag", "Hi {{name", /not closed by }}$/],
    ["an open triple tag", "Hi {{{name}} there", /not closed by }}}/],
    ["an open section", "{{#a}}x", /Unclosed section "a"/],
    ["a crossed section", "{{#a}}{{#b}}{{/a}}{{/b}}", /Unclosed section "b"/],
    ["a section closed only", "x{{/a}}", /Unopened section "a"/],
    ["no name", "JSON: {{}}", /without a name/],
    ["an empty part", "{{a..b}}", /empty part/],
    ["braces in a name", "{{ {a} }}", /not closed by }}}/],
    ["a brace in a name", "{{ a{b }}", /brace/],
    ["a long name", `{{${"n".repeat(MAX_NAME_CHARS + 1)}}}`, /longer than 200/],
    ["a long tag", `{{! ${" ".repeat(MAX_TAG_CHARS)} }}`, /more than 2000/],
    [
      "deep sections",
      "{{#a}}".repeat(MAX_SECTION_DEPTH + 1) + "{{/a}}".repeat(MAX_SECTION_DEPTH + 1),
      /deep/,
    ],
  ])("refuses %s", (_what, text, words) => {
    expect(parse(text)).toEqual({ problem: expect.stringMatching(words) });
  });

  test("answers for more texts than it keeps", () => {
    for (let at = 0; at < 300; at += 1)
      expect(parse(`{{v${at}}}`)).toEqual({ nodes: [{ kind: "value", name: `v${at}` }] });
    expect(parse("{{v0}}")).toEqual({ nodes: [{ kind: "value", name: "v0" }] });
  });

  test("a long run of spaces in a tag is refused before the parser sees it", () => {
    expect(parse(`{{${" ".repeat(900_000)}`)).toEqual({ problem: expect.stringMatching(/not closed/) });
    expect(parse(`{{{a}}${" ".repeat(900_000)}}}}`)).toEqual({
      problem: expect.stringMatching(/more than 2000/),
    });
  });
});
