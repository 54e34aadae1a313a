/**
 * Writes the types of the REST interface: `node packages/client/scripts/api-types.ts` generates `src/api` again. They
 * are written in full, with the descriptions of the interface, so that they need no other package and are read fast.
 */

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { apiFiles } from "./api-types/files.ts";

const FOLDER = fileURLToPath(new URL("../src/api", import.meta.url));

/** The files as they are in the repository, by their paths below `src/api`. */
export async function committedApiFiles(): Promise<Map<string, string>> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    paths.map(async (path): Promise<[string, string]> => [
      path.slice(FOLDER.length + 1),
      await readFile(path, "utf8"),
    ]),
  );
  return new Map(files);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await rm(FOLDER, { recursive: true, force: true });
  for (const [path, text] of apiFiles()) {
    await mkdir(dirname(join(FOLDER, path)), { recursive: true });
    await writeFile(join(FOLDER, path), text);
  }
}
