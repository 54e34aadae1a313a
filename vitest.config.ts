import { defineConfig } from "vitest/config";

/**
 * Four projects by what a test needs: `pure` (milliseconds, no I/O beyond reading files), `db` (runs on both
 * databases; each file has a database of its own), `media` (models, sockets, processes), `console`
 * (the console in a real browser, before one running service). They run one after the other, in this order.
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
          // Loading the modules anew for each file takes as long as the tests.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "db",
          setupFiles: ["./vitest.setup.ts"],
          globalSetup: ["./packages/server/src/store/testing/test-server.ts"],
          include: ["packages/*/{src,test}/**/*.db.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "media",
          setupFiles: ["./vitest.setup.ts"],
          include: ["packages/*/{src,test}/**/*.media.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Most of their time they wait for speech in real time: one at a time takes half a core.
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: "console",
          globalSetup: ["./packages/console/test/running-console.ts"],
          include: ["packages/console/test/**/*.browser.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Half of them wait for calls that take their time.
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
