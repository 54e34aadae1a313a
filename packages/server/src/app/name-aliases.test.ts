import { expect, it } from "vitest";
import { ConfigError } from "../config/config-error.ts";
import { loadConfig } from "../config/config.ts";
import type { Engines } from "./engines.ts";
import { checkedAliases } from "./name-aliases.ts";

const engines = { tts: { voices: ["alba", "bruno"] }, llm: { models: ["small"] } } as unknown as Engines;
const check = (env: Record<string, string>) => checkedAliases(loadConfig(env), engines);

it("takes names of the deployment and default as targets", () => {
  const aliases = check({ VOICE_ALIASES: "Mark=alba,*=default", MODEL_ALIASES: "large=small,gpt=default" });
  expect(aliases.voices).toHaveLength(2);
  expect(aliases.models).toHaveLength(2);
});

it.each([
  [
    { VOICE_ALIASES: "Mark=Ada" },
    "VOICE_ALIASES must point to a voice of this deployment, which Ada is not. There are default, alba, bruno.",
  ],
  [
    { VOICE_ALIASES: "Mark=alba,Tom=Mark" },
    "VOICE_ALIASES must point to a voice of this deployment, which Mark is not. There are default, alba, bruno.",
  ],
  [
    { VOICE_ALIASES: "alba=bruno" },
    "VOICE_ALIASES must not give alba another meaning: it is a voice of this deployment.",
  ],
  [
    { MODEL_ALIASES: "default=small" },
    "MODEL_ALIASES must not give default another meaning: it is a model of this deployment.",
  ],
  [
    { MODEL_ALIASES: "*=gpt" },
    "MODEL_ALIASES must point to a model of this deployment, which gpt is not. There are default, small.",
  ],
])("refuses %j with a sentence that names the variable", (env, sentence) => {
  expect(() => check(env)).toThrow(new ConfigError(sentence));
});
