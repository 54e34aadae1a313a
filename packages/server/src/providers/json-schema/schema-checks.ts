/**
 * Checks of schemas and values that come in requests, without holding up the main thread: what `quick-check.ts` finds
 * good within its steps is good, and everything else is checked in a thread.
 */

import { type Job, JobLostError } from "../../threads/job-pool.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isQuicklyGood, isQuicklyUsable } from "./quick-check.ts";
import type { SchemaOutput, SchemaTask } from "./schema-job.ts";
import { ENDLESS_WORK, type SchemaFault, sizeFault, TOO_COSTLY } from "./schema-limits.ts";

export interface SchemaChecks {
  /** Faults of the schema itself; `path` leads into it. Empty: `checkValue` takes it. */
  readonly checkSchema: (accountId: string, schema: JsonSchema) => Promise<readonly SchemaFault[]>;
  /** Where the value does not satisfy the schema, one entry per fault, at most `MAX_FAULTS`. */
  readonly checkValue: (
    accountId: string,
    schema: JsonSchema,
    value: unknown,
  ) => Promise<readonly SchemaFault[]>;
  /** Whether all values satisfy the schema. Also false where the check takes too long. */
  readonly allSatisfy: (
    accountId: string,
    schema: JsonSchema,
    values: readonly unknown[],
  ) => Promise<boolean>;
}

/** All three reject with `BusyError` when too many checks are waiting. */
export type RunJob = (job: Job) => Promise<unknown>;

const MODULE = new URL("./schema-job.ts", import.meta.url);
/**
 * The thread itself stops a check after 250 ms of its own time, and keeps what it has compiled. This ends a thread that
 * does not obey: two such steps, each repeated on a busy machine.
 */
const JOB_LIMIT_MS = 5_000;
/** Limit of schemas that are known to be usable, by their text: at most 64 KiB each, usually 2 KiB. */
const KNOWN_SCHEMAS = 100;

export function openSchemaChecks(run: RunJob): SchemaChecks {
  const usable = new Set<string>();
  const remember = (text: string): void => {
    usable.delete(text);
    usable.add(text);
    const oldest = usable.size > KNOWN_SCHEMAS ? usable.values().next() : null;
    if (oldest !== null && oldest.done !== true) usable.delete(oldest.value);
  };
  /** Null: it took too long, or too much memory. */
  const ask = async (accountId: string, input: SchemaTask): Promise<SchemaOutput | null> => {
    try {
      const output = await run({ accountId, module: MODULE, input, limitMs: JOB_LIMIT_MS });
      return output as SchemaOutput;
    } catch (error) {
      if (error instanceof JobLostError) return null;
      throw error;
    }
  };
  return {
    checkSchema: async (accountId, schema) => {
      const tooLarge = sizeFault(schema);
      if (tooLarge !== null) return [tooLarge];
      if (isQuicklyUsable(schema)) return [];
      const text = JSON.stringify(schema);
      if (!usable.has(text)) {
        const output = await ask(accountId, { type: "schema", schema: text });
        const faults = output === null ? [TOO_COSTLY] : output.faults;
        if (faults.length > 0) return faults;
      }
      remember(text);
      return [];
    },
    checkValue: async (accountId, schema, value) => {
      if (isQuicklyGood(schema, [value])) return [];
      const output = await ask(accountId, { type: "value", ...texts(schema, value) });
      return output === null ? [ENDLESS_WORK] : output.faults;
    },
    allSatisfy: async (accountId, schema, values) => {
      if (isQuicklyGood(schema, values)) return true;
      const output = await ask(accountId, { type: "values", ...texts(schema, values) });
      return output !== null && output.faults.length === 0;
    },
  };
}

/** Text is copied between threads many times faster than objects. */
function texts(schema: JsonSchema, value: unknown): { readonly schema: string; readonly value: string } {
  return { schema: JSON.stringify(schema), value: JSON.stringify(value) };
}
