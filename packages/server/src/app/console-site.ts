/** Cache of the built console. If there is no build of the present sources, one is made beside the service. */

import { type ChildProcess, spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { extname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { folderOfBuild } from "../../../console/build/stamp.ts";
import type { ConsoleAsset, ConsoleSite, ConsoleState } from "../http/deps.ts";
import { messageOf } from "../pacing/error-text.ts";
import { inTime } from "../pacing/in-time.ts";

const BUILD_PROGRAM = fileURLToPath(new URL("../../../console/build/build.ts", import.meta.url));
/** A build takes seconds, also on a small machine under load; one that takes minutes hangs. */
const BUILD_LIMIT_MS = 300_000;
/** From one look for the build of another worker to the next. */
const LOOK_INTERVAL_MS = 1_000;
/** Characters of a failed build's output: enough for its error, little enough for a log line. */
const MAX_SAID_CHARS = 2000;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".wav": "audio/wav",
  ".woff2": "font/woff2",
};

export interface OpenedConsole extends ConsoleSite {
  /** Loads the build, or makes it first. Called once the service is ready, so that it delays no start. */
  readonly start: () => void;
  readonly close: () => Promise<void>;
}

const NO_CONSOLE: OpenedConsole = {
  state: () => Promise.resolve({ kind: "off" }),
  start: () => undefined,
  close: () => Promise.resolve(),
};

/**
 * @param wanted false: the operator has turned it off
 * @param builds false: another process of this service makes the build
 */
export function openConsole(wanted: boolean, logger: Logger, builds = true): OpenedConsole {
  return wanted ? openConsoleSite(logger, builds) : NO_CONSOLE;
}

function openConsoleSite(logger: Logger, builds: boolean): OpenedConsole {
  const { promise: done, resolve } = Promise.withResolvers<ConsoleState>();
  let builder: ChildProcess | null = null;
  let closed = false;

  const open = async (): Promise<ConsoleState> => {
    const folder = await folderOfBuild();
    const there = await loadBuild(folder);
    if (there !== null || closed) return there ?? { kind: "building" };
    if (!builds) return waitForBuild(folder, () => closed);
    logger.info("the console is being built; this happens once");
    const startedMs = performance.now();
    builder = spawn(process.execPath, [BUILD_PROGRAM], { stdio: ["ignore", "pipe", "pipe"] });
    lowerPriority(builder);
    await finished(builder);
    logger.info({ ms: Math.round(performance.now() - startedMs) }, "the console is built");
    const built = await loadBuild(folder);
    if (built === null) throw new Error("The build produced no files.");
    return built;
  };

  let started: Promise<void> | null = null;
  return {
    state: async (waitMs) => (await inTime(done, waitMs)) ?? { kind: "building" },
    start: () => {
      started ??= open().then(resolve, (error: unknown) => {
        const reason = messageOf(error);
        if (!closed) logger.error({ reason }, "the console could not be built");
        resolve({ kind: "failed", reason });
      });
    },
    close: async () => {
      closed = true;
      builder?.kill();
      await started;
    },
  };
}

/** Calls have priority. Where the system refuses, the build runs at the normal one. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    return;
  }
}

/** @throws with the output of the program, when it fails or takes too long */
function finished(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (text: Buffer) => (said = (said + text.toString()).slice(-MAX_SAID_CHARS)));
    }
    const limit = setTimeout(() => child.kill("SIGKILL"), BUILD_LIMIT_MS);
    child.once("error", (error) => {
      clearTimeout(limit);
      reject(error);
    });
    child.once("close", (code, signal) => {
      clearTimeout(limit);
      if (code === 0) resolve();
      else reject(new Error(`The build ended with ${String(signal ?? code)}. ${said.trim()}`.trim()));
    });
  });
}

/** @throws when no build has come within the limit of one */
async function waitForBuild(folder: string, isClosed: () => boolean): Promise<ConsoleState> {
  const endMs = performance.now() + BUILD_LIMIT_MS;
  while (!isClosed()) {
    const built = await loadBuild(folder);
    if (built !== null) return built;
    if (performance.now() > endMs) throw new Error("Another worker has not built it.");
    await wait(LOOK_INTERVAL_MS, undefined, { ref: false });
  }
  return { kind: "building" };
}

/** Null where no such build exists. */
async function loadBuild(folder: string): Promise<ConsoleState | null> {
  const html = await readIfThere(join(folder, "index.html"));
  if (html === null) return null;
  const assets = new Map<string, ConsoleAsset>();
  const names = await readdir(join(folder, "assets"));
  for (const name of names) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) continue;
    const path = join(folder, "assets", name);
    assets.set(name, {
      contentType,
      bytes: await readFile(path),
      br: await readIfThere(`${path}.br`),
      gzip: await readIfThere(`${path}.gz`),
    });
  }
  return { kind: "ready", html: html.toString("utf8"), assets };
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
