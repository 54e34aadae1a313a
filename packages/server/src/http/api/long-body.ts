/** Reads a body with a very long list entry by entry, so that it does not block other work. */

import {
  ApiError,
  type FieldError,
  listed,
  type LongList,
  MAX_PROBLEMS,
  parseBody,
  type ParseOptions,
  validationError,
} from "@parley/schema";
import { inSlices } from "../../pacing/in-slices.ts";
import { isStorable, MAX_BODY_BYTES, MAX_JSON_DEPTH, parseJsonBody } from "./json-body.ts";
import { isBlank, ListSplitter, type SplitFault } from "./list-splitter.ts";

/** The typed value of the body. Throws like `parseJsonBody` and `parseBody`. */
export async function parseLongBody(
  { field, entry, rest, maxEntries }: LongList,
  bytes: Uint8Array,
  options: ParseOptions,
): Promise<Record<string, unknown>> {
  const splitter = new ListSplitter(bytes, field, { maxDepth: MAX_JSON_DEPTH, maxEntries });
  await inSlices(splitter.steps(), () => true);
  if (splitter.fault !== null) throw splitFailure(splitter.fault, field, maxEntries);
  const remainder = splitter.rest();
  if (remainder.length > MAX_BODY_BYTES) throw tooLarge(field);
  const problems: FieldError[] = [];
  const settings = attempt(problems, "", () => {
    const { [field]: given, ...others } = asRecord(parseJsonBody(remainder));
    if (splitter.count === null)
      problems.push({
        field,
        message: given === undefined || given === null ? "is required" : "must be a list",
      });
    return parseBody(rest, others, { ...options, storable: isStorable(remainder) }) as Record<
      string,
      unknown
    >;
  });
  const count = splitter.count ?? 0;
  if (splitter.count === 0) problems.push({ field, message: "must have at least 1 entry" });
  const entries: unknown[] = [];
  const reading = readEntries(count, (index) => splitter.entry(index), {
    add: (value) => entries.push(value),
    attempt: (index, parse) => attempt(problems, `${field}.${index}`, parse),
    check: (value, bytes) => parseBody(entry, value, { ...options, storable: isStorable(bytes) }),
  });
  await inSlices(reading, () => problems.length <= MAX_PROBLEMS);
  if (problems.length > 0) throw validationError(listed(problems));
  return { ...settings, [field]: entries };
}

interface EntryReader {
  readonly add: (value: unknown) => void;
  /** Undefined: it failed, and the problem is noted. */
  readonly attempt: <Value>(index: number, parse: () => Value) => Value | undefined;
  readonly check: (value: unknown, bytes: Uint8Array) => unknown;
}

/** Two steps for each entry: an entry of a mebibyte takes tens of milliseconds for each. */
function* readEntries(
  count: number,
  bytesOf: (index: number) => Uint8Array,
  { add, attempt: attemptAt, check }: EntryReader,
): Generator<void> {
  for (let index = 0; index < count; index += 1) {
    const bytes = bytesOf(index);
    // A list, because an entry may be any JSON value.
    const read = attemptAt(index, () => [parseEntry(bytes)]);
    yield;
    if (read !== undefined) attemptAt(index, () => add(check(read[0], bytes)));
    yield;
  }
}

/** Collects the problems, each with its position before the name of its field. Undefined: there is a problem. */
function attempt<Value>(problems: FieldError[], place: string, parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "validation_failed") throw error;
    if (error.errors.length === 0 && place === "") throw error;
    const found = error.errors.length > 0 ? error.errors : [{ field: "", message: "is not valid JSON" }];
    for (const { field, message } of found) {
      problems.push({ field: [place, field].filter((part) => part !== "").join("."), message });
    }
    return undefined;
  }
}

/** Bounds what is parsed at once; a body of its own may not be larger either. */
function parseEntry(bytes: Uint8Array): unknown {
  if (bytes.length > MAX_BODY_BYTES) {
    throw validationError([{ field: "", message: `must have at most ${MAX_BODY_BYTES} bytes` }]);
  }
  // Nothing between two commas is not an entry, while an empty body is a valid body.
  if (isBlank(bytes, 0, bytes.length)) throw new ApiError("validation_failed", "An entry is empty.");
  return parseJsonBody(bytes);
}

function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw validationError([{ field: "", message: "must be a JSON object" }]);
  }
  return value as Record<string, unknown>;
}

function tooLarge(field: string): ApiError {
  return new ApiError(
    "payload_too_large",
    `Without ${field} the body is larger than ${MAX_BODY_BYTES} bytes.`,
  );
}

function splitFailure(fault: SplitFault, field: string, maxEntries: number): ApiError {
  const failures: Record<SplitFault, ApiError> = {
    nested: new ApiError("payload_too_large", `The body nests deeper than ${MAX_JSON_DEPTH} levels.`),
    entries: validationError([{ field, message: `must have at most ${maxEntries} entries` }]),
    repeated: validationError([{ field, message: "must not be given twice" }]),
    open: new ApiError("validation_failed", "The body is not valid JSON: it ends too early."),
  };
  return failures[fault];
}
