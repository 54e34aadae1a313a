import { describe, expect, it } from "vitest";
import { readTrustedProxies, trustedBy } from "./trusted-proxies.ts";

describe("readTrustedProxies", () => {
  it.each([
    ["", []],
    [" 10.0.0.0/8, 192.0.2.1  fd00::/8,::1 ", ["10.0.0.0/8", "192.0.2.1", "fd00::/8", "::1"]],
    ["0.0.0.0/0", ["0.0.0.0/0"]],
  ])("reads %j", (text, entries) => {
    expect(readTrustedProxies(text)).toEqual(entries);
  });

  it.each([
    "true",
    "10.0.0.0/33",
    "10.0.0/8",
    "::1/129",
    "fe80::1%eth0",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "1/-1",
  ])("refuses %j", (text) => {
    expect(() => readTrustedProxies(text)).toThrow("must be a list of addresses and ranges");
  });

  it("has a limit", () => {
    expect(() => readTrustedProxies("10.0.0.1,".repeat(201))).toThrow("at most 200");
  });
});

describe("trustedBy", () => {
  const trusted = trustedBy(["10.0.0.0/8", "192.0.2.1", "fd00::/8"]);

  it.each(["10.0.0.1", "10.255.255.255", "192.0.2.1", "::ffff:10.1.2.3", "fd00::1", "fdff::9%eth0"])(
    "knows %s",
    (address) => {
      expect(trusted(address)).toBe(true);
    },
  );

  it.each([
    "11.0.0.1",
    "192.0.2.2",
    "::ffff:11.1.2.3",
    "fe80::1",
    "::1",
    "unknown",
    "",
    "10.0.0.1:443",
    "10.1",
  ])("does not know %s", (address) => {
    expect(trusted(address)).toBe(false);
  });

  it("trusts nobody without a list", () => {
    expect(["127.0.0.1", "::1", "10.0.0.1"].map(trustedBy([]))).toEqual([false, false, false]);
  });
});
