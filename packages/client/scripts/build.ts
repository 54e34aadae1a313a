/**
 * Builds what is published, in `dist`: `npm run build -w @parley/client`. `npm pack` and `npm publish` do it
 * themselves with `--ignore-scripts=false`, which they need because `.npmrc` switches scripts off.
 * The repository itself uses the sources, by the condition `@parley/source` of the package's exports.
 */

import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { worklet } from "./worklet-code.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Where the build is, beside the manifest that names its files. */
export const DIST = join(PACKAGE, "dist");

/** Source of each entry by its published name. */
const ENTRIES = { index: "index", rest: "rest-entry", react: "react" } as const;
/** One file for a `<script>` element, and the name of its global variable. */
const SCRIPT_FILE = "parley.min.js";
const SCRIPT_GLOBAL = "Parley";
/** Timeout of the compiler. */
const TYPES_LIMIT_MS = 180_000;

export async function buildClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await Promise.all([buildCode(folder), writeTypes(join(folder, "types"))]);
}

/** Bundles the code, without types. */
export async function buildCode(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "worklet.js"), `${await worklet()}\n`);
  const input = Object.fromEntries(
    Object.entries(ENTRIES).map(([name, source]) => [name, join(PACKAGE, "src", `${source}.ts`)]),
  );
  const bundle = await rolldown({ input, platform: "browser", external: ["react"] });
  try {
    await bundle.write({ dir: folder, format: "esm", chunkFileNames: "shared-[hash].js" });
  } finally {
    await bundle.close();
  }
  await buildScript(folder);
}

async function buildScript(folder: string): Promise<void> {
  const bundle = await rolldown({ input: join(PACKAGE, "src/index.ts"), platform: "browser" });
  try {
    const file = join(folder, SCRIPT_FILE);
    await bundle.write({ file, format: "iife", name: SCRIPT_GLOBAL, minify: true });
  } finally {
    await bundle.close();
  }
}

/** Emits the declarations that the entries use. */
async function writeTypes(folder: string): Promise<void> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = join(PACKAGE, "tsconfig.build.json");
  await promisify(execFile)(process.execPath, [compiler, "-p", project, "--outDir", folder], {
    timeout: TYPES_LIMIT_MS,
  });
  const used = new Set<string>();
  const waiting = Object.values(ENTRIES).map((source) => join(folder, `${source}.d.ts`));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (used.has(path)) continue;
    used.add(path);
    const text = await readFile(path, "utf8");
    for (const [, target = ""] of text.matchAll(IMPORTED)) {
      waiting.push(join(dirname(path), target.replace(/\.ts$/, ".d.ts")));
    }
    // Programs that import declarations resolve the names of the code that they describe.
    await writeFile(
      path,
      text.replaceAll(IMPORTED, (whole) => whole.replace(/\.ts(?=["'])/, ".js")),
    );
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !used.has(path)) await rm(path);
  }
}

/** The files that a declaration file imports; group 1 is the specifier. */
const IMPORTED = /(?:\bfrom|\bimport\()\s*["'](\.[^"']*)["']/g;

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildClient(DIST);
