import { defaultPublicUrl, loadConfig } from "../config.ts";
import { type Command, CommandError, textOption, usageError } from "./command.ts";

/** A service that needs longer to say that it is well is not. */
const ANSWER_LIMIT_MS = 5_000;
/** Of the answer that is printed. */
const MAX_SHOWN_CHARACTERS = 2_000;

const health: Command = {
  words: ["health"],
  summary: "Asks a running service whether it is ready for calls",
  arguments: [],
  options: { url: { value: "URL", description: "of the service; from HOST and PORT when absent" } },
  details: [
    "Prints what /readyz answers. The exit code is 0 when the service is ready and 1 when it is not, or not there.",
  ],
  run: async (input) => {
    const { host, port } = loadConfig(input.env);
    const base = textOption(input, "url") ?? defaultPublicUrl(host, port);
    if (!/^https?:\/\//.test(base) || !URL.canParse(base))
      throw usageError("--url must be an http or https URL.");
    const url = `${base.replace(/\/+$/, "")}/readyz`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).catch(
      (error: unknown) => {
        throw new CommandError(`No service answers at ${base}: ${reasonOf(error)}.`);
      },
    );
    input.print((await answer.text()).slice(0, MAX_SHOWN_CHARACTERS).trim());
    if (!answer.ok) throw new CommandError(`The service at ${base} is not ready (HTTP ${answer.status}).`);
  },
};

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  if (typeof cause?.code === "string") return cause.code;
  return error instanceof Error ? error.message : String(error);
}

export const healthCommands: readonly Command[] = [health];
