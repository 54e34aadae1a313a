import * as fc from "fast-check";
import mustache from "mustache";
import { describe, expect, test } from "vitest";
import { openTemplateParser } from "../providers/templates/mustache.ts";
import {
  MAX_FILLED_BYTES,
  newRenderBudget,
  renderTemplate,
  TemplateTooLarge,
  utf8Length,
} from "./template-text.ts";
import type { TemplateContext } from "./template-text.ts";

const parse = openTemplateParser();

function fill(text: string, context: TemplateContext): string {
  const parsed = parse(text);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return renderTemplate(parsed.nodes, context, newRenderBudget());
}

describe("renderTemplate", () => {
  test.each<[string, string, TemplateContext, string]>([
    ["a value", "Hi {{name}}!", { name: "Ada" }, "Hi Ada!"],
    ["a dotted value", "{{user.name.first}}", { user: { name: { first: "Ada" } } }, "Ada"],
    ["no HTML escaping", "{{a}}{{{a}}}{{&a}}", { a: `<b>&"'` }, `<b>&"'<b>&"'<b>&"'`],
    ["an object as JSON", "{{a}}", { a: { b: [1, "x"], c: null } }, `{"b":[1,"x"],"c":null}`],
    ["a list as JSON", "{{a}}", { a: ["x", 1, true] }, `["x",1,true]`],
    ["null and missing as nothing", "[{{a}}{{b}}{{c.d}}]", { a: null }, "[]"],
    ["numbers and booleans", "{{a}} {{b}} {{c}}", { a: 0, b: 1.5, c: false }, "0 1.5 false"],
    ["a list section", "{{#a}}{{name}},{{/a}}", { a: [{ name: "x" }, { name: "y" }] }, "x,y,"],
    ["items with a dot", "{{#a}}{{.}}-{{/a}}", { a: [1, "b", null, { c: 1 }] }, `1-b--{"c":1}-`],
    ["an object section", "{{#a}}{{b}}{{/a}}", { a: { b: "x" } }, "x"],
    ["the outer value inside a section", "{{#a}}{{b}}{{/a}}", { a: [{}], b: "out" }, "out"],
    ["true as a section", "{{#a}}{{b}}{{/a}}", { a: true, b: "x" }, "x"],
    ["text as a section", "{{#a}}<{{.}}>{{/a}}", { a: "x" }, "<x>"],
    ["an empty section", "{{#a}}x{{/a}}{{#b}}y{{/b}}", { a: [], b: "" }, ""],
    ["an inverted section", "{{^a}}none{{/a}}{{^b}}x{{/b}}", { a: [], b: [1] }, "none"],
    ["a place of a list", "{{a.1.b}}", { a: [{}, { b: "x" }] }, "x"],
  ])("%s", (_what, text, context, wanted) => {
    expect(fill(text, context)).toBe(wanted);
  });

  test("never reaches into the language", () => {
    const names = [
      "constructor",
      "toString",
      "__proto__",
      "a.constructor",
      "a.length",
      "a.toString",
      "hasOwnProperty",
    ];
    for (const name of names) expect(fill(`[{{${name}}}]`, { a: "text" })).toBe("[]");
    expect(fill("[{{__proto__}}]", JSON.parse(`{"__proto__":"own"}`) as TemplateContext)).toBe("[own]");
  });

  test("a value is not filled again, whatever it holds", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom("{{b}}", "{{#b}}x{{/b}}", "{{{b}}}"),
        (text, tag) => {
          const value = text + tag;
          expect(fill("{{a}}|{{{a}}}", { a: value, b: "filled" })).toBe(`${value}|${value}`);
        },
      ),
    );
  });

  test("a text without braces stays as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const plain = text.replaceAll("{", "(");
        expect(fill(plain, { a: 1 })).toBe(plain);
      }),
    );
  });

  test("agrees with the library's own renderer wherever that is safe", () => {
    const key = fc.constantFrom("a", "b", "c", "d");
    const leaf = fc.oneof(fc.constantFrom(null, true, false, 0, 7, "", "x", "two words"));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(
          // The library throws on a null item.
          tie("tree").filter((item) => item !== null),
          { maxLength: 3 },
        ),
        tie("object"),
      ),
      object: fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
    }));
    const context = fc.dictionary(key, tree, { maxKeys: 4, noNullPrototype: true });
    const name = fc.oneof(
      key,
      fc.tuple(key, key).map((path) => path.join(".")),
    );
    const { text } = fc.letrec<{ text: string }>((tie) => ({
      text: fc
        .array(
          fc.oneof(
            { depthSize: "small" },
            fc.constantFrom("word ", "\n", " "),
            name.map((path) => `{{${path}}}`),
            fc
              .tuple(fc.constantFrom("#", "^"), name, tie("text"))
              .map(([s, n, t]) => `{{${s}${n}}}${t}{{/${n}}}`),
          ),
          { maxLength: 4 },
        )
        .map((parts) => parts.join("")),
    }));
    const escape = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
    fc.assert(
      fc.property(text, context, (template, view) => {
        expect(fill(template, view)).toBe(mustache.render(template, structuredClone(view), {}, { escape }));
      }),
      { numRuns: 500 },
    );
  });

  test("stops at the size of a call's texts, counted together and in bytes", () => {
    const nodes = [{ kind: "value", name: "a" } as const];
    const budget = newRenderBudget();
    const half = "é".repeat(MAX_FILLED_BYTES / 4);
    renderTemplate(nodes, { a: half }, budget);
    renderTemplate(nodes, { a: half }, budget);
    expect(budget.bytes).toBe(0);
    expect(() => renderTemplate(nodes, { a: "x" }, budget)).toThrow(TemplateTooLarge);
  });

  test("stops sections that multiply, even when they print nothing", () => {
    const text = "{{#a}}".repeat(6) + "{{/a}}".repeat(6);
    expect(() => fill(text, { a: Array.from({ length: 100 }, () => ({})) })).toThrow(TemplateTooLarge);
  });

  test("counts bytes as UTF-8 does", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});
