/** Where a change of SECRETS_KEY has the new key from, and how that takes the place of the old one in DATA_DIR. */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KEY_FILE, makeKeyFile, newKeyFile, parseKey } from "../store/secrets-key.ts";
import { createSealer, SECRETS_KEY_BYTES } from "../store/secrets.ts";
import { CommandError, type CommandInput } from "./command.ts";

export const NEW_KEY_VARIABLE = "NEW_SECRETS_KEY";

/** Where services find the key. */
export type KeyPlace = "environment" | "file";

export interface NewKeyWanted {
  readonly env: CommandInput["env"];
  readonly dataDir: string;
  readonly place: KeyPlace;
  readonly presentId: string;
  /** The id of the key that an unfinished change goes to; null: none is under way. */
  readonly goal: string | null;
}

/**
 * The given one; else that of an unfinished change; else one that is made. Writes nothing.
 * @throws CommandError or StoreStartError for a key that cannot be the new one.
 */
export function chooseNewKey({ env, dataDir, place, presentId, goal }: NewKeyWanted): Uint8Array {
  const variable = env[NEW_KEY_VARIABLE];
  const isGiven = variable !== undefined && variable.trim() !== "";
  if (!isGiven && place === "environment") {
    throw new CommandError(
      `${NEW_KEY_VARIABLE} must hold the new key, because SECRETS_KEY is set: 32 bytes in base64, such as from openssl rand -base64 32.`,
    );
  }
  const given = isGiven ? parseKey(variable, NEW_KEY_VARIABLE) : null;
  if (given !== null && idOf(given) === presentId) {
    throw new CommandError(`${NEW_KEY_VARIABLE} is the present key.`);
  }
  // Nothing is sealed under what an earlier attempt may have left in the file.
  if (goal === null) return given ?? new Uint8Array(randomBytes(SECRETS_KEY_BYTES));
  const kept = place === "file" ? keyIn(newKeyFile(dataDir)) : null;
  const isKept = kept !== null && idOf(kept) === goal;
  if (given === null) {
    if (isKept) return kept;
    throw new CommandError(
      `The key that the interrupted change of SECRETS_KEY goes to is not in ${newKeyFile(dataDir)}: set ${NEW_KEY_VARIABLE} to it.`,
    );
  }
  if (idOf(given) !== goal) {
    const where = isKept
      ? `it is in ${newKeyFile(dataDir)}, so leave ${NEW_KEY_VARIABLE} out`
      : "give that key again";
    throw new CommandError(`A change of SECRETS_KEY to another key than this one was interrupted: ${where}.`);
  }
  if (kept !== null && !isKept) {
    throw new CommandError(
      `${newKeyFile(dataDir)} holds another key than that of the interrupted change of SECRETS_KEY: put the file elsewhere.`,
    );
  }
  return given;
}

/** Instead of what an earlier attempt may have left; `chooseNewKey` has seen to it that this is not needed. */
export function keepNewKey(dataDir: string, key: Uint8Array): void {
  const path = newKeyFile(dataDir);
  if (existsSync(path) && idOf(keyIn(path)) === idOf(key)) return;
  rmSync(path, { force: true });
  makeKeyFile(dataDir, path, key);
}

/**
 * Makes the new key the one that services find.
 * @throws CommandError when the file holds another one than was used; that is put beside it, so that it is not lost.
 */
export function putNewKeyInPlace(dataDir: string, key: Uint8Array): void {
  const path = newKeyFile(dataDir);
  if (!existsSync(path) || idOf(keyIn(path)) !== idOf(key)) {
    const beside = join(dataDir, `${KEY_FILE}.${idOf(key) ?? ""}`);
    makeKeyFile(dataDir, beside, key);
    throw new CommandError(
      `${path} was changed meanwhile. The key that everything is sealed under now is in ${beside}: move that file to ${path}, and give the command again.`,
    );
  }
  renameSync(path, join(dataDir, KEY_FILE));
}

export function dropNewKey(dataDir: string): void {
  rmSync(newKeyFile(dataDir), { force: true });
}

/** Null: there is no such file, or what it holds is no key. */
function keyIn(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const bytes = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  return bytes.byteLength === SECRETS_KEY_BYTES ? new Uint8Array(bytes) : null;
}

function idOf(key: Uint8Array | null): string | null {
  return key === null ? null : createSealer(key).keyId;
}
