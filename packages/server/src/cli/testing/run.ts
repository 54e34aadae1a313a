import type { TestStore } from "../../store/testing/databases.ts";
import { runCommand } from "../run-command.ts";

export interface Ran {
  readonly exitCode: number;
  /** What went to standard output and to standard error. */
  readonly out: string;
  readonly err: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command in this process. */
export async function parley(env: Environment, ...words: readonly string[]): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCommand(words, {
    env,
    print: (line) => out.push(line),
    note: (line) => err.push(line),
  });
  return { exitCode, out: out.join("\n"), err: err.join("\n") };
}

/** How a service on this store would be started. */
export function environmentOf({
  dataDir,
  databaseUrl,
  secretsKey,
}: Omit<TestStore, "store" | "db">): Environment {
  return {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl ?? undefined,
    SECRETS_KEY: Buffer.from(secretsKey).toString("base64"),
  };
}

/** What `--json` prints. */
export function rowsOf<Row = Record<string, unknown>>({ out }: Ran): Row[] {
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}
