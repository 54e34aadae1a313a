/** What a command of the command line is: how it is called, what it says of itself, what it does. */

export interface CommandArgument {
  /** As it stands in the usage line, in capitals. */
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
  /** What one should know before: paragraphs of whole sentences. */
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
  /** What is said beside the result, such as progress. */
  readonly note: (line: string) => void;
}

export const EXIT = {
  done: 0,
  failed: 1,
  /** The command line was not understood. */
  usage: 2,
  /** A running service has what is needed: stop it first. */
  inUse: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What keeps a command from being done, in one sentence for the person who gave it. */
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

/** The text of an option; undefined where it was not given. */
export function textOption({ options }: CommandInput, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Rows under headings, in columns; as JSON lines where `--json` asks for it. */
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
