/** The engines of the deployment: which recogniser, language model and voice calls use, and why. */

import { z } from "zod";
import { text } from "../values/fields.ts";

/** Recogniser, language model and voice, in the order in which a spoken turn uses them. */
export const ENGINE_KINDS = ["stt", "llm", "tts"] as const;

export const EngineKind = z.enum(ENGINE_KINDS);
export type EngineKind = z.output<typeof EngineKind>;

export const EngineSource = z.enum(["environment", "stored", "built_in"]);
export type EngineSource = z.output<typeof EngineSource>;

/** The fields of an engine that can be stored. */
export const ENGINE_FIELDS = ["baseUrl", "apiKey", "model", "voice"] as const;
export type EngineField = (typeof ENGINE_FIELDS)[number];

const variable = z.string().nullable();

export const EngineInList = z.strictObject({
  name: z.string(),
  isOut: z
    .boolean()
    .describe("Whether it failed lately, so that requests go to the next engine of the list."),
  error: z
    .string()
    .nullable()
    .describe(
      "Its latest failure since its latest success, otherwise what the last look at its server found wrong. Null: " +
        "nothing, or it is not shown to this account.",
    ),
});
export type EngineInList = z.output<typeof EngineInList>;

export const DeploymentEngine = z.strictObject({
  source: EngineSource.describe(
    "What chose the engine: environment variables, settings stored with the operator key, or neither, so that the " +
      "engine that comes with the service is used.",
  ),
  description: z.string().describe("The engine in words."),
  baseUrl: z
    .string()
    .nullable()
    .describe("The address of its server. Null: it has none, or it is not shown to this account."),
  model: z.string().nullable(),
  voice: z.string().nullable().describe("The default voice. Null for engines that do not speak."),
  apiKey: z
    .string()
    .nullable()
    .describe("The first four characters of the key for the server. Null: it has none, or it is not shown."),
  selectedBy: variable.describe("The environment variable that selects the engine. Null: none does."),
  setBy: z
    .strictObject({ baseUrl: variable, apiKey: variable, model: variable, voice: variable })
    .describe("The environment variable that sets each field. Such a field cannot be changed by a request."),
  isStored: z.boolean().describe("Whether settings for this engine are stored."),
  unusedReason: z
    .string()
    .nullable()
    .describe("Why the stored settings are not used. Null: they are used, or there are none."),
  warning: z.string().nullable().describe("What the last look at the server found wrong. Null: nothing."),
  list: z
    .array(EngineInList)
    .describe(
      "This engine and those that take over when it fails, in their order. Empty: nothing takes over.",
    ),
});
export type DeploymentEngine = z.output<typeof DeploymentEngine>;

export const DeploymentEngines = z.strictObject({
  canChange: z
    .boolean()
    .describe("Whether the deployment has an operator key, so that requests can change its engines."),
  isOperator: z
    .boolean()
    .describe(
      "Whether this request may see addresses and test engines: by its account, or by the operator key.",
    ),
  stt: DeploymentEngine.describe("The recogniser."),
  llm: DeploymentEngine.describe("The language model."),
  tts: DeploymentEngine.describe("The voice."),
});
export type DeploymentEngines = z.output<typeof DeploymentEngines>;

const MAX_URL_LENGTH = 2_048;

/** Whether it is the address of a server, without what requests to it could not have. */
function isServerAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password, search, hash } = new URL(given);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "";
}

const ServerAddress = text(1, MAX_URL_LENGTH)
  .refine(isServerAddress, {
    error: "must be an http or https URL without user name, password, query and fragment",
  })
  .overwrite((url) => url.replace(/\/+$/, ""))
  .meta({ format: "uri" });

const printable = (min: number, max: number) =>
  text(min, max).regex(/^[\x21-\x7e]*$/, { error: "must be printable ASCII without spaces" });

const engineFields = {
  baseUrl: ServerAddress.optional().describe(
    "With the version, such as `http://127.0.0.1:11434/v1`; it may be a private address. Absent: OpenAI's.",
  ),
  apiKey: printable(0, 4_096)
    .optional()
    .describe(
      "Sent to this server only, stored encrypted, and never returned. Absent: the stored key stays if the server is " +
        "the same. Empty: no key.",
    ),
  model: printable(1, 200).optional().describe("Required, except at OpenAI, which has a usual one."),
};

export const EngineWrite = z.strictObject(engineFields);
export const VoiceEngineWrite = z.strictObject({
  ...engineFields,
  voice: printable(1, 200).optional().describe("The default voice. Absent: `alloy`."),
});
export type EngineWrite = z.output<typeof VoiceEngineWrite>;

/** The body that changes engines. What is given replaces the stored settings of that engine; null removes them. */
export const DeploymentEnginesPatch = z
  .strictObject({
    stt: EngineWrite.nullable().optional(),
    llm: EngineWrite.nullable().optional(),
    tts: VoiceEngineWrite.nullable().optional(),
  })
  .meta({ examples: [{ llm: { baseUrl: "http://127.0.0.1:11434/v1", model: "llama3.2:3b" } }] });
export type DeploymentEnginesPatch = z.output<typeof DeploymentEnginesPatch>;

export const EngineTestRequest = z
  .strictObject({ engine: EngineKind })
  .meta({ examples: [{ engine: "llm" }] });
export type EngineTestRequest = z.output<typeof EngineTestRequest>;

/** What one use of an engine has shown. */
export const EngineTest = z.strictObject({
  works: z.boolean(),
  latencyMs: z
    .int()
    .min(0)
    .describe("Until the first text, the first sound or the transcript; if it failed, until the failure."),
  detail: z.string().describe("What the engine gave, or the failure with the words of its server."),
});
export type EngineTest = z.output<typeof EngineTest>;

/** A model server that answers on the machine of the service. */
export const LocalModelServer = z.strictObject({
  name: z.string().describe("A program that usually has this port."),
  baseUrl: z.string(),
  engines: z.array(EngineKind).describe("What it can be used for, by the names of its models."),
  models: z.array(z.string()).describe("The first models of its list."),
});
export type LocalModelServer = z.output<typeof LocalModelServer>;
