/**
 * Packages whose optional packages are parts for platforms and for graphics cards. npm would install several of them,
 * and those for graphics cards are large. The one that is needed is installed by its name.
 */

import { LLAMA_PACKAGE } from "./catalogue.ts";
import { ModelError } from "./model-error.ts";

const PARTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [LLAMA_PACKAGE]: {
    "linux-x64": "@node-llama-cpp/linux-x64",
    "linux-arm64": "@node-llama-cpp/linux-arm64",
    "darwin-x64": "@node-llama-cpp/mac-x64",
    "darwin-arm64": "@node-llama-cpp/mac-arm64-metal",
    "win32-x64": "@node-llama-cpp/win-x64",
    "win32-arm64": "@node-llama-cpp/win-arm64",
  },
};

/**
 * The part of a package for this machine, which has the same version. Null: npm finds it by itself.
 * @throws ModelError where there is none
 */
export function platformPart(name: string): string | null {
  const parts = PARTS[name];
  if (parts === undefined) return null;
  const platform = `${process.platform}-${process.arch}`;
  const part = parts[platform];
  if (part === undefined) throw new ModelError(`The package ${name} does not run on ${platform}.`);
  return part;
}
