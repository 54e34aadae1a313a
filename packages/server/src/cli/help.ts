/** The help of the command line. */

import type { Command } from "./command.ts";

const WIDTH = 88;

const EXITS = [
  "0  done",
  "1  failed; one sentence says why",
  "2  wrong command, arguments or options",
  "3  a running service uses the data: stop it first",
];

/** `accounts create NAME [--concurrent-calls N]` */
export function usageOf({ words, arguments: given, options }: Command): string {
  return [
    ...words,
    ...given.map(({ name, optional }) => (optional === true ? `[${name}]` : name)),
    ...Object.entries(options).map(([name, { value }]) => `[--${name}${value === null ? "" : ` ${value}`}]`),
  ].join(" ");
}

export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map((command) => [command.words.join(" "), command.summary] as const);
  return [
    "parley: administers a Parley service on its machine.",
    "",
    "Usage: parley COMMAND [ARGUMENTS] [OPTIONS]",
    "       parley COMMAND --help",
    "       parley --version",
    "",
    ...columns(rows),
    "",
    ...wrap(
      "Commands read the same environment as the service: DATA_DIR, DATABASE_URL and SECRETS_KEY select the service. " +
        "The default is ./data in the current folder.",
    ),
    "",
    ...wrap(
      "With DATABASE_URL all commands work while services run, unless their help says otherwise. The embedded database " +
        "belongs to one process: accounts, keys and calls commands reach it in a running service through a socket in " +
        "DATA_DIR, which only the user of the service can open. Stop the service for the other commands.",
    ),
    "",
    "Exit codes:",
    ...EXITS.map((line) => `  ${line}`),
    "",
  ].join("\n");
}

export function helpOf(command: Command): string {
  const { arguments: given, options, details, summary } = command;
  const argumentRows = given.map(({ name, description }) => [name, description] as const);
  const optionRows = Object.entries(options).map(
    ([name, { value, description }]) =>
      [`--${name}${value === null ? "" : ` ${value}`}`, description] as const,
  );
  return [
    `parley ${usageOf(command)}`,
    "",
    `${summary}.`,
    ...details.flatMap((paragraph) => ["", ...wrap(paragraph)]),
    "",
    ...(argumentRows.length > 0 ? ["Arguments:", ...columns(argumentRows), ""] : []),
    "Options:",
    ...columns([...optionRows, ["--help", "print this"]]),
    "",
  ].join("\n");
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrap(right, WIDTH - width - 2);
    return [`  ${left.padEnd(width)}${first}`, ...rest.map((line) => `  ${" ".repeat(width)}${line}`)];
  });
}

function wrap(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
