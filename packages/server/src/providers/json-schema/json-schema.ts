/**
 * JSON Schema 2020-12 by ajv, for schemas and values that come in requests. It runs in a thread, see
 * `schema-checks.ts`. Ajv compiles a schema to a program, and a small schema can describe endless work: references that
 * double at each level, or a pattern that backtracks. So a schema is measured first (`schema-limits.ts`), patterns match
 * in linear time where they can, and compiling and checking run under the timeout of `vm`, which interrupts any
 * JavaScript, including the regular expression engine.
 */

import { type Context, createContext, Script } from "node:vm";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { compileLinearPattern } from "@parley/schema/values/linear-pattern";
import { PatternError } from "@parley/schema/values/pattern-syntax";
import { ENDLESS_WORK, limitFaults, MAX_FAULTS, TOO_COSTLY } from "./schema-limits.ts";
import type { SchemaFault } from "./schema-limits.ts";
import { messageOf } from "../../pacing/error-text.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface JsonSchemaChecker {
  /** Faults of the schema itself; `path` leads into it. Empty: `checkValue` takes it. */
  readonly checkSchema: (schema: JsonSchema) => readonly SchemaFault[];
  /** Where the value does not satisfy the schema, one entry per fault, at most `MAX_FAULTS`. */
  readonly checkValue: (schema: JsonSchema, value: unknown) => readonly SchemaFault[];
  /** Whether all values satisfy the schema; many times faster. Also false where the check takes too long. */
  readonly allSatisfy: (schema: JsonSchema, values: readonly unknown[]) => boolean;
}

/** Time for compiling one schema or checking one value. Both take 1 to 5 ms for real ones. */
const TIME_LIMIT_MS = 250;

/**
 * The limit counts real time. A job that had less than half of it on the processor was delayed by a busy machine and
 * runs again, at most this often.
 */
const BUSY_RUNS = 3;

/**
 * Limit of cached compiled schemas, some 5 MiB: the calls of an agent are checked against the same schema repeatedly.
 */
const CACHED_SCHEMAS = 100;

/** @param timeLimitMs for tests whose verdict must not depend on the machine */
export function openJsonSchema(timeLimitMs = TIME_LIMIT_MS): JsonSchemaChecker {
  const clock = openClock(timeLimitMs);
  const meta = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
  const cache = new Map<string, Compiled>();

  const compiled = (schema: JsonSchema): Compiled => {
    const key = JSON.stringify(schema);
    // The compilation of the meta-schema, 50 to 100 ms, must not count against the time limit of the first schema.
    void meta.validateSchema({});
    const known = cache.get(key) ?? compile(schema, meta, clock);
    cache.delete(key);
    // A timeout may be due to a busy moment, so it is not cached: the next request tries again.
    if (known.faults.length === 0) cache.set(key, known);
    const oldest = cache.size > CACHED_SCHEMAS ? cache.keys().next() : null;
    if (oldest !== null && oldest.done !== true) cache.delete(oldest.value);
    return known;
  };

  const validatorOf = (schema: JsonSchema): ValidateFunction => {
    const validate = limitFaults(schema).length > 0 ? null : compiled(schema).validate;
    if (validate !== null) return validate;
    throw new Error("a value was to be checked against a schema that checkSchema refuses");
  };

  return {
    checkSchema: (schema) => {
      const faults = limitFaults(schema);
      return faults.length > 0 ? faults : compiled(schema).faults;
    },
    checkValue: (schema, value) => check(validatorOf(schema), value, clock),
    allSatisfy: (schema, values) => {
      const validate = validatorOf(schema);
      try {
        return clock.run(() => values.every((value) => validate(value))) === true;
      } catch (error) {
        // See `check`, which finds the value that this is about.
        if (error instanceof RangeError) return false;
        throw error;
      }
    },
  };
}

interface Compiled {
  readonly faults: readonly SchemaFault[];
  /** Null when there are faults. */
  readonly validate: ValidateFunction | null;
}

function compile(schema: JsonSchema, meta: Ajv2020, clock: Clock): Compiled {
  const valid = clock.run(() => meta.validateSchema(schema));
  if (valid === TIMED_OUT) return { faults: [TOO_COSTLY], validate: null };
  if (valid !== true) return { faults: faultsOf(meta.errors ?? []), validate: null };
  // An instance for each schema, so that no `$id` of one request is seen by another and nothing piles up; and for each
  // run, because one that was interrupted is left half done.
  const compileOnce = (): ValidateFunction =>
    new Ajv2020({
      strict: false,
      allErrors: true,
      meta: false,
      validateSchema: false,
      validateFormats: false,
      logger: false,
      loopEnum: 20,
      code: { regExp },
    }).compile(schema);
  try {
    const validate = clock.run(compileOnce);
    if (validate === TIMED_OUT) return { faults: [TOO_COSTLY], validate: null };
    return { faults: [], validate };
  } catch (error) {
    if (error instanceof RangeError) return { faults: [{ path: [], message: ENDLESS }], validate: null };
    const message = `must be a usable JSON Schema: ${messageOf(error)}`;
    return { faults: [{ path: [], message }], validate: null };
  }
}

/** A pattern in linear time, in the shape that ajv expects. */
class LinearRegExp {
  readonly test: (text: string) => boolean;
  readonly #pattern: string;

  constructor(pattern: string) {
    this.test = compileLinearPattern(pattern, "unicode").isIn;
    this.#pattern = pattern;
  }

  /** Ajv takes those with the same text for the same pattern. */
  toString(): string {
    return `linear ${this.#pattern}`;
  }
}

/** The engine of patterns: in linear time, or that of JavaScript for those that need backtracking. */
function regExp(pattern: string, flags: string): LinearRegExp | RegExp {
  try {
    return new LinearRegExp(pattern);
  } catch (error) {
    if (error instanceof PatternError) return new RegExp(pattern, flags);
    throw error;
  }
}
// Ajv asks for it, and uses it only where it writes programs to files.
regExp.code = "linear";

function check(validate: ValidateFunction, value: unknown, clock: Clock): readonly SchemaFault[] {
  try {
    const valid = clock.run(() => validate(value));
    if (valid === TIMED_OUT) return [ENDLESS_WORK];
    return valid ? [] : faultsOf(validate.errors ?? []);
  } catch (error) {
    // A schema that refers to itself without going deeper into the value overflows the stack.
    if (error instanceof RangeError) return [{ path: [], message: ENDLESS }];
    throw error;
  }
}

const ENDLESS = "cannot be checked: the schema refers to itself without end";
const TIMED_OUT: unique symbol = Symbol("timed out");

interface Clock {
  readonly run: <T>(job: () => T) => T | typeof TIMED_OUT;
}

/** Runs a function until its end or the limit, whichever is first. */
function openClock(timeLimitMs: number): Clock {
  const holder: { job: () => unknown } = { job: () => undefined };
  const context = createContext(holder);
  const script = new Script("job()");
  return {
    run: <T>(job: () => T) => {
      holder.job = job;
      try {
        for (let left = BUSY_RUNS; ; left -= 1) {
          const before = process.threadCpuUsage();
          const result = runLimited(script, context, timeLimitMs);
          if (result !== TIMED_OUT || left === 0) return result as T;
          const { user, system } = process.threadCpuUsage(before);
          if ((user + system) / 1000 >= timeLimitMs / 2) return TIMED_OUT;
        }
      } finally {
        holder.job = () => undefined;
      }
    },
  };
}

function runLimited(script: Script, context: Context, timeout: number): unknown {
  try {
    return script.runInContext(context, { timeout });
  } catch (error) {
    // The timeout error belongs to the realm of the script, so it is not an instance of this realm's Error.
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
    if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return TIMED_OUT;
    throw error;
  }
}

/**
 * One fault for each error, without the reasons of each alternative of an `anyOf` or `oneOf` that failed as a whole.
 */
function faultsOf(errors: readonly ErrorObject[]): SchemaFault[] {
  const whole = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  const faults = new Map<string, SchemaFault>();
  for (const error of errors) {
    if (error.keyword === "if" || whole.some((choice) => choice !== error && belongsTo(error, choice)))
      continue;
    const inner = errors.filter(
      (other) => other !== error && whole.includes(error) && belongsTo(other, error),
    );
    const fault = { path: pathOf(error), message: faultText(telling(error, inner)) };
    faults.set(JSON.stringify([fault.path, fault.message]), fault);
    if (faults.size >= MAX_FAULTS) break;
  }
  return [...faults.values()];
}

/** For a failed choice: the error of the alternative that lists the allowed values at this place, if there is one. */
function telling(error: ErrorObject, inner: readonly ErrorObject[]): ErrorObject {
  return (
    inner.find((other) => other.keyword === "enum" && other.instancePath === error.instancePath) ?? error
  );
}

/** Errors inside a referenced part carry that part's own path, so its place in the value decides as well. */
function belongsTo(error: ErrorObject, choice: ErrorObject): boolean {
  if (error.schemaPath.startsWith(`${choice.schemaPath}/`)) return true;
  const below =
    error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`);
  return below && error.schemaPath.startsWith("#/$defs/") && !choice.schemaPath.startsWith("#/$defs/");
}

function pathOf(error: ErrorObject): string[] {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const own = ownKey(error);
  return own === null ? path : [...path, own];
}

/** The member that an error about an object refers to. */
function ownKey({ keyword, params }: ErrorObject): string | null {
  const key =
    keyword === "required" || keyword === "dependentRequired"
      ? (params["missingProperty"] as unknown)
      : keyword === "additionalProperties"
        ? (params["additionalProperty"] as unknown)
        : keyword === "unevaluatedProperties"
          ? (params["unevaluatedProperty"] as unknown)
          : null;
  return typeof key === "string" ? key : null;
}

function faultText(error: ErrorObject): string {
  switch (error.keyword) {
    case "required":
    case "dependentRequired":
      return "is required";
    case "additionalProperties":
    case "unevaluatedProperties":
      return "is not allowed";
    case "enum":
      return `must be one of ${shortened(JSON.stringify(error.params["allowedValues"]).slice(1, -1))}`;
    case "const":
      return `must be ${shortened(JSON.stringify(error.params["allowedValue"]))}`;
    case "anyOf":
    case "oneOf":
      return "must match one of the alternatives of the schema";
    default:
      return shortened(error.message ?? `does not satisfy "${error.keyword}"`);
  }
}

/** Characters of one message; a list of allowed values may be as long as the schema. */
const MAX_MESSAGE_CHARS = 300;

function shortened(text: string): string {
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS)}…`;
}
