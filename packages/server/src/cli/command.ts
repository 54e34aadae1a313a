/** Commands of the command line: name, arguments, help and action. */

export interface CommandArgument {
  /** As in the usage line, in capitals. */
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
}

export interface CommandOption {
  /** Name of the value in the usage line; null: the option takes none. */
  readonly value: string | null;
  readonly description: string;
}

export interface Command {
  /** Such as `["accounts", "create"]`. */
  readonly words: readonly string[];
  /** One line, without a full stop. */
  readonly summary: string;
  readonly arguments: readonly CommandArgument[];
  /** By name, without the dashes. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Paragraphs of the help. */
  readonly details: readonly string[];
  /** @throws CommandError with one sentence. */
  readonly run: (input: CommandInput) => Promise<void>;
}

export interface CommandInput {
  readonly arguments: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The result, line by line. */
  readonly print: (line: string) => void;
  /** Messages besides the result, such as progress. */
  readonly note: (line: string) => void;
  /** Shows a line in the place of the one before it; absent: messages do not go to a terminal. */
  readonly status?: (line: string) => void;
}

export const EXIT = {
  done: 0,
  failed: 1,
  /** The command line was not understood. */
  usage: 2,
  /** A running service uses the data folder: stop it first. */
  inUse: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Why a command failed, in one sentence for the operator. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}

/** The value of an option; undefined if it was not given. */
export function textOption({ options }: CommandInput, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Prints rows in columns under headings, or as JSON lines with `--json`. */
export function printRows(
  input: CommandInput,
  headings: readonly string[],
  rows: readonly Readonly<Record<string, string | number | boolean | null>>[],
): void {
  if (input.options["json"] === true) {
    for (const row of rows) input.print(JSON.stringify(row));
    return;
  }
  const lines = [headings, ...rows.map((row) => Object.values(row).map((value) => String(value ?? "-")))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  for (const line of lines) {
    input.print(
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

export const JSON_OPTION: CommandOption = { value: null, description: "print JSON, one object a line" };
