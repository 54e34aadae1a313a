/** npm packages that models need. They are installed beside the models, by the command that pulls one. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ModelError } from "./model-error.ts";
import { platformPart } from "./platform-parts.ts";

/** An installation takes seconds; a slow network gets a quarter of an hour. */
const INSTALL_LIMIT_MS = 900_000;
const MAX_OUTPUT_BYTES = 1_000_000;
/** Of npm's last words, in the error. */
const MAX_SAID_CHARS = 400;

/** The folder of a package in exactly this version; null: it is not installed, or not for this platform. */
export function findPackage(folder: string, name: string, version: string): string | null {
  const own = join(prefixOf(folder, name), "node_modules");
  const found = [join(own, name), besideParley(name)].find(
    (path) => path !== null && versionIn(path) === version,
  );
  const part = platformPart(name);
  if (found === undefined || part === null) return found ?? null;
  const beside = [own, join(found ?? "", "..")].some((path) => versionIn(join(path, part)) === version);
  return beside ? found : null;
}

/** A package that is installed without the optional ones has a folder of its own: npm installs or omits them for all. */
function prefixOf(folder: string, name: string): string {
  const packages = join(folder, "packages");
  return platformPart(name) === null ? packages : join(packages, name);
}

/** Where Parley's own packages are: a copy for development has those of models there. */
function besideParley(name: string): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

function versionIn(path: string): string | null {
  const manifest = join(path, "package.json");
  if (!existsSync(manifest)) return null;
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version?: string }).version ?? null;
}

/**
 * Runs npm. Scripts of packages are not run.
 * @throws ModelError with npm's last words
 */
export async function installPackage(
  folder: string,
  name: string,
  version: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const prefix = prefixOf(folder, name);
  const part = platformPart(name);
  await mkdir(prefix, { recursive: true });
  const manifest = join(prefix, "package.json");
  // Without one, npm looks for one in the folders above.
  if (!existsSync(manifest)) await writeFile(manifest, '{ "private": true }\n');
  const words = [
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--save-exact",
    part === null ? "--include=optional" : "--omit=optional",
  ];
  const wanted = [name, ...(part === null ? [] : [part])].map((one) => `${one}@${version}`);
  await runNpm([...words, "--prefix", prefix, ...wanted], prefix, env);
  if (findPackage(folder, name, version) === null)
    throw new ModelError(`npm did not install the package ${name}@${version}.`);
}

function runNpm(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  return new Promise((resolve, reject) => {
    const options = { cwd, env, timeout: INSTALL_LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    execFile(npm, words, options, (error, _out, said) => {
      if (error === null) {
        resolve();
        return;
      }
      const what = words.at(-1) ?? "";
      const isMissing = "code" in error && error.code === "ENOENT";
      const reason = isMissing
        ? "npm is not on the PATH"
        : said.trim().slice(-MAX_SAID_CHARS) || error.message;
      reject(new ModelError(`The package ${what} cannot be installed: ${reason}.`, { cause: error }));
    });
  });
}
