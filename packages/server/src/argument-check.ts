/** The check of what a model gives to a tool, in words that help it to do better. */

import type { JsonSchemaChecker } from "./providers/json-schema/json-schema.ts";
import type { CheckArguments } from "./runner/tool-call-check.ts";

/** Faults named to the model: it mends the first ones, and one more attempt shows the rest. */
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
