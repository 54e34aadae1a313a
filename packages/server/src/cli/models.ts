import { loadConfig } from "../config/config.ts";
import { CATALOGUE, type CatalogueModel, megabytes, modelNamed } from "../models/catalogue.ts";
import { ModelError } from "../models/model-error.ts";
import { isInstalled, modelsFolder, readLock } from "../models/models-folder.ts";
import { pullModel, removeModel } from "../models/pull.ts";
import { progressLines } from "../models/progress.ts";
import { type Command, CommandError, type CommandInput, JSON_OPTION, printRows } from "./command.ts";

const KINDS = { stt: "recogniser", llm: "language model", tts: "voice", turn: "turn detector" } as const;

const NAME = { name: "NAME", description: "of a model, as in the list" };

function named(name = ""): CatalogueModel {
  const model = modelNamed(name, CATALOGUE);
  if (model !== null) return model;
  const known = CATALOGUE.map((one) => one.name).join(", ");
  throw new CommandError(`There is no model named ${name}; there is ${known}.`);
}

/** What the operator does next. */
function nextStep({ kind, name }: CatalogueModel): string {
  if (kind === "turn") return "The service uses it from its next start.";
  return `Start the service with ${kind.toUpperCase()}_LOCAL_MODEL=${name} to use it.`;
}

async function withSentence<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ModelError) throw new CommandError(error.message);
    throw error;
  }
}

const list: Command = {
  words: ["models", "list"],
  summary: "Lists the models that can run on this machine",
  arguments: [],
  options: { json: JSON_OPTION },
  details: ["SIZE is that of the download. The licence is that of the model, and is yours to read."],
  run: (input) =>
    withSentence(() => {
      const lock = readLock(modelsFolder(loadConfig(input.env).dataDir));
      printRows(
        input,
        ["NAME", "KIND", "SIZE", "LANGUAGES", "LICENCE", "INSTALLED", "WHAT"],
        CATALOGUE.map((model) => ({
          name: model.name,
          kind: KINDS[model.kind],
          size: megabytes(model.bytes),
          languages: languagesOf(model),
          licence: model.licence,
          installed: isInstalled(lock, model) ? "yes" : "no",
          what: model.description,
        })),
      );
      return Promise.resolve();
    }),
};

/** A long list is of no use in a column. */
function languagesOf({ languages }: CatalogueModel): string {
  if (languages.includes("*")) return "many";
  return languages.length > 3 ? `${String(languages.length)} languages` : languages.join(", ");
}

const pull: Command = {
  words: ["models", "pull"],
  summary: "Fetches a model, and the npm packages that it needs",
  arguments: [NAME],
  options: {
    "accept-new": { value: null, description: "take a file that differs from the first one that was pulled" },
  },
  details: [
    "The model goes to DATA_DIR/models. A download that was interrupted continues when the command is run again. The checksum of the first download is kept, and later ones must match it.",
    "With MODELS_MIRROR=URL files are fetched from URL/FILE in place of their own addresses. The npm packages come from the registry that npm is configured for.",
  ],
  run: (input) =>
    withSentence(async () => {
      const model = named(input.arguments[0]);
      const { dataDir, localModels } = loadConfig(input.env);
      const progress = progressLines(input);
      const outcome = await pullModel({
        model,
        folder: modelsFolder(dataDir),
        mirror: localModels.mirror,
        acceptsNew: input.options["accept-new"] === true,
        env: input.env,
        say: (line) => progress.say(line),
        progress: (bytes, total) => progress.show(bytes, total),
      });
      progress.end();
      input.print(
        `${model.name} is ${outcome === "pulled" ? "installed" : "there already"}. ${nextStep(model)}`,
      );
    }),
};

const remove: Command = {
  words: ["models", "rm"],
  summary: "Removes a model from this machine",
  arguments: [NAME],
  options: {},
  details: ["The npm packages stay, because other models need them: they are in DATA_DIR/models/packages."],
  run: (input: CommandInput) =>
    withSentence(async () => {
      const model = named(input.arguments[0]);
      const wasThere = await removeModel(modelsFolder(loadConfig(input.env).dataDir), model);
      if (!wasThere) throw new CommandError(`${model.name} is not installed.`);
      input.print(`${model.name} is removed.`);
    }),
};

export const modelCommands: readonly Command[] = [list, pull, remove];
