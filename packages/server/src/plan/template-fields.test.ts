import { CallTemplate } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { openTemplateParser } from "../providers/templates/mustache.ts";
import { contextSchemaOf, fillTemplates, textProblems } from "./template-fields.ts";
import { MAX_FILLED_BYTES } from "./template-text.ts";

const parseTemplate = openTemplateParser();

/** A template whose every template string is `text`. */
function everywhere(text: string): CallTemplate {
  return CallTemplate.parse({
    name: "{{not filled}}",
    systemPrompt: text,
    languageHint: text,
    timeExceededMessage: text,
    inactivityMessages: [
      { duration: "1s", message: "plain" },
      { duration: "2s", message: text },
    ],
    firstSpeakerSettings: { agent: { text: "{{not filled}}" } },
    selectedTools: [
      {
        toolName: "a",
        descriptionOverride: text,
        authTokens: { key: text },
        parameterOverrides: { to: text, list: [1, text], deep: { inside: text }, "{{key}}": 7 },
      },
      {
        temporaryTool: {
          modelToolName: "b",
          client: {},
          description: text,
          staticParameters: [
            { name: "p", value: { nested: [text] } },
            { name: "q", value: 1 },
          ],
        },
      },
    ],
  });
}

const FIELDS = [
  "systemPrompt",
  "languageHint",
  "timeExceededMessage",
  "inactivityMessages.1.message",
  "selectedTools.0.descriptionOverride",
  "selectedTools.0.authTokens.key",
  "selectedTools.0.parameterOverrides.to",
  "selectedTools.0.parameterOverrides.list.1",
  "selectedTools.0.parameterOverrides.deep.inside",
  "selectedTools.1.temporaryTool.description",
  "selectedTools.1.temporaryTool.staticParameters.0.value.nested.0",
];

describe("textProblems", () => {
  test("finds a bad text in every field that is a template string", () => {
    const errors = textProblems(everywhere("{{>partial}}"), parseTemplate);
    expect(errors.map(({ field }) => field)).toEqual(FIELDS.map((field) => `callTemplate.${field}`));
    expect(errors[0]?.message).toMatch(/partial/);
  });

  test("finds nothing where there is nothing", () => {
    expect(textProblems(everywhere("{{a.b}}"), parseTemplate)).toEqual([]);
    expect(textProblems({}, parseTemplate)).toEqual([]);
  });
});

describe("contextSchemaOf", () => {
  test("is the template's own where it has one", () => {
    const contextSchema = { type: "object", required: ["z"] };
    expect(contextSchemaOf({ systemPrompt: "{{a}}", contextSchema }, parseTemplate)).toBe(contextSchema);
  });

  test("is made of the variables of all texts otherwise", () => {
    const template = { ...everywhere("{{a}}"), timeExceededMessage: "{{b.c}}" };
    expect(contextSchemaOf(template, parseTemplate)).toMatchObject({ required: ["a", "b"] });
  });
});

describe("fillTemplates", () => {
  test("fills every template string and nothing else", () => {
    const context = { a: "{{b}}", b: "no" };
    expect(fillTemplates(everywhere("<{{a}}>"), context, parseTemplate)).toEqual({
      filled: everywhere("<{{b}}>"),
    });
  });

  test("does not change the template", () => {
    const template = everywhere("{{a}}");
    fillTemplates(template, { a: "x" }, parseTemplate);
    expect(template).toEqual(everywhere("{{a}}"));
  });

  test("refuses texts that are too long together, at the one that passes the limit", () => {
    const context = { a: "x".repeat(MAX_FILLED_BYTES / 2 + 1) };
    const template = CallTemplate.parse({
      systemPrompt: "{{a}}",
      languageHint: "en",
      timeExceededMessage: "{{a}}",
      inactivityMessages: [{ duration: "1s", message: "{{a}}" }],
    });
    expect(fillTemplates(template, context, parseTemplate)).toEqual({
      errors: [
        { field: "callTemplate.timeExceededMessage", message: expect.stringContaining("1048576 bytes") },
      ],
    });
  });

  test("refuses a stored text that is no template", () => {
    expect(fillTemplates({ systemPrompt: "{{" }, {}, parseTemplate)).toEqual({
      errors: [{ field: "callTemplate.systemPrompt", message: expect.stringContaining("not closed") }],
    });
  });
});
