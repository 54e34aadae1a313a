import { describe, expect, it } from "vitest";
import { trustedBy } from "../net/trusted-proxies.ts";
import { ConnectionCounts } from "./connection-counts.ts";

const counts = (maxPerAddress = 2) =>
  new ConnectionCounts({ maxPerAddress, isTrustedProxy: trustedBy(["10.0.0.0/8"]) });

describe("connections of an address", () => {
  it("are refused beyond the limit, until one of them is released", () => {
    const open = counts();
    const first = open.admit("192.0.2.1");
    expect(open.admit("::ffff:192.0.2.1")).not.toBeNull();
    expect(open.admit("192.0.2.1")).toBeNull();
    expect(open.admit("192.0.2.2")).not.toBeNull();
    first?.();
    first?.();
    expect(open.admit("192.0.2.1")).not.toBeNull();
    expect(open.admit("192.0.2.1")).toBeNull();
  });

  it("are counted for a whole IPv6 network", () => {
    const open = counts();
    open.admit("2001:db8::1");
    open.admit("2001:db8::2");
    expect(open.admit("2001:db8::3")).toBeNull();
    expect(open.admit("2001:db8:0:1::3")).not.toBeNull();
  });

  it.each(["10.1.2.3", "::ffff:10.1.2.3", "127.0.0.1", "::1"])("are not limited for %s", (address) => {
    const open = counts();
    for (let n = 0; n < 10; n += 1) expect(open.admit(address)).not.toBeNull();
  });

  it("are not limited where the limit is off", () => {
    const open = counts(0);
    for (let n = 0; n < 10; n += 1) expect(open.admit("192.0.2.1")).not.toBeNull();
  });
});
