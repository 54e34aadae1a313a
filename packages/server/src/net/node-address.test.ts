import { describe, expect, it } from "vitest";
import { printNodeAddress, readNodeAddress } from "./node-address.ts";

describe("readNodeAddress", () => {
  it.each([
    ["http://10.0.0.5:8090", { hostname: "10.0.0.5", port: 8090, bind: "10.0.0.5" }],
    ["http://[fd00::5]:8090/", { hostname: "[fd00::5]", port: 8090, bind: "fd00::5" }],
    ["http://node-1.internal:80", { hostname: "node-1.internal", port: 80, bind: null }],
    ["http://127.0.0.1:0", { hostname: "127.0.0.1", port: 0, bind: "127.0.0.1" }],
  ])("reads %s", (text, address) => {
    expect(readNodeAddress(text)).toEqual(address);
  });

  it.each([
    "10.0.0.5:8090",
    "https://10.0.0.5:8090",
    "http://10.0.0.5",
    "http://10.0.0.5:8090/x",
    "http://u:p@10.0.0.5:8090",
    "http://10.0.0.5:8090?x",
    "",
  ])("refuses %j", (text) => {
    expect(() => readNodeAddress(text)).toThrow(/^must /);
  });

  it("prints the port that was taken", () => {
    expect(printNodeAddress(readNodeAddress("http://[fd00::5]:0"), 4711)).toBe("http://[fd00::5]:4711");
  });
});
