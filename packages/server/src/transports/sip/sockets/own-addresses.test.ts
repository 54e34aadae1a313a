import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { addressTowards, ownAddresses } from "./own-addresses.ts";

const one = (address: string, internal = false): NetworkInterfaceInfo => {
  const base = { address, netmask: "", mac: "", internal, cidr: null };
  return address.includes(":") ? { ...base, family: "IPv6", scopeid: 0 } : { ...base, family: "IPv4" };
};
const MACHINE = {
  lo: [one("127.0.0.1", true), one("::1", true)],
  eth0: [one("192.0.2.7"), one("fe80::7"), one("2001:db8::7")],
};

describe("the own addresses", () => {
  it.each([
    ["127.0.0.1", null, { ipv4: "127.0.0.1", ipv6: null }],
    ["10.0.0.1", "203.0.113.5", { ipv4: "203.0.113.5", ipv6: null }],
    ["0.0.0.0", null, { ipv4: "192.0.2.7", ipv6: null }],
    ["::1", null, { ipv4: null, ipv6: "::1" }],
    ["::", null, { ipv4: "192.0.2.7", ipv6: "2001:db8::7" }],
    ["::", "203.0.113.5", { ipv4: "203.0.113.5", ipv6: "2001:db8::7" }],
    ["::", "2001:db8::9", { ipv4: "192.0.2.7", ipv6: "2001:db8::9" }],
  ])("of sockets at %s, announced as %s", (bind, announced, addresses) => {
    expect(ownAddresses(bind, announced, MACHINE)).toEqual(addresses);
  });

  it("are those of the loopback where the machine has no others", () => {
    expect(ownAddresses("0.0.0.0", null, { lo: MACHINE.lo })).toEqual({ ipv4: "127.0.0.1", ipv6: null });
    expect(ownAddresses("::", null, { lo: MACHINE.lo })).toEqual({ ipv4: null, ipv6: "::1" });
  });

  it("have the family of the peer where both are served", () => {
    const both = { ipv4: "192.0.2.7", ipv6: "2001:db8::7" };
    expect(["192.0.2.1", "2001:db8::1"].map((peer) => addressTowards(peer, both))).toEqual([
      both.ipv4,
      both.ipv6,
    ]);
    expect(addressTowards("2001:db8::1", { ...both, ipv6: null })).toBe(both.ipv4);
  });
});
