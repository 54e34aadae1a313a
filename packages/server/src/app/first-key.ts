/** The first API key: of `API_KEY`, or generated and then printed or written to `API_KEY_FILE`. */

import { rm } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { isPresent, writeNewFile } from "./deployment/new-file.ts";
import { messageOf } from "../pacing/error-text.ts";
import { ensureDefaultAccount } from "../store/accounts/accounts.ts";
import { ensureApiKey, ensureFirstApiKey, type CreatedApiKey } from "../store/accounts/api-keys.ts";
import { replaceUnusedFirstKey } from "../store/accounts/first-key.ts";
import type { Db } from "../store/database/db.ts";
import { StoreStartError } from "../store/database/store-errors.ts";
import { otherNodeRuns } from "../store/nodes/nodes.ts";

export interface FirstKey {
  readonly secret: string;
  /** The file that has it; null: it must be printed, or nobody will know it. */
  readonly file: string | null;
}

/**
 * Makes sure that the default account has a key. Null: it had one, other than a printed one that was never used.
 * @throws StoreStartError with a sentence about API_KEY or API_KEY_FILE.
 */
export async function ensureKeys(
  db: Db,
  { apiKey, apiKeyFile }: Pick<Config, "apiKey" | "apiKeyFile">,
  nodeId: string,
): Promise<FirstKey | null> {
  const { accountId } = await ensureDefaultAccount(db);
  if (apiKey !== null) await ensureApiKey(db, accountId, apiKey);
  if (apiKeyFile === null) {
    const made = (await ensureFirstApiKey(db, accountId)) ?? (await replacedKey(db, accountId, nodeId));
    return made === null ? null : { secret: made.secret, file: null };
  }
  let written = false;
  // Written before the key is committed: a key that exists is always in the file.
  const keep = async (secret: string): Promise<void> => {
    if (written) await rm(apiKeyFile, { force: true });
    written = false;
    await writeKey(apiKeyFile, `${secret}\n`);
    written = true;
  };
  try {
    const made = await ensureFirstApiKey(db, accountId, keep);
    return made === null ? null : { secret: made.secret, file: apiKeyFile };
  } catch (error) {
    if (written) await rm(apiKeyFile, { force: true });
    throw error;
  }
}

async function replacedKey(db: Db, accountId: string, nodeId: string): Promise<CreatedApiKey | null> {
  // Another node may have printed the key a moment ago.
  return (await otherNodeRuns(db, nodeId)) ? null : replaceUnusedFirstKey(db, accountId);
}

async function writeKey(path: string, text: string): Promise<void> {
  try {
    await writeNewFile(path, text);
  } catch (error) {
    const reason = isPresent(error)
      ? `API_KEY_FILE names ${path}, which exists already; move the file elsewhere, or name another one.`
      : `API_KEY_FILE names ${path}, which cannot be written (${messageOf(error)}).`;
    throw new StoreStartError(reason, { cause: error });
  }
}
