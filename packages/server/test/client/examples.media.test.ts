/** The requests of the reference page, run as they are printed. A server records what each language sends. */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openApiDocument } from "@parley/schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Entry, entriesOf, isJoin } from "../../src/http/pages/docs/entries.ts";
import type { OpenApiDocument } from "../../src/http/pages/docs/open-api.ts";
import { type Example, requestExamples } from "../../src/http/pages/docs/request-examples.ts";
import { EXAMPLE_BODIES } from "../../src/http/pages/plain-routes.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** A hundred small requests; the machine may be busy with other tests. */
const RUN_LIMIT_MS = 200_000;

const HAS_PYTHON = await run("python3", ["-c", "import requests"]).then(
  () => true,
  () => false,
);
if (!HAS_PYTHON)
  process.stderr.write("skipped: examples in Python, for there is no Python with requests here\n");
const HAS_CURL = await run("curl", ["--version"]).then(
  () => true,
  () => false,
);
if (!HAS_CURL) process.stderr.write("skipped: examples for a shell, for there is no curl here\n");

const KEY = "Ab12Cd34.secret";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

describe("the requests of the reference page", () => {
  let folder = "";
  let server: Server;
  let entries: Entry[] = [];
  let document: OpenApiDocument;
  let baseUrl = "";
  const received: Request[] = [];
  /** Values of path parameters; those that are numbers are numbers. */
  const values = new Map<string, string>();

  beforeAll(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const key = request.headers["x-api-key"];
        received.push({
          method: request.method ?? "",
          path: request.url ?? "",
          key: typeof key === "string" ? key : undefined,
          body: text === "" ? null : (JSON.parse(text) as unknown),
        });
        response.setHeader("content-type", answerType(request.method, request.url)).end("{}");
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    document = openApiDocument({ baseUrl, version: "0" }) as unknown as OpenApiDocument;
    entries = [...entriesOf(document).values()].flat().filter((entry) => !isJoin(entry));
    for (const { name, schema, in: place } of entries.flatMap(
      ({ operation }) => operation.parameters ?? [],
    )) {
      if (place === "path") values.set(name, schema?.type === "integer" ? "7" : `${name}-1`);
    }
    folder = await mkdtemp(join(tmpdir(), "parley-examples-"));
    await mkdir(join(folder, "node_modules/@parley"), { recursive: true });
    await symlink(join(ROOT, "packages/client"), join(folder, "node_modules/@parley/client"));
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The first type that the description gives for a success, such as that of a recording; a redirect leads to a file. */
  function answerType(method = "", url = ""): string {
    const entry = entries.find(
      (one) =>
        one.method.toUpperCase() === method &&
        new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(url.split("?")[0] ?? ""),
    );
    const answers = Object.entries(entry?.operation.responses ?? {});
    const success = answers.find(([code]) => code.startsWith("2"))?.[1];
    if (success === undefined) return "text/plain";
    return Object.keys(success.content ?? {})[0] ?? "application/json";
  }

  function textsIn(language: Example["language"]): string[] {
    return entries.map((entry) => {
      const examples = requestExamples(entry, document, { baseUrl, examples: EXAMPLE_BODIES });
      return examples.find((one) => one.language === language)?.text ?? "";
    });
  }

  /** What the operations take, by the description alone. */
  function wanted(): Omit<Request, "body">[] {
    return entries.map(({ method, path, operation }) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? ""),
      key: operation.security?.length === 0 ? undefined : KEY,
    }));
  }

  async function runAll(command: string, parameters: readonly string[]): Promise<readonly Request[]> {
    received.length = 0;
    const named = [...values].map(([name, value]) => [name.toUpperCase(), value] as const);
    await run(command, parameters, {
      cwd: folder,
      timeout: RUN_LIMIT_MS,
      env: { PATH: process.env["PATH"], HOME: folder, API_KEY: KEY, ...Object.fromEntries(named) },
    });
    return [...received];
  }

  const bodiesOf = (requests: readonly Request[]): unknown[] => requests.map(({ body }) => body);
  const headsOf = (requests: readonly Request[]): unknown[] =>
    requests.map(({ method, path, key }) => ({ method, path, key }));

  /** The requests of TypeScript, once: their bodies are compared with those of the other languages. */
  let typescript: Promise<readonly Request[]> | null = null;
  const runTypescript = (): Promise<readonly Request[]> => (typescript ??= writeAndRun());
  async function writeAndRun(): Promise<readonly Request[]> {
    const files = textsIn("typescript").map((text, at) => [`example-${String(at)}.mts`, text] as const);
    await Promise.all(files.map(([file, text]) => writeFile(join(folder, file), text)));
    const imports = files.map(([file]) => `await import("./${file}");`).join("\n");
    await writeFile(join(folder, "all.mjs"), imports);
    return runAll(process.execPath, ["--conditions=@parley/source", "all.mjs"]);
  }

  test(
    "in TypeScript send what the description says",
    async () => {
      const sent = await runTypescript();
      // The client sends its key with every request.
      expect(headsOf(sent)).toEqual(wanted().map((one) => ({ ...one, key: KEY })));
      for (const [at, { operation, id }] of entries.entries()) {
        const body = sent[at]?.body ?? null;
        expect([id, body === null]).toEqual([id, operation.requestBody === undefined]);
        const given = (EXAMPLE_BODIES as Readonly<Record<string, unknown>>)[id];
        expect(body).toEqual(given ?? body);
      }
    },
    RUN_LIMIT_MS,
  );

  test.skipIf(!HAS_CURL)(
    "for a shell send the same",
    async () => {
      await writeFile(join(folder, "all.sh"), ["set -e", ...textsIn("curl")].join("\n"));
      const sent = await runAll("sh", ["all.sh"]);
      expect(headsOf(sent)).toEqual(wanted());
      expect(bodiesOf(sent)).toEqual(bodiesOf(await runTypescript()));
    },
    RUN_LIMIT_MS,
  );

  test.skipIf(!HAS_PYTHON)(
    "in Python send the same",
    async () => {
      await writeFile(join(folder, "all.py"), textsIn("python").join("\n"));
      const sent = await runAll("python3", ["all.py"]);
      expect(headsOf(sent)).toEqual(wanted());
      expect(bodiesOf(sent)).toEqual(bodiesOf(await runTypescript()));
    },
    RUN_LIMIT_MS,
  );
});
