/** The two programs as their users start them: the service, and commands beside it. */

import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { newDataDir } from "../store/testing/databases.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const COMMANDS = fileURLToPath(new URL("parley.ts", import.meta.url));
/** A start takes seconds, also on a busy machine. */
const START_LIMIT_MS = 90_000;

type Environment = Readonly<Record<string, string>>;

interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

function run(program: string, words: readonly string[], env: Environment): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, words, { cwd: ROOT, env: { ...process.env, ...env } }, (_, out, err) => {
      resolve({ exitCode: child.exitCode ?? -1, out, err });
    });
  });
}

const parley = (env: Environment, ...words: readonly string[]): Promise<Ran> =>
  run(process.execPath, [COMMANDS, ...words], env);

test(
  "commands work beside a running service and know what it has to itself",
  async () => {
    const dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir, SECRETS_KEY: randomBytes(32).toString("base64"), DATABASE_URL: "" };
    const child = spawn(process.execPath, [MAIN], {
      cwd: ROOT,
      env: { ...process.env, ...env, PORT: "0", LOG_LEVEL: "warn" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    try {
      const url = await addressOf(child.stdout);
      const health = await parley(env, "health", "--url", url);
      expect([health.exitCode, JSON.parse(health.out)]).toEqual([0, { status: "ready" }]);
      const made = await parley(env, "keys", "create", "--json");
      const { secret } = JSON.parse(made.out) as { secret: string };
      const statusOf = (): Promise<number> =>
        fetch(`${url}/api/agents`, { headers: { "x-api-key": secret } }).then(({ status }) => status);
      expect(await statusOf()).toBe(200);
      const alone = await parley(env, "backup", "never.tar.gz");
      expect([alone.exitCode, alone.err]).toEqual([
        3,
        expect.stringContaining(`Process ${child.pid ?? 0} is using`),
      ]);
      child.kill("SIGKILL");
      await exited;
      // What the killed service left behind neither admits nor blocks a process.
      expect((await parley(env, "keys", "revoke", secret.slice(0, 8))).exitCode).toBe(0);
      expect((await parley(env, "health", "--url", url)).exitCode).toBe(1);
    } finally {
      child.kill("SIGKILL");
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  2 * START_LIMIT_MS,
);

test("npm reaches the commands", async () => {
  const { exitCode, out } = await run("npm", ["run", "-s", "parley", "--", "--version"], {});
  expect([exitCode, out.trim()]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)]);
});

async function addressOf(stdout: AsyncIterable<Buffer>): Promise<string> {
  let said = "";
  for await (const chunk of stdout) {
    said += chunk.toString();
    const address = /Service\s+(http:\/\/\S+)/.exec(said)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error(`the service did not start: ${said}`);
}
