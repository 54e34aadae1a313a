/** Compares the files of a model with what was unpacked. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { CheckedFile } from "./local-model.ts";

/** @throws an error with a sentence about the first file that is missing or has changed */
export async function checkFiles(files: readonly CheckedFile[]): Promise<void> {
  for (const file of files) await checkFile(file);
}

async function checkFile({ path, bytes, sha256 }: CheckedFile): Promise<void> {
  const name = basename(path);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new Error(`its file ${name} is missing`);
  if (found.size !== bytes)
    throw new Error(`its file ${name} has ${String(found.size)} bytes in place of ${String(bytes)}`);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  if (hash.digest("hex") !== sha256) throw new Error(`its file ${name} has changed since it was pulled`);
}
