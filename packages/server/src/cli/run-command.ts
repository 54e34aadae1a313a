/** Parses the command line, runs the command and returns its exit code. */

import { parseArgs, type ParseArgsConfig } from "node:util";
import { ConfigError } from "../config/config-error.ts";
import { DataDirInUseError, StoreStartError } from "../store/database/store-errors.ts";
import { VERSION } from "../app/version.ts";
import { type Command, CommandError, type CommandInput, EXIT, type ExitCode } from "./command.ts";
import { commands } from "./commands.ts";
import { helpOf, helpOfAll, usageOf } from "./help.ts";
import { messageOf, stackOf } from "../pacing/error-text.ts";

export type Surroundings = Pick<CommandInput, "env" | "print" | "note" | "status">;

/** Never rejects: errors are printed by `note`, known ones in one sentence. */
export async function runCommand(words: readonly string[], around: Surroundings): Promise<ExitCode> {
  if (words.length === 1 && words[0] === "--version") {
    around.print(VERSION);
    return EXIT.done;
  }
  const names = words.filter((word) => !word.startsWith("-"));
  const command = commands.find((one) => one.words.every((word, index) => names[index] === word));
  const help = words.includes("--help") || words.includes("-h");
  if (command === undefined) return explain(names, help, around);
  if (help) {
    around.print(helpOf(command));
    return EXIT.done;
  }
  try {
    const { values, positionals } = parse(command, words);
    await command.run({ ...around, arguments: positionals, options: values });
    return EXIT.done;
  } catch (error) {
    around.note(sentenceOf(error));
    const exitCode = exitCodeOf(error);
    if (exitCode === EXIT.usage) {
      around.note(`Usage: parley ${usageOf(command)}\nMore: parley ${command.words.join(" ")} --help`);
    }
    return exitCode;
  }
}

function explain(names: readonly string[], help: boolean, { print, note }: Surroundings): ExitCode {
  const [group] = names;
  const ofGroup = commands.filter(({ words }) => words[0] === group);
  if (group === undefined || (help && ofGroup.length > 0)) {
    print(helpOfAll(ofGroup.length > 0 ? ofGroup : commands));
    return help ? EXIT.done : EXIT.usage;
  }
  const known =
    ofGroup.length > 0 ? `; there is ${ofGroup.map(({ words }) => words.join(" ")).join(", ")}` : "";
  note(`There is no command "${names.slice(0, 2).join(" ")}"${known}. See parley --help.`);
  return EXIT.usage;
}

interface Parsed {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

function parse(command: Command, words: readonly string[]): Parsed {
  const options: NonNullable<ParseArgsConfig["options"]> = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === null ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  const { values, positionals } = parsed(words, options);
  const given = positionals.slice(command.words.length);
  const missing = command.arguments.filter(
    (one, index) => one.optional !== true && given[index] === undefined,
  );
  if (missing.length > 0) {
    throw new CommandError(`${missing.map(({ name }) => name).join(" and ")} must be given.`, EXIT.usage);
  }
  if (given.length > command.arguments.length) {
    throw new CommandError(`"${given.at(-1) ?? ""}" is an unexpected argument.`, EXIT.usage);
  }
  return { values, positionals: given };
}

function parsed(words: readonly string[], options: NonNullable<ParseArgsConfig["options"]>): Parsed {
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    return { values: values as Parsed["values"], positionals };
  } catch (error) {
    // After the first full stop Node's message continues with advice on quoting.
    const [said = ""] = messageOf(error).split(". ");
    throw new CommandError(`${said.replace(/\.$/, "")}.`, EXIT.usage);
  }
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  return error instanceof DataDirInUseError ? EXIT.inUse : EXIT.failed;
}

/** Unknown errors are internal faults, so their stack is printed. */
function sentenceOf(error: unknown): string {
  const known = [CommandError, ConfigError, StoreStartError].some((kind) => error instanceof kind);
  if (known && error instanceof Error) return error.message;
  return stackOf(error);
}
