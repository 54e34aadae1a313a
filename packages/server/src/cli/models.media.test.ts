import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CATALOGUE } from "../models/catalogue.ts";
import { type FileServer, openFileServer } from "../models/testing/archives.ts";
import { runCommand } from "./run-command.ts";
import { parley, rowsOf } from "./testing/run.ts";

let dataDir = "";
let server: FileServer;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "parley-cli-models-"));
  server = await openFileServer();
});
afterEach(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await server.close();
});

const run = (...words: string[]) =>
  parley({ DATA_DIR: dataDir, MODELS_MIRROR: server.url }, "models", ...words);

describe("parley models", () => {
  it("lists every model, before there is a database", async () => {
    const { exitCode, out } = await run("list");
    expect(exitCode).toBe(0);
    for (const { name, licence } of CATALOGUE) expect(out).toMatch(new RegExp(`^${name} .*${licence}`, "m"));
    const rows = rowsOf(await run("list", "--json"));
    expect(rows.map(({ name }) => name)).toEqual(CATALOGUE.map(({ name }) => name));
    expect(existsSync(join(dataDir, "models"))).toBe(false);
  });

  it("pulls, lists and removes a model, and says what comes next", async () => {
    server.files.set("/smart-turn-v3.2-cpu.onnx", Buffer.alloc(5_000_000, 7));
    const pulled = await run("pull", "smart-turn-v3");
    expect([pulled.exitCode, pulled.out]).toEqual([
      0,
      "smart-turn-v3 is installed. The service uses it from its next start.",
    ]);
    expect(pulled.err).toContain("100 % (5.0 MB)");
    expect(pulled.err).toContain("licence BSD-2-Clause");
    expect(readFileSync(join(dataDir, "models", "smart-turn-v3.onnx")).length).toBe(5_000_000);
    const installed = rowsOf(await run("list", "--json")).filter((row) => row["installed"] === "yes");
    expect(installed.map(({ name }) => name)).toEqual(["smart-turn-v3"]);
    expect((await run("rm", "smart-turn-v3")).out).toBe("smart-turn-v3 is removed.");
    expect((await run("rm", "smart-turn-v3")).err).toBe("smart-turn-v3 is not installed.");
  });

  it("shows a bar on a terminal", async () => {
    server.files.set("/smart-turn-v3.2-cpu.onnx", Buffer.alloc(5_000_000, 7));
    const shown: string[] = [];
    await runCommand(["models", "pull", "smart-turn-v3"], {
      env: { DATA_DIR: dataDir, MODELS_MIRROR: server.url },
      print: () => undefined,
      note: () => undefined,
      status: (line) => shown.push(line),
    });
    expect(shown.at(-1)).toBe(`[${"#".repeat(30)}] 100 %  5.0 MB of 5.0 MB`);
  });

  it("says in a sentence what is wrong", async () => {
    expect((await run("pull", "nothing")).err).toContain(
      "There is no model named nothing; there is zipformer-en,",
    );
    const missing = await run("pull", "smart-turn-v3");
    expect([missing.exitCode, missing.err]).toEqual([1, expect.stringContaining("HTTP 404")]);
    server.files.set("/smart-turn-v3.2-cpu.onnx", Buffer.alloc(5_000_000, 7));
    server.cutAfter = 1_000;
    expect((await run("pull", "smart-turn-v3")).err).toContain("Run the same command again to continue it.");
  });
});

describe("the catalogue", () => {
  it("has names, addresses and parts that fit together", () => {
    expect(new Set(CATALOGUE.map(({ name }) => name)).size).toBe(CATALOGUE.length);
    for (const model of CATALOGUE) {
      expect(model.name).toMatch(/^[a-z0-9.-]+$/);
      expect(new URL(model.address).protocol).toBe("https:");
      const isArchive = model.folder !== null && model.address.endsWith(`/${model.folder}.tar.bz2`);
      expect(isArchive || (model.folder === null && Object.keys(model.parts).length === 1)).toBe(true);
      expect(model.kind === "tts").toBe(model.voices.length > 0);
      expect(model.sha256 ?? "0".repeat(64)).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});
