import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tarOf, type TarPart } from "../testing/archives.ts";
import { unpack, type UnpackOptions } from "./unpack.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-unpack-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function unpacked(archive: Buffer, options: Partial<UnpackOptions> = {}): Promise<string[]> {
  const path = join(folder, "archive.tar.gz");
  writeFileSync(path, archive);
  const into = join(folder, "into");
  const files = await unpack({
    archive: path,
    into,
    folder: "model",
    wants: () => true,
    maxBytes: 10_000,
    ...options,
  });
  return files.map(({ name }) => `${name}: ${readFileSync(join(into, name), "utf8")}`);
}

const packed = (...parts: readonly TarPart[]): Buffer => gzipSync(tarOf(...parts));

describe("an archive", () => {
  it("gives the wanted files of its folder, whatever else it has", async () => {
    const archive = packed(
      { name: "model/", type: "5" },
      { name: "model/model.onnx", content: "weights" },
      { name: "./model/tokens.txt", content: "" },
      { name: "model/deep/a", content: "A".repeat(600) },
      { name: "other/model.onnx", content: "other" },
      { name: "model/test.wav", content: "no" },
      { name: "model/link", type: "2" },
      { name: "model/hard", type: "1" },
      { name: "model/fifo", type: "6" },
      { name: "b", prefix: "model/prefixed", content: "P" },
      { name: "ignored", type: "g", content: "20 comment=something\n" },
      { name: "header", type: "x", content: "20 path=model/paxed\n" },
      { name: "cut", content: "X" },
      { name: "././@LongLink", type: "L", content: `model/${"l".repeat(120)}\0` },
      { name: "cut", content: "L" },
    );
    expect(await unpacked(archive, { wants: (name) => name !== "test.wav" })).toEqual([
      "model.onnx: weights",
      "tokens.txt: ",
      `deep/a: ${"A".repeat(600)}`,
      "prefixed/b: P",
      "paxed: X",
      `${"l".repeat(120)}: L`,
    ]);
  });

  it.each(["../evil", "model/../../evil", "/etc/evil", "model\\..\\evil"])(
    "may not point elsewhere: %s",
    async (name) => {
      await expect(unpacked(packed({ name, content: "x" }))).rejects.toThrow("points to another folder");
      expect(readdirSync(folder)).not.toContain("evil");
    },
  );

  it.each<[string, Buffer, string]>([
    ["too large", packed({ name: "model/a", content: "x".repeat(10_001) }), "more than 10000 bytes"],
    ["with a file twice", packed({ name: "model/a" }, { name: "model/a" }), "it has a twice"],
    ["with an unknown size", packed({ name: "model/a", size: "\x80\0\0\0\0\0\0\0\0\0\0\0" }), "unknown size"],
    [
      "with a long name",
      packed({ name: "x", type: "L", content: "n".repeat(5_000) }),
      "name that is too long",
    ],
    [
      "cut off",
      gzipSync(tarOf({ name: "model/a", content: "x".repeat(600) }).subarray(0, 700)),
      "ends too early",
    ],
    ["of another form", gzipSync(Buffer.alloc(1_024, 1)), "not a tar file"],
    ["not compressed", tarOf({ name: "model/a" }), "damaged"],
    ["damaged", packed({ name: "model/a", content: "x" }).subarray(0, 40), "damaged"],
  ])("is refused when it is %s", async (_what, archive, said) => {
    await expect(unpacked(archive)).rejects.toThrow(said);
  });
});
