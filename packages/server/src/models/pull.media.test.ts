import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CatalogueModel, LLAMA_PACKAGE } from "./catalogue.ts";
import { download } from "./download.ts";
import { installedModel, isInstalled, readLock } from "./models-folder.ts";
import { findPackage, installPackage } from "./packages.ts";
import { platformPart } from "./platform-parts.ts";
import { pullModel, type PullOptions, removeModel } from "./pull.ts";
import { type FileServer, openFileServer, tarOf } from "./testing/archives.ts";

let folder = "";
let server: FileServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-models-"));
  server = await openFileServer();
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

const ARCHIVE = gzipSync(
  tarOf(
    { name: "model-1.0/model.onnx", content: createHash("sha512").update("weights").digest() },
    { name: "model-1.0/data/a", content: "A" },
    { name: "model-1.0/LICENSE", content: "MIT" },
    { name: "model-1.0/test.wav", content: "not wanted" },
  ),
);

const MODEL: CatalogueModel = {
  name: "tiny",
  kind: "stt",
  family: "moonshine",
  description: "a model of a test",
  licence: "MIT",
  languages: ["en"],
  address: "https://example.com/releases/tiny.tar.gz",
  bytes: ARCHIVE.length,
  sha256: null,
  folder: "model-1.0",
  parts: { encoder: "model.onnx", dataDir: "data" },
  voices: [],
  packages: {},
};

const SINGLE: CatalogueModel = {
  ...MODEL,
  name: "single",
  kind: "turn",
  family: null,
  address: "https://example.com/single-1.onnx",
  folder: null,
  bytes: 7,
  parts: { model: "single.onnx" },
};

async function pull(fields: Partial<PullOptions> = {}) {
  const said: string[] = [];
  const outcome = await pullModel({
    model: MODEL,
    folder,
    mirror: server.url,
    acceptsNew: false,
    env: process.env,
    say: (line) => said.push(line),
    progress: () => undefined,
    freeBytes: () => Promise.resolve(10 ** 12),
    ...fields,
  });
  return { outcome, said };
}

const offered = (content: Buffer): void => void server.files.set("/tiny.tar.gz", content);
const leftovers = (): string[] => readdirSync(folder).filter((name) => name.startsWith("unpacking"));

describe("a model that is pulled", () => {
  it("is unpacked, stated in the lock file, and not fetched again", async () => {
    offered(ARCHIVE);
    const { outcome, said } = await pull();
    expect(outcome).toBe("pulled");
    expect(said[0]).toContain(`${server.url}/tiny.tar.gz`);
    expect(said[0]).toContain("licence MIT");
    const model = installedModel(folder, MODEL);
    expect(model?.paths).toEqual({
      encoder: join(folder, "tiny", "model.onnx"),
      dataDir: join(folder, "tiny", "data"),
    });
    expect(model?.files.map(({ path }) => path.slice(folder.length))).toEqual([
      "/tiny/model.onnx",
      "/tiny/data/a",
      "/tiny/LICENSE",
    ]);
    for (const { path, sha256 } of model?.files ?? [])
      expect(createHash("sha256").update(readFileSync(path)).digest("hex")).toBe(sha256);
    expect(readLock(folder)["tiny"]?.fetched).toEqual({
      bytes: ARCHIVE.length,
      sha256: createHash("sha256").update(ARCHIVE).digest("hex"),
    });
    expect((await pull()).outcome).toBe("present");
    expect(server.requests).toEqual(["/tiny.tar.gz"]);
    expect(readdirSync(join(folder, "downloads"))).toEqual([]);
  });

  it("may be a single file, which lies where the service looks for it", async () => {
    server.files.set("/single-1.onnx", Buffer.from("network"));
    await pull({ model: SINGLE });
    expect(readFileSync(join(folder, "single.onnx"), "utf8")).toBe("network");
    expect(await removeModel(folder, SINGLE)).toBe(true);
    expect(existsSync(join(folder, "single.onnx"))).toBe(false);
  });

  it("is removed, but its checksum stays: a file that differs is refused, unless it is accepted", async () => {
    offered(ARCHIVE);
    await pull();
    expect(await removeModel(folder, MODEL)).toBe(true);
    expect(await removeModel(folder, MODEL)).toBe(false);
    expect(isInstalled(readLock(folder), MODEL)).toBe(false);
    expect(existsSync(join(folder, "tiny"))).toBe(false);
    const other = gzipSync(
      tarOf({ name: "model-1.0/model.onnx", content: "new" }, { name: "model-1.0/data/a" }),
    );
    offered(other);
    await expect(pull()).rejects.toThrow(/tiny is not the file that was expected: .*--accept-new/);
    expect(readdirSync(join(folder, "downloads"))).toEqual([]);
    expect((await pull({ acceptsNew: true })).outcome).toBe("pulled");
    expect(readFileSync(join(folder, "tiny", "model.onnx"), "utf8")).toBe("new");
  });

  it("must have the checksum of the catalogue, where it has one, also for --accept-new", async () => {
    offered(ARCHIVE);
    const model = { ...MODEL, sha256: "0".repeat(64) };
    await expect(pull({ model, acceptsNew: true })).rejects.toThrow(
      /is not the file .* in place of 0{64}\.$/,
    );
  });
});

describe("a download that was interrupted", () => {
  /** The connection ends once bytes have arrived. */
  const dropping = { progress: () => server.drop() };

  it("continues where it ended, also twice", async () => {
    offered(ARCHIVE);
    server.hangAfter = 100;
    await expect(pull(dropping)).rejects.toThrow(
      /interrupted after .* Run the same command again to continue it\./,
    );
    server.hangAfter = 50;
    await expect(pull(dropping)).rejects.toThrow("interrupted");
    expect((await pull()).outcome).toBe("pulled");
    expect(server.requests).toEqual(["/tiny.tar.gz", "/tiny.tar.gz bytes=100-", "/tiny.tar.gz bytes=150-"]);
  });

  it("begins again where the file has changed meanwhile", async () => {
    offered(ARCHIVE);
    server.hangAfter = 100;
    await expect(pull(dropping)).rejects.toThrow("interrupted");
    const other = gzipSync(
      tarOf({ name: "model-1.0/model.onnx", content: "new" }, { name: "model-1.0/data/a" }),
    );
    offered(other);
    await pull();
    expect(readFileSync(join(folder, "tiny", "model.onnx"), "utf8")).toBe("new");
  });

  it("is not fetched again where only its unpacking was interrupted", async () => {
    offered(ARCHIVE);
    const path = join(folder, "whole");
    const get = () =>
      download({
        name: "tiny",
        address: `${server.url}/tiny.tar.gz`,
        path,
        maxBytes: 10_000,
        progress: () => undefined,
        makeRoom: () => Promise.resolve(),
      });
    const first = await get();
    expect(await get()).toEqual(first);
    expect(server.requests).toEqual(["/tiny.tar.gz", `/tiny.tar.gz bytes=${String(ARCHIVE.length)}-`]);
  });

  it("ends where the server sends nothing more", async () => {
    offered(ARCHIVE);
    server.hangAfter = 10;
    const hanging = download({
      name: "tiny",
      address: `${server.url}/tiny.tar.gz`,
      path: join(folder, "part"),
      maxBytes: 10_000,
      progress: () => undefined,
      makeRoom: () => Promise.resolve(),
      stallMs: 500,
    });
    await expect(hanging).rejects.toThrow("the server sends nothing more");
  });
});

describe("a pull that fails", () => {
  it.each<[string, () => Partial<PullOptions>, RegExp]>([
    ["an address without a file", () => ({}), /^tiny is not at http.*HTTP 404.*Look for a newer Parley\.$/],
    ["a file that is far too large", () => (offered(Buffer.alloc(ARCHIVE.length * 2)), {}), /larger than/],
    [
      "a full disk",
      () => (offered(ARCHIVE), { freeBytes: () => Promise.resolve(1_000) }),
      /needs 200 MB of free disk space/,
    ],
    [
      "something else than an archive",
      () => (offered(Buffer.from("<html>")), {}),
      /^The archive of tiny cannot be used/,
    ],
    [
      "an archive without the model",
      () => (offered(gzipSync(tarOf({ name: "model-1.0/data/a" }))), {}),
      /cannot be used: it lacks model\.onnx\.$/,
    ],
    [
      "an archive that points elsewhere",
      () => (offered(gzipSync(tarOf({ name: "../x" }))), {}),
      /cannot be used: it holds the name "\.\.\/x", which points to another folder\.$/,
    ],
    ["no server", () => ({ mirror: "http://127.0.0.1:9" }), /interrupted after 0\.0 MB/],
  ])("says why: %s", async (_what, prepare, said) => {
    await expect(pull(prepare())).rejects.toThrow(said);
    expect(isInstalled(readLock(folder), MODEL)).toBe(false);
    expect(leftovers()).toEqual([]);
  });

  it("does not take the page of a proxy for a model, and pins nothing", async () => {
    const page = Buffer.from("<html>Sign in</html>");
    server.files.set("/single-1.onnx", page);
    const model = { ...SINGLE, bytes: 1_000 };
    await expect(pull({ model })).rejects.toThrow(
      /gave 20 bytes in place of about 0\.0 MB: that is not single\./,
    );
    expect(readLock(folder)).toEqual({});
    expect(readdirSync(join(folder, "downloads"))).toEqual([]);
    server.files.set("/single-1.onnx", Buffer.alloc(1_000, 1));
    expect((await pull({ model })).outcome).toBe("pulled");
  });

  it.each([401, 403, 500])("says what HTTP %i means", async (status) => {
    server.refuses = status;
    await expect(pull()).rejects.toThrow(
      status === 500
        ? "answers with HTTP 500; try again later"
        : `refuses the download (HTTP ${String(status)})`,
    );
  });

  it("leaves the model that is there alone", async () => {
    offered(ARCHIVE);
    await pull();
    offered(gzipSync(tarOf({ name: "model-1.0/data/a" })));
    await expect(pull({ acceptsNew: true })).rejects.toThrow("it lacks model.onnx");
    expect(existsSync(join(folder, "tiny", "model.onnx"))).toBe(true);
    expect(isInstalled(readLock(folder), MODEL)).toBe(true);
  });

  it("says that the lock file is damaged", async () => {
    writeFileSync(join(folder, "lock.json"), "{");
    await expect(pull()).rejects.toThrow("is damaged; delete it");
  });
});

describe("a package of a model", () => {
  const name = "parley-toy-package";

  interface Manifest {
    readonly name: string;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }

  /** A registry that has each package in one version. */
  function publish(...packages: readonly Manifest[]): Record<string, string | undefined> {
    const own = { name, scripts: { install: "touch installed" } };
    for (const published of [own, ...packages]) {
      const manifest = { version: "1.2.3", ...published };
      const content = JSON.stringify(manifest);
      const tarball = gzipSync(tarOf({ name: "package/package.json", content }));
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const path = `/${published.name.replace("/", "%2f")}`;
      const dist = { tarball: `${server.url}${path}.tgz`, integrity };
      const versions = { "1.2.3": { ...manifest, dist } };
      const document = { name: published.name, "dist-tags": { latest: "1.2.3" }, versions };
      server.files.set(path, Buffer.from(JSON.stringify(document)));
      server.files.set(`${path}.tgz`, tarball);
    }
    return { ...process.env, npm_config_registry: server.url, npm_config_cache: join(folder, "cache") };
  }

  it("is installed by npm beside the models, in the version that is named, without its scripts", async () => {
    const env = publish();
    expect(findPackage(folder, name, "1.2.3")).toBeNull();
    await installPackage(folder, name, "1.2.3", env);
    const found = findPackage(folder, name, "1.2.3");
    expect(found).toBe(join(folder, "packages", "node_modules", name));
    expect(existsSync(join(found ?? "", "installed"))).toBe(false);
    expect(findPackage(folder, name, "1.2.4")).toBeNull();
  });

  it("has the part for this platform only, in a folder of its own, where npm would install several", async () => {
    const part = platformPart(LLAMA_PACKAGE) ?? "";
    const graphics = "@node-llama-cpp/graphics";
    const optionalDependencies = { [part]: "1.2.3", [graphics]: "1.2.3" };
    const env = publish({ name: part }, { name: graphics }, { name: LLAMA_PACKAGE, optionalDependencies });
    await installPackage(folder, LLAMA_PACKAGE, "1.2.3", env);
    await installPackage(folder, name, "1.2.3", env);
    const modules = join(folder, "packages", LLAMA_PACKAGE, "node_modules");
    expect(findPackage(folder, LLAMA_PACKAGE, "1.2.3")).toBe(join(modules, LLAMA_PACKAGE));
    expect(findPackage(folder, name, "1.2.3")).not.toBeNull();
    expect([part, graphics].map((one) => existsSync(join(modules, one)))).toEqual([true, false]);
    expect(server.requests).not.toContain("/@node-llama-cpp%2fgraphics.tgz");
    rmSync(join(modules, part), { recursive: true });
    expect(findPackage(folder, LLAMA_PACKAGE, "1.2.3")).toBeNull();
  });

  it("is named with npm's words where it cannot be installed", async () => {
    const env = publish();
    await expect(installPackage(folder, name, "9.9.9", env)).rejects.toThrow(
      /^The package parley-toy-package@9\.9\.9 cannot be installed: .*(?:ETARGET|notarget|No matching version)/s,
    );
    await expect(installPackage(folder, name, "1.2.3", { ...env, PATH: folder })).rejects.toThrow(
      "npm is not on the PATH",
    );
  });
});
