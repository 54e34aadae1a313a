/** The library as published: packed, installed elsewhere, compiled against and loaded. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { openApiDocument } from "@parley/schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiReport, committedReport } from "../../../client/scripts/api-report.ts";
import { DIST } from "../../../client/scripts/build.ts";
import { committedWorkletModule, workletModule } from "../../../client/scripts/worklet-code.ts";
import { entriesOf, isJoin } from "../../src/http/pages/docs/entries.ts";
import type { OpenApiDocument } from "../../src/http/pages/docs/open-api.ts";
import { requestExamples } from "../../src/http/pages/docs/request-examples.ts";
import { EXAMPLE_BODIES } from "../../src/http/pages/plain-routes.ts";
import { anyTypes } from "./any-types.ts";
import { bundled } from "./pages.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PACKAGE = join(ROOT, "packages/client");
/** All code for calls in a page, as a page loads it. */
const MAX_GZIPPED_BYTES = 25_000;
/** The machine may be busy with other tests. */
const BUILD_LIMIT_MS = 300_000;

const PAGE_PROGRAM = `
import { type Call, CallError, createRestClient, joinCall, ToolAnswer, type Transcript } from "@parley/client";
import { useCall, useLevels, useTranscripts } from "@parley/client/react";
import { createRestClient as rest, type Agent, type CallTemplate } from "@parley/client/rest";

export async function talk(): Promise<readonly Transcript[]> {
  const parley = createRestClient({ baseUrl: "https://voice.example", apiKey: "key" });
  const template: CallTemplate = { systemPrompt: "Be brief.", medium: { webRtc: {} } };
  const agent: Agent = await parley.fetch("POST", "/api/agents", { body: { name: "Porter", callTemplate: template } });
  const made = await parley.fetch("POST", "/api/agents/{agent_id}/calls", { params: { agent_id: agent.agentId }, body: {} });
  for await (const one of parley.rows("/api/calls", { query: { agentIds: [agent.agentId] } })) one.callId satisfies string;
  const call: Call = await joinCall(made.joinUrl ?? "", {
    tools: { look: ({ room }) => new ToolAnswer({ room }, { agentReaction: "listens" }) },
  });
  const off: () => void = call.on("state", (state) => state satisfies "idle" | "listening" | "thinking" | "speaking");
  call.on("over", ({ error }) => error instanceof CallError && error.code satisfies string);
  off();
  return call.transcripts;
}

export function Talk(): string {
  const { status, call } = useCall();
  return status + String(useLevels(call).input) + String(useTranscripts(call).length) + typeof rest;
}
`;

/** Programs that must not compile, by the message of the compiler. */
const WRONG: readonly (readonly [program: string, message: RegExp])[] = [
  [`parley.fetch("GET", "/api/agent");`, /"\/api\/agent"' is not assignable/],
  [`parley.fetch("POST", "/api/agents", { body: { nmae: "Porter" } });`, /'nmae' does not exist/],
  [`parley.fetch("GET", "/api/agents/{agent_id}");`, /Expected 3 arguments/],
  [`parley.fetch("GET", "/api/calls").then(({ result }) => result);`, /'result' does not exist/],
];

const BROWSER_TYPES = { lib: ["es2024", "dom"], types: [] };
const STRICT = { target: "es2024", strict: true, noEmit: true, skipLibCheck: false };

describe("the published package", () => {
  let folder = "";
  let built = "";
  const hadBuild = existsSync(DIST);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "parley-package-"));
    built = join(folder, "node_modules/@parley/client");
    await run("npm", ["pack", "--ignore-scripts=false", "--pack-destination", folder], { cwd: PACKAGE });
    const packed = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? "";
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const quiet = ["--offline", "--no-audit", "--no-fund", "--no-package-lock"];
    await run("npm", ["install", ...quiet, `./${packed}`], { cwd: folder });
    // What users of React and of Node have beside the package.
    await mkdir(join(folder, "node_modules/@types"), { recursive: true });
    for (const name of ["@types/react", "@types/node"]) {
      await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
    }
  }, BUILD_LIMIT_MS);
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    if (!hadBuild) await rm(DIST, { recursive: true, force: true });
  });

  /** What the compiler says; it says nothing if all is right. */
  async function compiled(name: string, compilerOptions: object, files: readonly string[]): Promise<string> {
    const project = join(folder, `tsconfig.${name}.json`);
    await writeFile(project, JSON.stringify({ compilerOptions: { ...STRICT, ...compilerOptions }, files }));
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    return run(process.execPath, [compiler, "-p", project]).then(
      () => "",
      (error: unknown) => (error as { readonly stdout: string }).stdout,
    );
  }

  test("holds what its manifest names, and needs nothing at run time", async () => {
    const manifest = JSON.parse(await readFile(join(built, "package.json"), "utf8")) as {
      readonly exports: Record<string, string | Record<string, string>>;
      readonly dependencies?: unknown;
      readonly license: string;
    };
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.license).toBe("Apache-2.0");
    const entries = await readdir(built, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(built.length + 1));
    const named = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string"
        ? [entry]
        : Object.entries(entry).flatMap(([condition, file]) =>
            condition === "@parley/source" ? [] : [file],
          ),
    );
    expect(named.filter((file) => !files.includes(file.replace("./", "")))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "api.md", "dist/parley.min.js"]));
    expect(files.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    expect(await readFile(join(built, "LICENSE"), "utf8")).toBe(
      await readFile(join(ROOT, "LICENSE"), "utf8"),
    );
  });

  test("is loaded by Node, under the names of its entries", async () => {
    const code = `
      const names = async (entry) => Object.keys(await import(entry)).sort();
      const { joinCall } = await import("@parley/client");
      const refused = await joinCall("wss://voice.example/calls/x/web_rtc/t").catch(({ code }) => code);
      console.log(JSON.stringify([await names("@parley/client"), await names("@parley/client/rest"), refused]));`;
    await writeFile(join(folder, "loads.js"), code);
    const { stdout } = await run(process.execPath, ["loads.js"], { cwd: folder });
    const main = [
      "CallError",
      "ParleyError",
      "ToolAnswer",
      "createRestClient",
      "joinCall",
      "listAudioDevices",
      "openMicrophone",
    ];
    expect(JSON.parse(stdout)).toEqual([main, ["ParleyError", "createRestClient"], "unsupported"]);
    // React is where the repository has it.
    const react = (await import(
      /* @vite-ignore */ pathToFileURL(join(PACKAGE, "dist/react.js")).href
    )) as object;
    expect(Object.keys(react)).toContain("useCall");
  });

  test(
    "compiles with the declarations checked, for bundlers and for Node",
    async () => {
      await writeFile(join(folder, "page.ts"), PAGE_PROGRAM);
      const node = { module: "nodenext", ...BROWSER_TYPES };
      const bundler = { module: "esnext", moduleResolution: "bundler", ...BROWSER_TYPES };
      expect(await compiled("node", node, ["page.ts"])).toBe("");
      expect(await compiled("bundler", bundler, ["page.ts"])).toBe("");
    },
    BUILD_LIMIT_MS,
  );

  test(
    "compiles with every example of the reference page, without the types of a browser",
    async () => {
      const baseUrl = "https://voice.example";
      const document = openApiDocument({ baseUrl, version: "0" }) as unknown as OpenApiDocument;
      const entries = [...entriesOf(document).values()].flat().filter((entry) => !isJoin(entry));
      await mkdir(join(folder, "examples"));
      const files: string[] = [];
      for (const entry of entries) {
        const examples = requestExamples(entry, document, { baseUrl, examples: EXAMPLE_BODIES });
        const file = `examples/${entry.id}.ts`;
        await writeFile(
          join(folder, file),
          examples.find(({ language }) => language === "typescript")?.text ?? "",
        );
        files.push(file);
      }
      expect(files.length).toBeGreaterThan(100);
      const options = { module: "nodenext", lib: ["es2024"], types: ["node"] };
      expect(await compiled("examples", options, files)).toBe("");
    },
    BUILD_LIMIT_MS,
  );

  test(
    "refuses paths, fields and parameters that do not exist",
    async () => {
      const head = `import { createRestClient } from "@parley/client/rest";
        const parley = createRestClient({ baseUrl: "", apiKey: "" });`;
      const files = WRONG.map((_, at) => `wrong-${String(at)}.ts`);
      await Promise.all(
        WRONG.map(([program], at) => writeFile(join(folder, files[at] ?? ""), `${head}\nawait ${program}`)),
      );
      const said = await compiled("wrong", { module: "nodenext", ...BROWSER_TYPES }, files);
      for (const [, message] of WRONG) expect(said).toMatch(message);
    },
    BUILD_LIMIT_MS,
  );

  test(
    "has no type that allows everything, and describes its fields",
    async () => {
      const loose = "export interface Loose { first: Missing; second: any; third: unknown }";
      await writeFile(join(built, "dist/types/loose.d.ts"), loose);
      await compiled("any", { module: "nodenext", ...BROWSER_TYPES }, [
        "node_modules/@parley/client/dist/types/index.d.ts",
        "node_modules/@parley/client/dist/types/rest-entry.d.ts",
        "node_modules/@parley/client/dist/types/react.d.ts",
        "node_modules/@parley/client/dist/types/loose.d.ts",
      ]);
      const found = anyTypes(join(folder, "tsconfig.any.json"), built);
      await rm(join(built, "dist/types/loose.d.ts"));
      const own = found.filter((line) => line.startsWith("/dist/types/loose.d.ts"));
      expect(own.join("\n")).toContain("first: Missing");
      expect(own.join("\n")).toContain("second: any");
      expect(own.join("\n")).not.toContain("third");
      expect(found.filter((line) => !own.includes(line))).toEqual([]);
      const agents = await readFile(join(built, "dist/types/api/records/agents.d.ts"), "utf8");
      expect(agents).toMatch(/\/\*\* Instructions for the model[^\n]*\*\/\n\s+systemPrompt\?/);
    },
    BUILD_LIMIT_MS,
  );

  test("promises what its report says", async () => {
    expect(await apiReport(DIST)).toBe(await committedReport());
  });

  test("is small, and as large as its page says", async () => {
    const code = await bundled(true, join(built, "dist/index.js"));
    expect(code).toContain("parley-capture");
    expect(gzipSync(code).byteLength).toBeLessThan(MAX_GZIPPED_BYTES);
    const script = join(built, "dist/parley.min.js");
    const page = await readFile(join(PACKAGE, "README.md"), "utf8");
    const [, whole, gzipped] = /`parley\.min\.js`[^\n]*?(\d+) KB, (\d+) KB with gzip/.exec(page) ?? [];
    const bytes = (await stat(script)).size;
    const gzippedBytes = gzipSync(await readFile(script)).byteLength;
    expect([Number(whole), Number(gzipped)]).toEqual([
      Math.ceil(bytes / 1000),
      Math.ceil(gzippedBytes / 1000),
    ]);
  });

  test("has the worklet of its sources", async () => {
    expect(await committedWorkletModule()).toBe(await workletModule());
  });
});
