#!/usr/bin/env node
/** The operator's command line: `npx parley --help`. */

import { runCommand } from "./run-command.ts";

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (line) => process.stdout.write(`${line}\n`),
  note: (line) => process.stderr.write(`${line}\n`),
  ...(process.stderr.isTTY ? { status: (line: string) => process.stderr.write(`\r\u001B[2K${line}`) } : {}),
});
