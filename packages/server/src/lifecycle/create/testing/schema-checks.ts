/** Checks of schemas without threads, for tests. */

import { openJsonSchema } from "../../../providers/json-schema/json-schema.ts";
import type { SchemaChecks } from "../schema-checks.ts";

const schemas = openJsonSchema();

export const directSchemaChecks: SchemaChecks = {
  checkSchema: async (_accountId, schema) => schemas.checkSchema(schema),
  checkValue: async (_accountId, schema, value) => schemas.checkValue(schema, value),
  allSatisfy: async (_accountId, schema, values) => schemas.allSatisfy(schema, values),
};
