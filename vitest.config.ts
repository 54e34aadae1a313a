import { statfsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import client from "./packages/client/package.json" with { type: "json" };
import { EvenSequencer } from "./vitest.sequencer.ts";

/** A test that takes longer hangs. It is no measure of speed: the machine may be busy with something else. */
const LIMIT_MS = 240_000;

/** Reached only when something is wrong. */
const POLL_LIMIT_MS = 60_000;

/** Files at a time of a project. On two cores: files wait for speech, pages or other processes much of their time. */
const WORKERS = 4;
/** Tests of databases wait less. */
const DATABASE_WORKERS = 3;

/** Temporary files in memory save a sixth of the time of the database tests, which write 4 GB. */
const MEMORY_FOLDER = "/dev/shm";
/** Four files at a time have a few databases of 40 MB each, and the profile of a browser. */
const MEMORY_FOLDER_BYTES = 4 * 1024 ** 3;

/**
 * Optimising the WASM code of the embedded database costs more than it saves in the seconds that a database of a test
 * lives. The default is 13,000,000.
 */
const WASM_FLAGS = ["--wasm-tiering-budget=500000000"];

// Services that tests start as programs load their modules in half of the time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node", import.meta.url));

const CLIENT = new URL("packages/client/", import.meta.url);

if (hasMemoryFolder()) process.env["TMPDIR"] ??= MEMORY_FOLDER;

/** Containers have one of 64 MB by default. */
function hasMemoryFolder(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_FOLDER_BYTES;
  } catch {
    return false;
  }
}

/** Tests use the sources of the client, which its manifest names beside the files of a build. */
const alias = Object.entries(client.exports).flatMap(([entry, target]) =>
  typeof target === "object" && "@parley/source" in target
    ? [
        {
          find: new RegExp(`^${client.name}${entry.slice(1)}$`),
          replacement: fileURLToPath(new URL(target["@parley/source"], CLIENT)),
        },
      ]
    : [],
);

/** What is common to the projects that need more than modules. */
const slow = {
  setupFiles: ["./vitest.setup.ts"],
  testTimeout: LIMIT_MS,
  hookTimeout: LIMIT_MS,
  expect: { poll: { timeout: POLL_LIMIT_MS } },
  maxWorkers: WORKERS,
};

/**
 * Four projects by what a test needs: `pure` (milliseconds, no I/O beyond reading files), `db` (runs on both
 * databases; each file has a database of its own), `media` (models, sockets, processes), `console`
 * (the console in a real browser, before one running service). `pure` runs first, then `db`, then the others beside
 * each other.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: EvenSequencer },
    projects: [
      {
        resolve: { alias },
        test: {
          name: "pure",
          setupFiles: ["./vitest.setup.ts"],
          include: ["packages/*/src/**/*.test.ts", "packages/server/{sim,test}/**/*.test.ts"],
          exclude: ["**/*.db.test.ts", "**/*.media.test.ts", "**/node_modules/**"],
          testTimeout: LIMIT_MS,
          // Loading the modules anew for each file takes as long as the tests.
          isolate: false,
          // The default leaves one of two cores idle.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...slow,
          name: "db",
          globalSetup: ["./packages/server/src/store/testing/test-server.ts"],
          include: ["packages/*/{src,test}/**/*.db.test.ts"],
          execArgv: WASM_FLAGS,
          maxWorkers: DATABASE_WORKERS,
          // Loading the modules anew for each file takes longer than many of the files. A worker takes another file only
          // when it is of the same project, so no other project runs beside this one.
          isolate: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...slow,
          name: "media",
          include: ["packages/*/{src,test}/**/*.media.test.ts"],
          sequence: { groupOrder: 3 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...slow,
          name: "console",
          globalSetup: ["./packages/console/test/running-console.ts"],
          include: ["packages/console/test/**/*.browser.test.ts"],
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
