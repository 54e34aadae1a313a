/** The key of the operator: of `OPERATOR_KEY`, or of the file that `OPERATOR_KEY_FILE` names, which a start makes. */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/config.ts";
import { OPERATOR_KEY, OPERATOR_KEY_FORM } from "../../config/environment.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { isPresent, writeNewFile } from "./new-file.ts";

const KEY_BYTES = 32;

/**
 * Null: the deployment has none.
 * @throws ConfigError with a sentence about the file
 */
export async function loadOperatorKey({
  operatorKey,
  operatorKeyFile: path,
}: Pick<Config, "operatorKey" | "operatorKeyFile">): Promise<string | null> {
  if (path === null) return operatorKey;
  return (await readKey(path)) ?? makeKey(path);
}

/** Null: there is no such file. */
async function readKey(path: string): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new ConfigError(`OPERATOR_KEY_FILE names ${path}, which cannot be read (${messageOf(error)}).`, {
      cause: error,
    });
  }
  const key = text.trim();
  if (!OPERATOR_KEY.test(key)) {
    throw new ConfigError(`OPERATOR_KEY_FILE names ${path}, whose content ${OPERATOR_KEY_FORM}.`);
  }
  return key;
}

async function makeKey(path: string): Promise<string> {
  const key = randomBytes(KEY_BYTES).toString("base64url");
  try {
    await writeNewFile(path, `${key}\n`);
    return key;
  } catch (error) {
    // Another process that shares the file has made it at the same moment.
    const made = isPresent(error) ? await readKey(path) : null;
    if (made !== null) return made;
    throw new ConfigError(`OPERATOR_KEY_FILE names ${path}, which cannot be written (${messageOf(error)}).`, {
      cause: error,
    });
  }
}
