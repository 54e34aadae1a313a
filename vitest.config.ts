import { defineConfig } from "vitest/config";

/**
 * Four projects by what a test needs: `pure` (milliseconds, no I/O beyond reading files), `db` (runs on both
 * databases; each file has a database of its own), `media` (models, sockets, processes), `console`
 * (the console in a real browser, before one running service).
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "pure",
          setupFiles: ["./vitest.setup.ts"],
          include: ["packages/*/src/**/*.test.ts", "packages/server/{sim,test}/**/*.test.ts"],
          exclude: ["**/*.db.test.ts", "**/*.media.test.ts", "**/node_modules/**"],
        },
      },
      {
        test: {
          name: "db",
          setupFiles: ["./vitest.setup.ts"],
          include: ["packages/*/{src,test}/**/*.db.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "media",
          setupFiles: ["./vitest.setup.ts"],
          include: ["packages/*/{src,test}/**/*.media.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "console",
          globalSetup: ["./packages/console/test/running-console.ts"],
          include: ["packages/console/test/**/*.browser.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
