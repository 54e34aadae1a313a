/** Further names of voices and models: `VOICE_ALIASES` and `MODEL_ALIASES`. */

import type { NameAlias } from "../plan/name-aliases.ts";
import { readBy } from "./env-fields.ts";

/** More than any service has voices in its examples; a lookup reads all of them. */
const MAX_ALIASES = 500;
/** Names and ids of other services are shorter. */
const MAX_NAME_CHARS = 100;

export const ALIAS_FIELDS = {
  VOICE_ALIASES: readBy((text) => readAliases(text, "Mark=espeak-m1,*=default")).default([]),
  MODEL_ALIASES: readBy((text) => readAliases(text, "fast=default")).default([]),
};

/** @throws the rest of a sentence that begins with the variable */
function readAliases(text: string, example: string): readonly NameAlias[] {
  const parts = text.split(",").map((part) => part.trim());
  const aliases = parts.map((part) => {
    const [name = "", target = "", ...more] = part.split("=").map((side) => side.trim());
    if (name === "" || target === "" || more.length > 0) {
      throw new Error(
        `must be a comma-separated list of pairs, such as ${example}; ${JSON.stringify(part)} is not one`,
      );
    }
    if (Math.max(name.length, target.length) > MAX_NAME_CHARS) {
      throw new Error(`must have names of at most ${String(MAX_NAME_CHARS)} characters`);
    }
    return { name, target };
  });
  if (aliases.length > MAX_ALIASES) throw new Error(`must have at most ${String(MAX_ALIASES)} pairs`);
  const names = aliases.map(({ name }) => name);
  const again = aliases.find(({ name }, index) => names.indexOf(name) !== index);
  if (again !== undefined) throw new Error(`must name ${again.name} once`);
  return aliases;
}
