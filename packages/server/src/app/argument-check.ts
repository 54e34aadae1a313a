/** Validator of the arguments that a model gives to a tool, with messages that help the model to correct them. */

import { BusyError } from "../pacing/busy.ts";
import type { SchemaChecks } from "../providers/json-schema/schema-checks.ts";
import type { CallDeps } from "../runner/call-deps.ts";

/** Limit of the faults in a message: the model corrects the first ones, and one more attempt shows the rest. */
const MAX_NAMED = 5;

export function createArgumentCheck({
  checkSchema,
  checkValue,
}: Pick<SchemaChecks, "checkSchema" | "checkValue">): CallDeps["checkArguments"] {
  return async (accountId, schema, value) => {
    try {
      if ((await checkSchema(accountId, schema)).length > 0)
        return "the schema of its parameters cannot be used";
      const faults = (await checkValue(accountId, schema, value)).map(
        ({ path, message }) => `${path.join(".") || "it"} ${message}`,
      );
      if (faults.length === 0) return null;
      return `the arguments do not match: ${faults.slice(0, MAX_NAMED).join("; ")}`;
    } catch (error) {
      // Arguments that were not checked reach no tool. The account itself has too many checks waiting.
      if (error instanceof BusyError) return "the arguments could not be checked in time";
      return "the arguments could not be checked";
    }
  };
}
