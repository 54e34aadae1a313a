import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { WERIFT_VERSION } from "./werift-internals.ts";

test("the version of werift is the one whose inside was read: look at all of `edge` before changing it", async () => {
  const folder = dirname(dirname(fileURLToPath(import.meta.resolve("werift"))));
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string };
  expect(version).toBe(WERIFT_VERSION);
});
