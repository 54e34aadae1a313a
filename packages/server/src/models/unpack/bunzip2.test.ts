import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { bunzip2 } from "./bunzip2.ts";

/** Made by bzip2 1.0.8, with the sha256 of what was compressed. */
const FILES = {
  /** 4,023 bytes of words and runs of zeros. */
  text: "QlpoOTFBWSZTWQw3QksABENxgFBRBABAADLGRABAApnQOAMKYACaCU8lKoZMgEnqqg0AAhRUAD1ON0kEJYsyiwwsFjJoI0WKSYJYjJBpjAEQO6ApBKqJxAU/H0qskISTKYgADMSTSgYobDZAiJSZpJCZIMMSAYRQmkMoMyZiZIyEsmRkAKARsKCiAZgIwAUyRXXh2aNd+cq5iZVrDK4R4aAkVeXpFdZ0XUSu21Ioy1UoUzQvIjCUpMsiUSTJJm/gB3HrdIqk+0Bkthy9nk+ohUfIykqe0ZIuiXDGSRqVboPpMaouLkU0bDckjylE+2edZyqn3wHcPj3pNSMWsquLu1dW7HLJX4sjwuupnpZSXpB8wLiJqZOVGrlh21jEVubbQbRlY25lcVRPiqJ6AFIAU4qicQFP4u5IpwoSAYboSWA=",
  /** 1,000,272 bytes of long runs, in blocks of 100,000. */
  runs: "QlpoMTFBWSZTWXvs7UQAB6pBIOAAPgBAAAAIIABQgyYgTVUyaek3znVSQzIgRcd4zGd03kpIa/F3JFOFCQe+ztRA",
  /** 700 random bytes. */
  random:
    "QlpoOTFBWSZTWaCfWs4AAIz///1///5/3//////6f+/////////+/e/3//////s/////wAH3My3a5kAAADQAADRoAAAAAAAADQANA0GgAAAGgAAAAAAAAAZANMgAaACDQJjQT00GgEwAANA0CY0mAaAAaAAGgT0mYhkCYajAABoNAABGAAAAADQAEMaEQAGgADQAAAAAAaABkAAANAAAGgAaA0BoAAGgAAAAGgAAAAAaaAgDQANAAA0AAADQAABoBoaAGjQBoAaAAAAAANAAANAAAAAAAAGgATsNraLIU+ajJHE6uQkqO63PwBUDqDAnx/jYvXwCOVpHwX7KAA3U61/D3U1rOvBiovbJz+SKw9/qMHnYPxhS0m6jMYx+RKFLk2xEpHJtJ6sC0rcrs9hdmgIn2jlppEAg818q70FKpWnZ6Wq3sFvOVJxuhHMD4hYvGUgP3BbquUO4s4GzJ+Kx4dF6CgGDR+uIArOtAr1IHqzLp9hu0h96PBDCqKGSAyXEHHJ7uwr1sg9E4BoOqOwoAJRj2S8BVfxb/a07rF3T6zU0efhOxSqFqcKGGz+bzT10GCuwRs4wMe+jOcf9TllWjWurER5zoHXwhALLCkCnQEl0w8wG6VZ+oQTE7UYNs1C9L8ce7ke3D4lkCD2iwZGhheOD9CpDKk8XEhynKJcshGDk9CMLIXMlqKBJBPLK7Ea276izQYGm8hqBLCad9PiAgYn5NTqR5FatJ5dkRREDNkG83fcSEZyY2jS+buVTp6w8MD2dMCX8L5I0um9pCVoy3xHLvZ+V4ACLPPr5lTtGUBtCTR7cqYQ2W1CyBJMYJgClkMZQaVAIIYKwiOox+r0Aq5kFFvr4MxQCUEqLDzBBgbmqWAH6zo+qB/m5MIEQBDQo0WKBBKX5DIoHIah87kQogaj65rKA16D4PcTQCzexF1oLfYFYX/N8wv8vzysrSs5U7eYIm9P3jBAAlLUw+waNovxrB2gfwEiBAo1Rf512mZMpIoYfMp6NhnyV41wfjQ5nXL4CEaRgoP7ABhayeOkiA6IIIC7EuWba7/FAnfFCvbONIMOPnhfbNmf9sStkCTEuI9Y8kAPEPzjnO+aEG09JcqKMcAJMd1lP+uCHfZlrgjfYHe4bOOAv6Ef73ujCUCzcTVjiOSA3NG1T1cziZnssD1eJ9McLAj3ltmLkBSRf+LuSKcKEhQT61nA=",
  empty: "QlpoORdyRThQkAAAAAA=",
  one: "QlpoOTFBWSZTWXdLsBQAAAAAgABAIAAhGEaC7kinChIO6XYCgA==",
} as const;
const SHA256 = {
  text: "437093edde0025a5fd40709b22fcd07257a92d544896b1d8bb5e97351f478371",
  runs: "fe4cfc4655d2e09727a16df1351021654a0007c1bca668519e7d2b39521e15e5",
  random: "9f37af5044db0c9dea13a8512320ef11bdf0b381f593e09cb9095f69807af5da",
  empty: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  one: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
} as const satisfies Record<keyof typeof FILES, string>;

const bytesOf = (name: keyof typeof FILES): Buffer => Buffer.from(FILES[name], "base64");

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function plain(bytes: Buffer, size = 16_384): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of bunzip2(inPieces(bytes, size))) parts.push(part);
  return Buffer.concat(parts);
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("bzip2", () => {
  it.each(Object.keys(FILES) as (keyof typeof FILES)[])("is decompressed, cut anywhere: %s", async (name) => {
    for (const size of [1, 7, 100_000]) expect(sha256(await plain(bytesOf(name), size))).toBe(SHA256[name]);
  });

  it("may be several files behind each other", async () => {
    const both = await plain(Buffer.concat([bytesOf("one"), bytesOf("text")]));
    expect(both.length).toBe(1 + 4_023);
  });

  it("never gives other content where a single bit is wrong", async () => {
    let refused = 0;
    for (let at = 0; at < bytesOf("text").length; at += 1) {
      const damaged = bytesOf("text");
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      const outcome = await plain(damaged).then(sha256, (error: unknown) => error);
      if (outcome === SHA256.text) continue;
      refused += 1;
      expect(outcome).toMatchObject({ name: "ArchiveError" });
    }
    // A few bits say nothing, such as those of codes that no symbol uses.
    expect(refused).toBeGreaterThan(bytesOf("text").length * 0.9);
  });

  it("is refused where it is cut off", async () => {
    const whole = bytesOf("text");
    for (let length = 1; length < whole.length; length += 13)
      await expect(plain(whole.subarray(0, length))).rejects.toMatchObject({ name: "ArchiveError" });
  });

  it("is refused where it is something else, or followed by something", async () => {
    await expect(plain(Buffer.from("<html>not found</html>"))).rejects.toThrow("it is not a bzip2 file");
    const followed = Buffer.concat([bytesOf("one"), Buffer.from("something else")]);
    await expect(plain(followed)).rejects.toThrow("something follows its end");
  });
});
