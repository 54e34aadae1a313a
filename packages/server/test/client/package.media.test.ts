/** The library as published: its contents, its size, its types, and that it can be used. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiReport, committedReport } from "../../../client/scripts/api-report.ts";
import { buildClient } from "../../../client/scripts/build.ts";
import { committedWorkletModule, workletModule } from "../../../client/scripts/worklet-code.ts";
import { bundled } from "./pages.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** All code for calls in a page, as a page loads it. */
const MAX_GZIPPED_BYTES = 25_000;
/** The compiler reads the whole interface; the machine may be busy with other tests. */
const BUILD_LIMIT_MS = 300_000;

const CONSUMER = `
import { type Call, CallError, createRestClient, joinCall, ToolAnswer, type Transcript } from "@parley/client";
import { useCall, useLevels, useTranscripts } from "@parley/client/react";
import { createRestClient as rest } from "@parley/client/rest";

export async function talk(): Promise<readonly Transcript[]> {
  const parley = createRestClient({ baseUrl: "https://voice.example", apiKey: "key" });
  const agent = await parley.fetch("POST", "/api/agents", { body: { name: "Porter" } });
  const made = await parley.fetch("POST", "/api/agents/{agent_id}/calls", { params: { agent_id: agent.agentId }, body: {} });
  const call: Call = await joinCall(made.joinUrl ?? "", {
    tools: { look: ({ room }) => new ToolAnswer({ room }, { agentReaction: "listens" }) },
  });
  const off: () => void = call.on("state", (state) => state satisfies "idle" | "listening" | "thinking" | "speaking");
  call.on("over", ({ error }) => error instanceof CallError && error.code satisfies string);
  off();
  // Declarations that are not found would make everything \`any\`.
  type IsAny<T> = 0 extends 1 & T ? true : false;
  const unknown: IsAny<typeof parley | typeof agent | typeof made | typeof call> = false;
  console.assert(!unknown);
  return call.transcripts;
}

export function Talk(): string {
  const { call, status } = useCall();
  const unknown: 0 extends 1 & typeof call ? true : false = false;
  return String(unknown) + status + String(useLevels(call).input) + String(useTranscripts(call).length) + typeof rest;
}
`;

describe("the published package", () => {
  let folder = "";
  let built = "";

  beforeAll(async () => {
    await mkdir(join(ROOT, "node_modules/.cache"), { recursive: true });
    folder = await mkdtemp(join(ROOT, "node_modules/.cache/client-"));
    built = join(folder, "node_modules/@parley/client");
    await buildClient(built);
  }, BUILD_LIMIT_MS);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("holds what its manifest names, and needs nothing at run time", async () => {
    const manifest = JSON.parse(await readFile(join(built, "package.json"), "utf8")) as {
      readonly exports: Record<string, string | Record<string, string>>;
      readonly dependencies?: unknown;
    };
    expect(manifest.dependencies).toBeUndefined();
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], { cwd: built });
    const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const files = new Set(packed?.files.map(({ path }) => path));
    const named = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry),
    );
    expect(named.filter((file) => !files.has(file.replace("./", "")))).toEqual([]);
    expect([...files]).toEqual(expect.arrayContaining(["README.md", "LICENSE", "index.js", "worklet.js"]));
    expect([...files].filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  test("is loaded as it is, by Node as well", async () => {
    const load = (file: string): Promise<Record<string, unknown>> =>
      import(/* @vite-ignore */ pathToFileURL(join(built, file)).href) as Promise<Record<string, unknown>>;
    const main = await load("index.js");
    const names = [
      "CallError",
      "ParleyError",
      "ToolAnswer",
      "createRestClient",
      "joinCall",
      "listAudioDevices",
      "openMicrophone",
    ];
    expect(Object.keys(main).sort()).toEqual(names);
    expect(Object.keys(await load("rest.js")).sort()).toEqual(["ParleyError", "createRestClient"]);
    expect(Object.keys(await load("react.js"))).toContain("useCall");
    const { joinCall } = main as { joinCall: (url: string) => Promise<unknown> };
    await expect(joinCall("wss://voice.example/calls/x/web_rtc/t")).rejects.toMatchObject({
      code: "unsupported",
    });
  });

  test(
    "gives its users types, those of the REST interface included",
    async () => {
      await writeFile(join(folder, "consumer.ts"), CONSUMER);
      const options = {
        module: "esnext",
        moduleResolution: "bundler",
        target: "es2024",
        lib: ["es2024", "dom"],
      };
      // Checking the declarations themselves takes 40 s; what is used of them is resolved in any case.
      const compilerOptions = { ...options, strict: true, noEmit: true, skipLibCheck: true, types: [] };
      await writeFile(
        join(folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: ["consumer.ts"] }),
      );
      const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
      const said = await run(process.execPath, [compiler, "-p", folder]).then(
        () => "",
        (error: unknown) => (error as { readonly stdout: string }).stdout,
      );
      expect(said).toBe("");
    },
    BUILD_LIMIT_MS,
  );

  test("promises what its report says", async () => {
    expect(await apiReport(built)).toBe(await committedReport());
  });

  test("is small", async () => {
    const code = await bundled(true, join(built, "index.js"));
    expect(code).toContain("parley-capture");
    expect(gzipSync(code).byteLength).toBeLessThan(MAX_GZIPPED_BYTES);
  });

  test("has the worklet of its sources", async () => {
    expect(await committedWorkletModule()).toBe(await workletModule());
  });
});
