/** A PostgreSQL server of its own, in a temporary folder, that can be stopped and started: Debian's programs, or those of `pg_config`. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePort } from "../src/app/workers/worker.ts";

const run = promisify(execFile);
const DEBIAN = "/usr/lib/postgresql";
/** A server that was killed before replays its log, on a busy machine. */
const START_LIMIT_MS = 60_000;
const LOOK_INTERVAL_MS = 50;

export interface PostgresServer {
  readonly url: string;
  start(): Promise<void>;
  /** As an administrator does: connections are closed, transactions are rolled back. */
  stop(): Promise<void>;
  /** Idempotent. */
  remove(): Promise<void>;
}

/** Who may run the server: PostgreSQL refuses root. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Null: there are no programs of PostgreSQL on this machine, or nobody who may run them. The server does not run yet. */
export async function makePostgresServer(): Promise<PostgresServer | null> {
  const bin = await programs();
  const owner = await ownerOfServer();
  if (bin === null || owner === null) return null;
  const dir = await mkdtemp(join(tmpdir(), "parley-postgres-"));
  const data = join(dir, "data");
  await chown(dir, owner.uid, owner.gid);
  await run(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"], {
    ...owner,
    cwd: dir,
  });
  const port = await freePort("127.0.0.1");
  const url = `postgresql://postgres@127.0.0.1:${String(port)}/postgres`;
  let server: ChildProcess | null = null;
  const stop = async (): Promise<void> => {
    const running = server;
    server = null;
    if (running === null || running.exitCode !== null) return;
    const ended = new Promise<void>((resolve) => running.once("exit", () => resolve()));
    // The fast shutdown.
    running.kill("SIGINT");
    await ended;
  };
  // This also runs where this program fails: the server does not keep running.
  process.on("exit", () => server?.kill("SIGQUIT"));
  return {
    url,
    stop,
    async start() {
      const settings = [`port=${String(port)}`, "listen_addresses=127.0.0.1", "unix_socket_directories="];
      server = spawn(join(bin, "postgres"), ["-D", data, ...settings.flatMap((one) => ["-c", one])], {
        ...owner,
        cwd: dir,
        stdio: "ignore",
      });
      await untilAnswered(url, server);
    },
    async remove() {
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The newest version. */
async function programs(): Promise<string | null> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions
    .map(Number)
    .filter(Number.isInteger)
    .toSorted((a, b) => b - a)[0];
  if (newest !== undefined) return join(DEBIAN, String(newest), "bin");
  const found = await run("pg_config", ["--bindir"]).catch(() => null);
  return found === null ? null : found.stdout.trim();
}

async function ownerOfServer(): Promise<Owner | null> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const idOf = async (kind: string): Promise<number> =>
    Number((await run("id", [kind, "postgres"]).catch(() => ({ stdout: "" }))).stdout || Number.NaN);
  const owner = { uid: await idOf("-u"), gid: await idOf("-g") };
  return Number.isNaN(owner.uid) || Number.isNaN(owner.gid) ? null : owner;
}

async function untilAnswered(url: string, server: ChildProcess): Promise<void> {
  const untilMs = performance.now() + START_LIMIT_MS;
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.query("select 1");
      return;
    } catch (error) {
      if (server.exitCode !== null || performance.now() > untilMs)
        throw new Error("The PostgreSQL server does not start.", { cause: error });
    } finally {
      await client.end().catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
}
