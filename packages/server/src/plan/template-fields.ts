/**
 * Which texts of an agent's template are template strings (D91), and what is done with all of them: checked when the
 * agent is stored, read for their variables, filled when a call is created.
 */

import type { CallTemplate, FieldError, SelectedTool } from "@parley/schema";
import { faultField, generateContextSchema } from "./context-schema.ts";
import type { JsonSchema, SchemaFault } from "./context-schema.ts";
import { newRenderBudget, renderTemplate, TemplateTooLarge } from "./template-text.ts";
import type { ParseTemplate, TemplateContext, TemplateNode } from "./template-text.ts";

/** Replaces one text; `path` leads to it from the template, such as `inactivityMessages.0.message`. */
type Replace = (text: string, path: string) => string;

/** A copy with every template string replaced. The one list of these fields. */
function mapTemplates(template: CallTemplate, replace: Replace): CallTemplate {
  const { systemPrompt, languageHint, timeExceededMessage, inactivityMessages, selectedTools } = template;
  const put = <K extends string>(key: K, text: string | undefined): { [P in K]?: string } =>
    text === undefined ? {} : ({ [key]: replace(text, key) } as { [P in K]: string });
  return {
    ...template,
    ...put("systemPrompt", systemPrompt),
    ...put("languageHint", languageHint),
    ...put("timeExceededMessage", timeExceededMessage),
    ...(inactivityMessages === undefined
      ? {}
      : {
          inactivityMessages: inactivityMessages.map((item, index) =>
            item.message === undefined
              ? item
              : { ...item, message: replace(item.message, `inactivityMessages.${index}.message`) },
          ),
        }),
    ...(selectedTools === undefined
      ? {}
      : {
          selectedTools: selectedTools.map((tool, index) => mapTool(tool, `selectedTools.${index}`, replace)),
        }),
  };
}

function mapTool(tool: SelectedTool, path: string, replace: Replace): SelectedTool {
  const { descriptionOverride, authTokens, parameterOverrides, temporaryTool } = tool;
  const mapped = { ...tool };
  if (descriptionOverride !== undefined) {
    mapped.descriptionOverride = replace(descriptionOverride, `${path}.descriptionOverride`);
  }
  if (authTokens !== undefined) {
    mapped.authTokens = mapTexts(authTokens, `${path}.authTokens`, replace) as Record<string, string>;
  }
  if (parameterOverrides !== undefined) {
    mapped.parameterOverrides = mapTexts(parameterOverrides, `${path}.parameterOverrides`, replace) as Record<
      string,
      unknown
    >;
  }
  if (temporaryTool !== undefined) {
    const own = `${path}.temporaryTool`;
    const { description, staticParameters } = temporaryTool;
    const definition = { ...temporaryTool };
    if (typeof description === "string") definition.description = replace(description, `${own}.description`);
    if (staticParameters !== undefined) {
      definition.staticParameters = staticParameters.map((parameter, index) => ({
        ...parameter,
        value: mapTexts(parameter.value, `${own}.staticParameters.${index}.value`, replace),
      }));
    }
    return { ...mapped, temporaryTool: definition } as SelectedTool;
  }
  return mapped;
}

/** Every text inside a JSON value; keys stay as they are. */
function mapTexts(value: unknown, path: string, replace: Replace): unknown {
  if (typeof value === "string") return replace(value, path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, `${path}.${index}`, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, `${path}.${key}`, replace)]),
  );
}

/** What is wrong with the template strings of an agent. Fields are dotted paths below `callTemplate`. */
export function textProblems(template: CallTemplate, parse: ParseTemplate): FieldError[] {
  const errors: FieldError[] = [];
  mapTemplates(template, (text, path) => {
    const parsed = parse(text);
    if ("problem" in parsed) errors.push({ field: `callTemplate.${path}`, message: parsed.problem });
    return text;
  });
  return errors;
}

/** What is wrong with the context schema of an agent, in the words for its author. */
export function contextSchemaProblems(
  { contextSchema }: CallTemplate,
  faults: readonly SchemaFault[],
): FieldError[] {
  if (contextSchema !== undefined) {
    return faults.map((fault) => ({
      field: faultField("callTemplate.contextSchema", fault),
      message: fault.message,
    }));
  }
  const [fault] = faults;
  if (fault === undefined) return [];
  return [{ field: "callTemplate", message: `uses too many variables; their schema ${fault.message}` }];
}

/** The template's own schema, or one made of the variables of its texts (D93). */
export function contextSchemaOf(template: CallTemplate, parse: ParseTemplate): JsonSchema {
  if (template.contextSchema !== undefined) return template.contextSchema;
  const parsed: (readonly TemplateNode[])[] = [];
  mapTemplates(template, (text) => {
    const result = parse(text);
    if ("nodes" in result) parsed.push(result.nodes);
    return text;
  });
  return generateContextSchema(parsed);
}

/** The template with its texts filled, or why one could not be filled. */
export function fillTemplates(
  template: CallTemplate,
  context: TemplateContext,
  parse: ParseTemplate,
): { readonly filled: CallTemplate } | { readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const budget = newRenderBudget();
  const filled = mapTemplates(template, (text, path) => {
    const parsed = parse(text);
    if ("problem" in parsed) {
      errors.push({ field: `callTemplate.${path}`, message: parsed.problem });
      return text;
    }
    // Once the budget is used up every further text would fail for the same reason.
    if (errors.length > 0) return text;
    try {
      return renderTemplate(parsed.nodes, context, budget);
    } catch (error) {
      if (!(error instanceof TemplateTooLarge)) throw error;
      errors.push({ field: `callTemplate.${path}`, message: error.message });
      return text;
    }
  });
  return errors.length > 0 ? { errors } : { filled };
}
