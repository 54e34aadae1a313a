/** Checks the aliases of the configuration against the open engines, which know the names that they can point to. */

import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/config.ts";
import { LLM_VENDORS } from "../config/language-models.ts";
import { DEFAULT_NAME, type Aliases, type NameAlias } from "../plan/name-aliases.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { TtsEngine } from "../ports/tts.ts";

/**
 * @throws ConfigError for an alias of a name that the deployment has, which could never apply, and for one that points
 * to a name that it does not have
 */
export function checkedAliases(
  { aliases }: Pick<Config, "aliases">,
  { tts, llm }: { readonly tts: Pick<TtsEngine, "voices">; readonly llm: Pick<LlmEngine, "models"> },
): Aliases {
  check("VOICE_ALIASES", "voice", aliases.voices, tts.voices);
  check("MODEL_ALIASES", "model", aliases.models, llm.models);
  return aliases;
}

/** A colon is the sign of a vendor's model. */
function hint(noun: string, target: string): string {
  if (noun !== "model" || !target.includes(":")) return "";
  return ` A vendor's model is written as VENDOR:MODEL, with one of ${LLM_VENDORS.join(", ")}, and one of this machine as local:MODEL.`;
}

function check(
  variable: string,
  noun: "voice" | "model",
  aliases: readonly NameAlias[],
  names: readonly string[],
): void {
  const known = [DEFAULT_NAME, ...names.filter((name) => name !== DEFAULT_NAME)];
  for (const { name, target } of aliases) {
    if (known.includes(name)) {
      throw new ConfigError(
        `${variable} must not give ${name} another meaning: it is a ${noun} of this deployment.`,
      );
    }
    if (!known.includes(target)) {
      throw new ConfigError(
        `${variable} must point to a ${noun} of this deployment, which ${target} is not. There are ${known.join(", ")}.${hint(noun, target)}`,
      );
    }
  }
}
