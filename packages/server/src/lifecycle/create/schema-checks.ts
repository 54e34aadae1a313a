/** Checks of JSON schemas, and of values against them, as agents, calls and batches need them. */

import type { CallTemplate, FieldError } from "@parley/schema";
import { faultField } from "../../plan/context-schema.ts";
import type { JsonSchema, SchemaFault } from "../../plan/context-schema.ts";
import { contextSchemaOf, contextSchemaProblems, textProblems } from "../../plan/template-fields.ts";
import type { ParseTemplate, TemplateContext } from "../../plan/template-text.ts";

/** Returns what is wrong with a schema itself; empty when it can be used. */
export type CheckSchema = (accountId: string, schema: JsonSchema) => Promise<readonly SchemaFault[]>;

/** Returns where a value does not satisfy a schema that `CheckSchema` accepted; one entry per fault. */
export type CheckValue = (
  accountId: string,
  schema: JsonSchema,
  value: unknown,
) => Promise<readonly SchemaFault[]>;

/** Whether all of many values satisfy a schema that `CheckSchema` accepted; false also where that is unknown. */
export type AllSatisfy = (
  accountId: string,
  schema: JsonSchema,
  values: readonly unknown[],
) => Promise<boolean>;

/** They reject with `BusyError` when too many checks are waiting. */
export interface SchemaChecks {
  readonly checkSchema: CheckSchema;
  readonly checkValue: CheckValue;
  readonly allSatisfy: AllSatisfy;
}

export interface TemplateChecks {
  readonly parseTemplate: ParseTemplate;
  readonly checkSchema: CheckSchema;
}

/**
 * What is wrong with the template strings and the context schema of an agent that is to be stored. Fields are dotted
 * paths below `callTemplate`.
 */
export async function checkTemplates(
  accountId: string,
  template: CallTemplate,
  { parseTemplate, checkSchema }: TemplateChecks,
): Promise<readonly FieldError[]> {
  const errors = textProblems(template, parseTemplate);
  // The variables of texts that cannot be read are not known.
  if (errors.length > 0 && template.contextSchema === undefined) return errors;
  const faults = await checkSchema(accountId, contextSchemaOf(template, parseTemplate));
  return [...errors, ...contextSchemaProblems(template, faults)];
}

/** Checks contexts for calls of one agent. */
export interface ContextChecker {
  /** Fields are dotted paths that begin with `templateContext`. */
  readonly problemsOf: (context: TemplateContext) => Promise<readonly FieldError[]>;
  /** Whether nothing is wrong with any of many; false also where only checking each can tell. */
  readonly allGood: (contexts: readonly TemplateContext[]) => Promise<boolean>;
}

/** Of an agent with this template. If its schema cannot be used, every context gets that error. */
export async function contextChecker(
  accountId: string,
  template: CallTemplate,
  { parseTemplate, checkSchema, checkValue, allSatisfy }: TemplateChecks & SchemaChecks,
): Promise<ContextChecker> {
  const schema = contextSchemaOf(template, parseTemplate);
  const [fault] = await checkSchema(accountId, schema);
  if (fault !== undefined) {
    const message = `cannot be checked: the context schema of the agent ${fault.message}`;
    return { problemsOf: async () => [{ field: "templateContext", message }], allGood: async () => false };
  }
  return {
    problemsOf: async (context) =>
      (await checkValue(accountId, schema, context)).map((found) => ({
        field: faultField("templateContext", found),
        message: found.message,
      })),
    allGood: (contexts) => allSatisfy(accountId, schema, contexts),
  };
}
