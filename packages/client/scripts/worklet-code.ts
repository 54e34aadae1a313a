/** Bundles the audio worklet into text: `node packages/client/scripts/worklet-code.ts` generates the file again. */

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ENTRY = fileURLToPath(new URL("../src/worklet/processors.ts", import.meta.url));
const FILE = fileURLToPath(new URL("../src/worklet/worklet-code.ts", import.meta.url));

/** The worklet as one script without imports. */
export async function worklet(): Promise<string> {
  const bundle = await rolldown({ input: ENTRY, platform: "browser" });
  try {
    const { output } = await bundle.generate({ format: "iife", minify: true });
    return output[0].code.trim();
  } finally {
    await bundle.close();
  }
}

/** The expected content of `worklet-code.ts`. */
export async function workletModule(): Promise<string> {
  return [
    "/** Made from `processors.ts` by `node packages/client/scripts/worklet-code.ts`; not to be edited. */",
    "",
    "// prettier-ignore",
    `export const WORKLET_CODE = ${JSON.stringify(await worklet())};`,
    "",
  ].join("\n");
}

export function committedWorkletModule(): Promise<string> {
  return readFile(FILE, "utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(FILE, await workletModule());
