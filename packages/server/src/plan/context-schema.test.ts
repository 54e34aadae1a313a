import { describe, expect, test } from "vitest";
import { openJsonSchema } from "../providers/json-schema/json-schema.ts";
import { openTemplateParser } from "../providers/templates/mustache.ts";
import { faultField, generateContextSchema } from "./context-schema.ts";
import type { JsonSchema } from "./context-schema.ts";

const parse = openTemplateParser();
const { checkSchema, checkValue } = openJsonSchema();

function schemaOf(...texts: string[]): JsonSchema {
  return generateContextSchema(
    texts.map((text) => {
      const parsed = parse(text);
      if ("problem" in parsed) throw new Error(parsed.problem);
      return parsed.nodes;
    }),
  );
}

function faults(text: string, context: unknown): string[] {
  return checkValue(schemaOf(text), context)
    .map((fault) => `${faultField("templateContext", fault)} ${fault.message}`)
    .sort();
}

describe("generateContextSchema", () => {
  test("no variables: any object", () => {
    expect(schemaOf("Hello.")).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {},
    });
    expect(faults("Hello.", { whatever: [1] })).toEqual([]);
  });

  test("plain names are required, section names optional, dotted names objects, in a stable order", () => {
    const wanted = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        name: {},
        user: { type: "object", properties: { city: {}, vip: {} }, required: ["city"] },
        visits: {},
      },
      required: ["name", "user"],
    };
    expect(
      schemaOf("Hi {{name}}", "{{#visits}}{{date}}{{/visits}} {{user.city}}", "{{#user.vip}}!{{/user.vip}}"),
    ).toEqual(wanted);
    expect(schemaOf("{{#user.vip}}!{{/user.vip}}{{#visits}}{{/visits}}{{user.city}}", "{{name}}")).toEqual(
      wanted,
    );
  });

  test("a name that is both a section and a value is required", () => {
    expect(schemaOf("{{#a}}x{{/a}}{{a}}")).toMatchObject({ required: ["a"] });
  });

  test("whatever it makes is a schema", () => {
    for (const text of [
      "",
      "{{a}}",
      "{{__proto__}}{{a.__proto__.b}}",
      "{{constructor.name}}",
      "{{a.0.b}}{{a.length}}",
    ]) {
      expect(checkSchema(schemaOf(text))).toEqual([]);
    }
  });

  test.each<[string, string, unknown, string[]]>([
    ["all there", "{{a}} {{b.c}}", { a: 1, b: { c: "x" }, more: true }, []],
    ["null counts as given", "{{a}}", { a: null }, []],
    [
      "one entry per fault",
      "{{a}} {{b.c}} {{d}}",
      { b: {} },
      ["templateContext.a is required", "templateContext.b.c is required", "templateContext.d is required"],
    ],
    ["an object where one is needed", "{{b.c}}", { b: "text" }, ["templateContext.b must be object"]],
    [
      "names of a list's items are not demanded",
      "{{#items}}{{title}}{{/items}}",
      { items: [{ title: "x" }] },
      [],
    ],
    [
      "names in an inverted section are",
      "{{^known}}{{hint}}{{/known}}",
      { known: true },
      ["templateContext.hint is required"],
    ],
    ["a place of a list takes a list", "{{guests.0.name}}{{guests.length}}", { guests: [{ name: "x" }] }, []],
    ["an optional object may be null", "{{#user.vip}}x{{/user.vip}}", { user: null }, []],
    ["not an object at all", "{{a}}", ["a"], ["templateContext must be object"]],
  ])("%s", (_what, text, context, wanted) => {
    expect(faults(text, context)).toEqual(wanted);
  });
});
