/** Identifies the build of the present sources. The service loads this at each start, so it needs only Node. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** All inputs of a build. The lock file stands for the libraries. */
const SOURCES = [
  "package-lock.json",
  "packages/client/package.json",
  "packages/client/src",
  "packages/console/build",
  "packages/console/index.html",
  "packages/console/package.json",
  "packages/console/src",
  "packages/console/vite.config.ts",
  "packages/schema/src",
];

/** Beside the sources; listed in `.gitignore`. */
export const BUILDS_FOLDER = join(ROOT, "packages/console/dist");

/** The folder for the build of the present sources. It may not exist yet. */
export async function folderOfBuild(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of SOURCES) {
    for (const path of await filesOf(source)) {
      // A length before each part, so that no two lists of files give the same text.
      const bytes = await readFile(join(ROOT, path));
      hash.update(`${path}\n${String(bytes.byteLength)}\n`).update(bytes);
    }
  }
  return join(BUILDS_FOLDER, hash.digest("hex").slice(0, 16));
}

async function filesOf(source: string): Promise<string[]> {
  if (/\.\w+$/.test(source)) return [source];
  const entries = await readdir(join(ROOT, source), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.includes(".test."))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .sort();
}
