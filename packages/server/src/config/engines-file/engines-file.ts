/** Reads the file of engines that take over. */

import type { EngineKind } from "@parley/schema";
import { engineOf, type Variables } from "./engine-entries.ts";
import { EnginesFile, type EntryForm } from "./engine-forms.ts";
import { readJsonFile } from "../json-file.ts";
import type { Fallbacks } from "./listed-engine.ts";

/** @throws ConfigError that names the file and the place in it */
export function readEnginesFile(path: string, variables: Variables): Fallbacks {
  const { content, refuse } = readJsonFile("ENGINES_FILE", path, EnginesFile);
  const engines = <Kind extends EngineKind>(kind: Kind, listed: readonly EntryForm[Kind][]) =>
    listed.map((entry, index) => {
      const place = `${kind}[${String(index)}]`;
      return engineOf(kind, entry, {
        variables,
        setting: `ENGINES_FILE names ${path}, where ${place}.model`,
        refuse: (field, what) => refuse(`where ${place}${field === "" ? "" : `.${field}`} ${what}`),
      });
    });
  const { stt, llm, tts } = content;
  return { stt: engines("stt", stt), llm: engines("llm", llm), tts: engines("tts", tts) };
}
