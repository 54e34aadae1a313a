import { describe, expect, test } from "vitest";
import { openTemplateParser } from "../../providers/templates/mustache.ts";
import { checkTemplates, contextChecker } from "./schema-checks.ts";
import { directSchemaChecks } from "./testing/schema-checks.ts";

const tools = { parseTemplate: openTemplateParser(), ...directSchemaChecks };

describe("checkTemplates", () => {
  test("finds nothing where there is nothing", async () => {
    expect(await checkTemplates("account", {}, tools)).toEqual([]);
  });

  test("finds what is wrong with the context schema, beside bad texts", async () => {
    const contextSchema = { properties: { a: { $ref: "https://example.com/x" } } };
    const errors = await checkTemplates("account", { systemPrompt: "{{#open}}", contextSchema }, tools);
    expect(errors.map(({ field }) => field)).toEqual([
      "callTemplate.systemPrompt",
      "callTemplate.contextSchema.properties.a.$ref",
    ]);
  });

  test("refuses more variables than a schema holds", async () => {
    const systemPrompt = Array.from({ length: 2_500 }, (_, index) => `{{v${index}}}`).join(" ");
    expect(await checkTemplates("account", { systemPrompt }, tools)).toEqual([
      { field: "callTemplate", message: expect.stringContaining("too many variables") },
    ]);
  });
});

describe("contextChecker", () => {
  test("checks contexts against the variables of the agent", async () => {
    const { problemsOf, allGood } = await contextChecker("account", { systemPrompt: "{{a}}" }, tools);
    expect(await problemsOf({})).toEqual([{ field: "templateContext.a", message: "is required" }]);
    expect([await allGood([{ a: "x" }]), await allGood([{ a: "x" }, {}])]).toEqual([true, false]);
  });

  test("refuses every context where the schema cannot be used", async () => {
    const template = { contextSchema: { type: "text" } };
    const { problemsOf, allGood } = await contextChecker("account", template, tools);
    expect(await problemsOf({})).toMatchObject([{ field: "templateContext" }]);
    expect(await allGood([{}])).toBe(false);
  });
});
