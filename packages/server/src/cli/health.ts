import { defaultPublicUrl, loadConfig } from "../config/config.ts";
import { type Command, CommandError, textOption, usageError } from "./command.ts";
import { messageOf } from "../pacing/error-text.ts";

/** A service that needs longer to answer is not healthy. */
const ANSWER_LIMIT_MS = 5_000;
/** Limit of the printed answer. */
const MAX_SHOWN_CHARACTERS = 2_000;

const health: Command = {
  words: ["health"],
  summary: "Checks whether a running service is ready for calls",
  arguments: [],
  options: { url: { value: "URL", description: "of the service; default: from HOST and PORT" } },
  details: [
    "Prints the answer of /readyz. The exit code is 0 if the service is ready, and 1 if it is not ready or not reachable.",
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
  return messageOf(error);
}

export const healthCommands: readonly Command[] = [health];
