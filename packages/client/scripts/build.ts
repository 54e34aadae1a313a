/**
 * Builds the published package in `dist`: `npm run build -w @parley/client`, then `npm publish packages/client/dist`.
 * The repository itself uses the sources directly.
 */

import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import manifest from "../package.json" with { type: "json" };
import { worklet } from "./worklet-code.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Source of each entry by its published name. */
const ENTRIES = { index: "index", rest: "rest-entry", react: "react" } as const;
/** Timeout of the compiler, which also checks types. */
const TYPES_LIMIT_MS = 180_000;

export async function buildClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await Promise.all([buildCode(folder), writeTypes(join(folder, "types"))]);
  await writeFile(join(folder, "package.json"), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
  await cp(join(PACKAGE, "README.md"), join(folder, "README.md"));
  await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
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
}

/** Emits the declarations of the client and of the API schema, from which the REST client's types are computed. */
async function writeTypes(folder: string): Promise<void> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = join(PACKAGE, "tsconfig.build.json");
  await promisify(execFile)(process.execPath, [compiler, "-p", project, "--outDir", folder], {
    timeout: TYPES_LIMIT_MS,
  });
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(folder, file);
    const schema = relative(join(path, ".."), join(folder, "schema/src/index.js"));
    const text = (await readFile(path, "utf8"))
      .replaceAll(/(["'])@parley\/schema\1/g, JSON.stringify(schema))
      .replaceAll(/((?:from|import\()\s*["']\.[^"']*)\.ts(["'])/g, "$1.js$2");
    await writeFile(path, text);
  }
}

function publishedManifest(): object {
  const { name, version, license, description, peerDependencies, peerDependenciesMeta } = manifest;
  const entry = (published: keyof typeof ENTRIES) => ({
    types: `./types/client/src/${ENTRIES[published]}.d.ts`,
    default: `./${published}.js`,
  });
  return {
    name,
    version,
    license,
    description,
    type: "module",
    sideEffects: false,
    exports: {
      ".": entry("index"),
      "./rest": entry("rest"),
      "./react": entry("react"),
      "./worklet.js": "./worklet.js",
      "./package.json": "./package.json",
    },
    peerDependencies,
    peerDependenciesMeta,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildClient(join(PACKAGE, "dist"));
