import { describe, expect, it } from "vitest";
import { addressAllowed, NO_PRIVATE_TARGETS, portAllowed, readAllowedTargets } from "./address-filter.ts";
import { refusedLiteral } from "./target-url.ts";

describe("addressAllowed", () => {
  it.each([
    ["unspecified", "0.0.0.0"],
    ["this network", "0.1.2.3"],
    ["private", "10.0.0.1"],
    ["private", "10.255.255.255"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.254"],
    ["private", "192.168.1.1"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local", "169.254.1.1"],
    ["metadata", "169.254.169.254"],
    ["metadata of containers", "169.254.170.2"],
    ["metadata", "100.100.100.200"],
    ["metadata", "192.0.0.192"],
    ["metadata", "168.63.129.16"],
    ["carrier NAT", "100.64.0.1"],
    ["carrier NAT", "100.127.255.255"],
    ["protocol assignments", "192.0.0.1"],
    ["documentation", "192.0.2.1"],
    ["documentation", "198.51.100.7"],
    ["documentation", "203.0.113.9"],
    ["relays", "192.88.99.1"],
    ["benchmarking", "198.18.0.1"],
    ["benchmarking", "198.19.255.255"],
    ["multicast", "224.0.0.1"],
    ["multicast", "239.255.255.250"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["site-local", "fec0::1"],
    ["unique local", "fc00::1"],
    ["unique local", "fd12:3456::1"],
    ["metadata", "fd00:ec2::254"],
    ["metadata", "fd20:ce::254"],
    ["multicast", "ff02::1"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["benchmarking", "2001:2::1"],
    ["discard", "100::1"],
    ["segment routing", "5f00::1"],
    ["not given out", "4000::1"],
    ["mapped loopback", "::ffff:127.0.0.1"],
    ["mapped loopback", "::ffff:7f00:1"],
    ["mapped metadata", "::ffff:169.254.169.254"],
    ["compatible", "::127.0.0.1"],
    ["compatible public", "::8.8.8.8"],
    ["translated", "::ffff:0:10.0.0.1"],
    ["NAT64 private", "64:ff9b::10.0.0.1"],
    ["NAT64 metadata", "64:ff9b::a9fe:a9fe"],
    ["local NAT64", "64:ff9b:1::8.8.8.8"],
    ["6to4", "2002:7f00:1::"],
    ["6to4 of a public address", "2002:808:808::1"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["ISATAP", "2606:4700::5efe:10.0.0.1"],
    ["ISATAP", "2606:4700::200:5efe:10.0.0.1"],
    ["no address", "localhost"],
    ["no address", ""],
    ["short", "127.1"],
    ["octal", "0177.0.0.1"],
    ["decimal", "2130706433"],
  ])("refuses %s: %s", (_what, address) => {
    expect(addressAllowed(address, NO_PRIVATE_TARGETS)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "169.253.255.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ])("allows the public address %s", (address) => {
    expect(addressAllowed(address, NO_PRIVATE_TARGETS)).toBe(true);
  });

  it("allows what is listed, however it is written, and nothing beside it", () => {
    const allowed = readAllowedTargets("127.0.0.1,10.1.0.0/16 fd00:1::/32");
    for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "10.1.255.1", "fd00:1::9", "1.1.1.1"]) {
      expect(addressAllowed(address, allowed)).toBe(true);
    }
    for (const address of ["127.0.0.2", "10.2.0.1", "fd00:2::1", "169.254.169.254", "::1"]) {
      expect(addressAllowed(address, allowed)).toBe(false);
    }
  });

  it("allows everything but nonsense when everything is allowed", () => {
    expect(addressAllowed("169.254.169.254", true)).toBe(true);
    expect(addressAllowed("127.1", true)).toBe(false);
  });
});

describe("portAllowed", () => {
  it.each([0, 25, 6000, 6001, 6063, 65_536])("refuses %d", (port) => {
    expect(portAllowed(port)).toBe(false);
  });

  it.each([1, 24, 26, 80, 443, 5999, 6064, 8080, 65_535])("allows %d", (port) => {
    expect(portAllowed(port)).toBe(true);
  });
});

describe("readAllowedTargets", () => {
  it.each([
    "yes",
    "127.1",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "fd00::/129",
    "fe80::1%eth0",
    "a.example",
  ])("refuses %s", (text) => {
    expect(() => readAllowedTargets(text)).toThrow("must be true, false, or a comma-separated list");
  });

  it("bounds the list", () => {
    expect(() => readAllowedTargets(Array.from({ length: 201 }, () => "10.0.0.1").join(","))).toThrow(
      "at most 200",
    );
  });
});

describe("refusedLiteral", () => {
  it.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://１２７.0.0.1/",
    "http://0/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost:8080/",
    "https://example.com:25/",
    "https://example.com:6000/",
    "http://1.1.1.1:6063/",
  ])("refuses %s", (url) => {
    expect(refusedLiteral(url, NO_PRIVATE_TARGETS)).toBe("address not allowed");
  });

  it.each([
    ["ftp://example.com/", "not an http URL"],
    ["file:///etc/passwd", "not an http URL"],
    ["ws://example.com/", "not an http URL"],
    ["example.com", "not a URL"],
    ["http://", "not a URL"],
    ["http://300.1.1.1/", "not a URL"],
    ["http://user@example.com/", "credentials in the URL are not allowed"],
    ["http://:secret@example.com/", "credentials in the URL are not allowed"],
  ])("refuses %s", (url, reason) => {
    expect(refusedLiteral(url, NO_PRIVATE_TARGETS)).toBe(reason);
  });

  it("bounds the length", () => {
    const url = `http://example.com/${"a".repeat(16_384)}`;
    expect(refusedLiteral(url, NO_PRIVATE_TARGETS)).toBe("longer than 16384 characters");
  });

  it("takes what may be stored", () => {
    expect(refusedLiteral("https://example.com:8443/x?y=1", NO_PRIVATE_TARGETS)).toBeNull();
    expect(refusedLiteral("http://10.0.0.1.example.com/", NO_PRIVATE_TARGETS)).toBeNull();
    expect(refusedLiteral("wss://example.com/", NO_PRIVATE_TARGETS, "websocket")).toBeNull();
    expect(refusedLiteral("https://example.com/", NO_PRIVATE_TARGETS, "websocket")).toBe("not a ws URL");
    expect(refusedLiteral("http://localhost:1/", readAllowedTargets("127.0.0.1"))).toBeNull();
    expect(refusedLiteral("http://127.0.0.1:25/", true)).toBe("address not allowed");
  });
});
