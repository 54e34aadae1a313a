/** The toy language model as a file, and what is needed to run it. */

import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { checkedFile } from "../../local-child/testing/toy-models.ts";
import type { LlmLoadOrder } from "../llm-protocol.ts";
import { toyGguf, type ToyOptions } from "./toy-gguf.ts";

/** Of node-llama-cpp: the folder that `LLAMA_PACKAGE` names, or beside the other packages. It is never installed by npm ci. */
function packageFolder(): string | null {
  const named = process.env["LLAMA_PACKAGE"];
  if (named !== undefined && existsSync(join(named, "package.json"))) return named;
  try {
    // Its main file is in `dist`; the package exports no other path.
    return dirname(dirname(createRequire(import.meta.url).resolve("node-llama-cpp")));
  } catch {
    return null;
  }
}

const FOLDER = packageFolder();

/** For the line that a test that is skipped prints; null: nothing is missing. */
export const MISSING_FOR_LLM = FOLDER === null ? "the package node-llama-cpp" : null;

export function writeToyLlm(folder: string, options: ToyOptions = {}): string {
  const path = join(folder, "toy.gguf");
  writeFileSync(path, toyGguf(options));
  return path;
}

export function toyLlmOrder(path: string, fields: Partial<LlmLoadOrder> = {}): LlmLoadOrder {
  return {
    model: {
      name: "toy-llm",
      family: "gguf",
      paths: { model: path },
      files: [checkedFile(path)],
      languages: ["en"],
      voices: [],
    },
    packageFolder: FOLDER ?? "",
    threads: 1,
    contextTokens: 4_096,
    parallel: 2,
    ...fields,
  };
}
