import { describe, expect, it } from "vitest";
import { isLoopbackUrl, readLoopbackId } from "./loopback.ts";

describe("addresses on the loopback interface", () => {
  it.each([
    ["http://127.0.0.1:8090", true],
    ["http://127.1.2.3:8090", true],
    ["http://localhost:8090", true],
    ["http://[::1]:8090", true],
    ["http://10.0.0.5:8090", false],
    ["http://[fd00::5]:8090", false],
    ["http://127.0.0.1.example.com:8090", false],
    ["http://node-1:8090", false],
    ["nonsense", false],
  ])("%s: %s", (url, isLoopback) => {
    expect(isLoopbackUrl(url)).toBe(isLoopback);
  });

  it("are told apart by an id that stays the same in one process", async () => {
    const id = await readLoopbackId();
    expect(id).not.toBe("");
    expect(await readLoopbackId()).toBe(id);
  });
});
