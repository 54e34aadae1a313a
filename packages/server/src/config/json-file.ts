/** JSON files that settings name. A wrong file stops the start with a sentence that names the variable and the place. */

import { readFileSync } from "node:fs";
import type { z } from "zod";
import { messageOf } from "../pacing/error-text.ts";
import { ConfigError } from "./config-error.ts";

/** Five engines of each kind, or some hundred prices, take less than a tenth of it. */
const MAX_FILE_CHARS = 1_000_000;

/** `what` is the end of a sentence that begins with the variable and the path. */
export type Refuse = (what: string, cause?: unknown) => never;

export interface JsonFile<Content> {
  readonly content: Content;
  /** For what the schema cannot say. @throws ConfigError */
  readonly refuse: Refuse;
}

/** @throws ConfigError that names the file and the place in it, without the value, which may be a key */
export function readJsonFile<Schema extends z.ZodType>(
  variable: string,
  path: string,
  schema: Schema,
): JsonFile<z.output<Schema>> {
  const refuse: Refuse = (what, cause) => {
    throw new ConfigError(`${variable} names ${path}, ${what}.`, { cause });
  };
  const parsed = schema.safeParse(jsonOf(path, refuse));
  if (parsed.success) return { content: parsed.data, refuse };
  const [issue] = parsed.error.issues;
  return refuse(`where ${placeOf(issue?.path ?? [])} ${sentence(issue)}`);
}

function jsonOf(path: string, refuse: Refuse): unknown {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    refuse(`which cannot be read (${messageOf(error)})`, error);
  }
  if (text.length > MAX_FILE_CHARS) refuse(`which has more than ${String(MAX_FILE_CHARS)} characters`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The message of the parser quotes the text, which may have a key.
    return refuse("which is not JSON");
  }
}

function placeOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === "number" ? `[${String(part)}]` : `.${String(part)}`));
  const text = parts.join("");
  return text === "" ? "the content" : text.replace(/^\./, "");
}

function sentence(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return "is wrong";
  const { code, message } = issue;
  if (code === "unrecognized_keys") return `has the unknown field ${issue.keys[0] ?? ""}`;
  if (code !== "invalid_type" || /^(?:must|has) /.test(message)) return message;
  if (issue.path.length === 0) return `must be an object: ${message}`;
  return `must be a ${issue.expected === "object" ? "JSON object" : issue.expected}`;
}
