/**
 * The README's second command, and then every command of docs/getting-started.md as it is printed there, with the real
 * key and the real ids. At the end the service is stopped as a supervisor stops it: the signal goes to npm alone.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDataDir } from "../src/store/testing/databases.ts";
import { blankOf, commandsOf, type PageCommand, valueFor } from "./page-commands.ts";
import { readSource, REPOSITORY } from "./source-text.ts";

/** A start takes seconds, also on a busy machine. */
const START_LIMIT_MS = 90_000;
/** There is no call to wait for. */
const STOP_LIMIT_MS = 15_000;
const PAGE = "docs/getting-started.md";
/** What the commands need of the repository; what they write stays beside it. */
const LINKED = ["package.json", "packages", "fixtures", "node_modules"];
/** A command that takes longer hangs, and is ended with what it has started. */
const COMMAND_LIMIT_S = 100;
/** A command whose answer is a problem must fail, which curl does not do by itself. */
const PRELUDE = `set -o pipefail; curl() { command curl --fail-with-body "$@"; }\n`;

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}

async function until(holds: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A shell in a folder of its own, with the variables that the page exports. */
class Reader {
  readonly env: Record<string, string>;
  readonly #folder: string;

  constructor(folder: string, env: Record<string, string>) {
    this.#folder = folder;
    this.env = env;
  }

  async run(text: string): Promise<Outcome> {
    const child = spawn("timeout", ["-k", "5", String(COMMAND_LIMIT_S), "bash", "-c", PRELUDE + text], {
      cwd: this.#folder,
      env: { ...process.env, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (part: Buffer) => (out += part.toString()));
    child.stderr.on("data", (part: Buffer) => (err += part.toString()));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, out, err };
  }

  async sizeOf(file: string): Promise<number> {
    return (await stat(join(this.#folder, file))).size;
  }
}

function readAnswer(out: string): unknown {
  try {
    return JSON.parse(out);
  } catch {
    return undefined;
  }
}

/** Runs the commands in order, and returns those that did not end with 0. */
async function runPage(
  commands: readonly PageCommand[],
  reader: Reader,
): Promise<{ failed: (Outcome & PageCommand)[]; outputs: Map<string, string> }> {
  const failed: (Outcome & PageCommand)[] = [];
  const outputs = new Map<string, string>();
  let answer: unknown = null;
  for (const command of commands) {
    const [, variable] = /^export (\w+)=/.exec(command.text) ?? [];
    // It runs already; the settings of these commands have a test of their own.
    if (command.text.endsWith("npm start")) continue;
    // The key and the address of the page are those of the running service.
    if (variable !== undefined && variable in reader.env) continue;
    const blank = blankOf(command);
    if (blank !== null) {
      reader.env[blank.variable] = valueFor(blank, answer);
      continue;
    }
    const outcome = await reader.run(command.text);
    if (outcome.code !== 0) failed.push({ ...command, ...outcome });
    outputs.set(command.text, (outputs.get(command.text) ?? "") + outcome.out);
    answer = readAnswer(outcome.out) ?? answer;
  }
  return { failed, outputs };
}

describe("npm start", () => {
  let npm: ChildProcess;
  let dataDir = "";
  let folder = "";
  let said = "";
  let exited: Promise<void>;
  const addressIn = () => /Service\s+(http:\/\/\S+)/.exec(said)?.[1] ?? null;

  beforeAll(async () => {
    dataDir = await newDataDir();
    folder = await mkdtemp(join(tmpdir(), "parley-reader-"));
    for (const name of LINKED) await symlink(join(REPOSITORY, name), join(folder, name));
    const env = {
      ...process.env,
      PORT: "0",
      DATA_DIR: dataDir,
      SECRETS_KEY: randomBytes(32).toString("base64"),
      LOG_LEVEL: "info",
      // As the page says for its tool.
      ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    };
    npm = spawn("npm", ["start"], { cwd: REPOSITORY, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [npm.stdout, npm.stderr]) {
      stream?.on("data", (text: Buffer) => (said += text.toString()));
    }
    exited = new Promise<void>((resolve) => npm.once("exit", () => resolve()));
    const started = await until(() => Promise.resolve(addressIn() !== null), START_LIMIT_MS);
    if (!started) throw new Error(`The service did not start:\n${said}`);
  });

  afterAll(async () => {
    const left = /"pid":(\d+)/.exec(said)?.[1];
    // If the signal did not reach it, the service must still not outlive the test.
    if (left !== undefined && addressIn() !== null && (await answers(`${addressIn() ?? ""}/healthz`))) {
      process.kill(Number(left), "SIGKILL");
    }
    npm.kill("SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });

  test("prints the key and the address with which every command of the page works", async () => {
    const page = readSource(PAGE);
    const key = /API key\s+(\S+)/.exec(said)?.[1] ?? "";
    const reader = new Reader(folder, { API_KEY: key, URL: addressIn() ?? "" });
    const commands = commandsOf(page);
    expect(commands.filter(({ text }) => text.startsWith("curl")).length).toBeGreaterThan(6);
    const { failed, outputs } = await runPage(commands, reader);
    // The page announces one refusal, with its words.
    const [, refusal = "no refusal is announced"] = /refused with `([^`]+)`/.exec(page) ?? [];
    expect(failed.map(({ line, text, err }) => ({ line, text, err }))).toEqual([
      {
        line: expect.any(Number) as number,
        text: expect.stringMatching(/^npm run talk/) as string,
        err: expect.stringContaining(refusal) as string,
      },
    ]);
    const talks = [...outputs].filter(([text]) => text.startsWith("npm run talk")).map(([, out]) => out);
    expect(talks[0]).toContain("Good evening. What can I do for you?");
    for (const talk of talks) {
      expect(talk).toMatch(/caller {2}.*ten meters/i);
      expect(talk).not.toContain("(no answer)");
    }
    expect(await reader.sizeOf("call.wav")).toBeGreaterThan(100_000);
    expect(await reader.sizeOf("call.ndjson")).toBeGreaterThan(1_000);
  });

  test("stops when a signal reaches npm", async () => {
    const url = `${addressIn() ?? ""}/healthz`;
    expect(await answers(url)).toBe(true);
    npm.kill("SIGTERM");
    await exited;
    expect(await until(async () => !(await answers(url)), STOP_LIMIT_MS)).toBe(true);
  });
});
