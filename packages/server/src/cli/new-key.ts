/** The new key of a change of SECRETS_KEY: its source, and the replacement of the key file in DATA_DIR. */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KEY_FILE, makeKeyFile, newKeyFile, parseKey } from "../store/secrets/secrets-key.ts";
import { createSealer, SECRETS_KEY_BYTES } from "../store/secrets/secrets.ts";
import { CommandError, type CommandInput } from "./command.ts";

export const NEW_KEY_VARIABLE = "NEW_SECRETS_KEY";

/** Where services find the key. */
export type KeyPlace = "environment" | "file";

export interface NewKeyWanted {
  readonly env: CommandInput["env"];
  readonly dataDir: string;
  readonly place: KeyPlace;
  readonly presentId: string;
  /** The id of the new key of an unfinished change; null: none is under way. */
  readonly goal: string | null;
}

/**
 * Returns the given key, else that of an unfinished change, else a generated one. Writes nothing.
 * @throws CommandError or StoreStartError for a key that cannot be the new one.
 */
export function chooseNewKey({ env, dataDir, place, presentId, goal }: NewKeyWanted): Uint8Array {
  const variable = env[NEW_KEY_VARIABLE];
  const isGiven = variable !== undefined && variable.trim() !== "";
  if (!isGiven && place === "environment") {
    throw new CommandError(
      `${NEW_KEY_VARIABLE} must hold the new key, because SECRETS_KEY is set: 32 bytes in base64, for example from openssl rand -base64 32.`,
    );
  }
  const given = isGiven ? parseKey(variable, NEW_KEY_VARIABLE) : null;
  if (given !== null && idOf(given) === presentId) {
    throw new CommandError(`${NEW_KEY_VARIABLE} is the present key.`);
  }
  // Nothing is sealed under a key that an earlier attempt may have left in the file.
  if (goal === null) return given ?? new Uint8Array(randomBytes(SECRETS_KEY_BYTES));
  const stored = place === "file" ? keyIn(newKeyFile(dataDir)) : null;
  const isStored = stored !== null && idOf(stored) === goal;
  if (given === null) {
    if (isStored) return stored;
    throw new CommandError(
      `The new key of the interrupted change of SECRETS_KEY is not in ${newKeyFile(dataDir)}: set ${NEW_KEY_VARIABLE} to it.`,
    );
  }
  if (idOf(given) !== goal) {
    const where = isStored
      ? `it is in ${newKeyFile(dataDir)}, so unset ${NEW_KEY_VARIABLE}`
      : "run the command with that key again";
    throw new CommandError(`A change of SECRETS_KEY to another key than this one was interrupted: ${where}.`);
  }
  if (stored !== null && !isStored) {
    throw new CommandError(
      `${newKeyFile(dataDir)} contains another key than that of the interrupted change of SECRETS_KEY: move the file elsewhere.`,
    );
  }
  return given;
}

/** Replaces a file that an earlier attempt may have left; `chooseNewKey` has checked that it is not needed. */
export function storeNewKey(dataDir: string, key: Uint8Array): void {
  const path = newKeyFile(dataDir);
  if (existsSync(path) && idOf(keyIn(path)) === idOf(key)) return;
  rmSync(path, { force: true });
  makeKeyFile(dataDir, path, key);
}

/**
 * Moves the new key into place.
 * @throws CommandError when the file contains another key than was used; the used key is then written to another file.
 */
export function putNewKeyInPlace(dataDir: string, key: Uint8Array): void {
  const path = newKeyFile(dataDir);
  if (!existsSync(path) || idOf(keyIn(path)) !== idOf(key)) {
    const beside = join(dataDir, `${KEY_FILE}.${idOf(key) ?? ""}`);
    makeKeyFile(dataDir, beside, key);
    throw new CommandError(
      `${path} was changed meanwhile. Everything is now sealed under the key in ${beside}: move that file to ${path}, and run the command again.`,
    );
  }
  renameSync(path, join(dataDir, KEY_FILE));
}

export function removeNewKey(dataDir: string): void {
  rmSync(newKeyFile(dataDir), { force: true });
}

/** Null: there is no such file, or it does not contain a key. */
function keyIn(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const bytes = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  return bytes.byteLength === SECRETS_KEY_BYTES ? new Uint8Array(bytes) : null;
}

function idOf(key: Uint8Array | null): string | null {
  return key === null ? null : createSealer(key).keyId;
}
