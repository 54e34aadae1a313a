/** Certificates and keys in files that settings name. */

import { readFile } from "node:fs/promises";
import { messageOf } from "../../pacing/error-text.ts";
import { ConfigError } from "../../config/config-error.ts";

/**
 * The text of a file with PEM; null where the setting is not set.
 *
 * @throws ConfigError where it cannot be read or has no PEM, with the name of the setting
 */
export async function readPem(setting: string, path: string | null): Promise<string | null> {
  if (path === null) return null;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new ConfigError(`${setting} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  if (!text.includes("-----BEGIN ")) throw new ConfigError(`${setting} must be a file with PEM`);
  return text;
}
