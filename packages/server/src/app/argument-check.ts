/** Validator of the arguments that a model gives to a tool, with messages that help the model to correct them. */

import type { JsonSchemaChecker } from "../providers/json-schema/json-schema.ts";
import type { CheckArguments } from "../runner/tasks/tool-call-check.ts";

/** Limit of the faults in a message: the model corrects the first ones, and one more attempt shows the rest. */
const MAX_NAMED = 5;

export function createArgumentCheck({ checkSchema, checkValue }: JsonSchemaChecker): CheckArguments {
  return (schema, value) => {
    if (checkSchema(schema).length > 0) return "the schema of its parameters cannot be used";
    const faults = checkValue(schema, value).map(
      ({ path, message }) => `${path.join(".") || "it"} ${message}`,
    );
    if (faults.length === 0) return null;
    return `the arguments do not match: ${faults.slice(0, MAX_NAMED).join("; ")}`;
  };
}
