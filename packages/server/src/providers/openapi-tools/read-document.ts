/** Reads the bytes of an OpenAPI document, JSON or YAML, in a thread. */

import { runInNewContext } from "node:vm";
import { parse } from "yaml";
import { type Json, objectOf, OpenApiFault } from "./local-references.ts";

/**
 * Limit of YAML: an ordinary document of this size takes about 30 ms, one that consists of tiny values about 100 ms.
 * JSON is read a hundred times faster.
 */
const MAX_YAML_BYTES = 48 * 1024;
/** Time limit, because some texts take minutes at any useful size, such as keys within keys: `? ? ? ?`. */
const MAX_YAML_READ_MS = 500;
/** Limit of aliases, which can multiply a document. */
const MAX_YAML_ALIASES = 100;
const YAML_OPTIONS = {
  maxAliasCount: MAX_YAML_ALIASES,
  logLevel: "silent",
  // The library's check compares every key with every other: 31 s for one megabyte. The last one is used, as in
  // JSON.
  uniqueKeys: false,
  // Prevents that a %YAML 1.1 line enables merge keys and binary values.
  schema: "core",
  merge: false,
  resolveKnownTags: false,
} as const;

export function readDocument(bytes: Uint8Array): Json {
  const document = objectOf(readText(bytes));
  if (document === null)
    throw new OpenApiFault("file", "must be an OpenAPI document: an object in JSON or YAML");
  const version = document["openapi"];
  // YAML reads 3.1 without quotes as a number.
  const text = typeof version === "string" || typeof version === "number" ? String(version) : "";
  if (!/^3\.[01](?:\.|$)/.test(text)) throw new OpenApiFault("openapi", "must be 3.0 or 3.1");
  return document;
}

function readText(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new OpenApiFault("file", "must be UTF-8 text");
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return readYaml(text, bytes.length);
  }
}

function readYaml(text: string, size: number): unknown {
  if (size > MAX_YAML_BYTES) {
    throw new OpenApiFault(
      "file",
      `is not valid JSON, and YAML must have at most ${MAX_YAML_BYTES} bytes: send larger documents as JSON`,
    );
  }
  try {
    // A timeout of `vm` is the only way to stop synchronous code. No text is run as code.
    return runInNewContext(
      "read()",
      { read: () => parse(text, YAML_OPTIONS) as unknown },
      { timeout: MAX_YAML_READ_MS },
    ) as unknown;
  } catch (error) {
    if (objectOf(error)?.["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new OpenApiFault("file", "takes too long to read as YAML: send the document as JSON");
    }
    throw new OpenApiFault("file", "must be JSON or YAML");
  }
}
