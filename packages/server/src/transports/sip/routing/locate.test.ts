import { describe, expect, it } from "vitest";
import { NO_PRIVATE_TARGETS } from "../../../net/address-filter.ts";
import { TargetRefused } from "../../../net/target-url.ts";
import { parseUri } from "../message/uri.ts";
import type { SipTransportName } from "../user-agent.ts";
import { locate, type LocateOptions, type SipDns } from "./locate.ts";

const NAPTR = { flags: "s", order: 10, preference: 10 };

/** Names of a trunk, and how often they were asked for. */
function zone(records: {
  readonly naptr?: Readonly<
    Record<string, readonly { protocol: string; replacement: string; preference?: number }[]>
  >;
  readonly srv?: Readonly<
    Record<string, readonly [name: string, port: number, priority: number, weight: number][]>
  >;
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
}): SipDns {
  return {
    naptr: (name) =>
      Promise.resolve((records.naptr?.[name] ?? []).map((record) => ({ ...NAPTR, ...record }))),
    srv: (name) =>
      Promise.resolve(
        (records.srv?.[name] ?? []).map(([host, port, priority, weight]) => ({
          name: host,
          port,
          priority,
          weight,
        })),
      ),
    addresses: (name) => Promise.resolve(records.addresses?.[name] ?? []),
  };
}

async function find(uri: string, dns: SipDns, options: Partial<LocateOptions> = {}): Promise<string[]> {
  const parsed = parseUri(uri);
  if (parsed === null) throw new Error("no URI");
  const transports: SipTransportName[] = ["udp", "tcp", "tls"];
  const hops = await locate(parsed, {
    dns,
    allowed: NO_PRIVATE_TARGETS,
    transports,
    families: [4],
    random: () => 0.5,
    ...options,
  });
  return hops.map(({ transport, address, port, serverName }) =>
    [transport, address, String(port), ...(serverName === null ? [] : [serverName])].join(" "),
  );
}

const A = { "trunk.example": ["1.1.1.1"], "a.example": ["1.1.1.2"], "b.example": ["1.1.1.3", "1.1.1.4"] };

describe("locate", () => {
  it.each([
    ["sip:1.1.1.1", ["udp 1.1.1.1 5060"]],
    ["sip:1.1.1.1:5080;transport=tcp", ["tcp 1.1.1.1 5080"]],
    ["sips:1.1.1.1", ["tls 1.1.1.1 5061"]],
    ["sip:trunk.example", ["udp 1.1.1.1 5060"]],
    ["sip:trunk.example:5070", ["udp 1.1.1.1 5070"]],
    ["sip:trunk.example;transport=tls", ["tls 1.1.1.1 5061 trunk.example"]],
    ["sips:trunk.example:443", ["tls 1.1.1.1 443 trunk.example"]],
  ])("finds %s", async (uri, expected) => {
    expect(await find(uri, zone({ addresses: A }))).toEqual(expected);
  });

  it("takes SRV records by priority and weight, and the certificate's name from the URI", async () => {
    const srv = {
      "_sips._tcp.trunk.example": [
        ["b.example", 5062, 20, 1],
        ["a.example", 5061, 10, 1],
      ] as [string, number, number, number][],
    };
    expect(await find("sips:trunk.example", zone({ srv, addresses: A }))).toEqual([
      "tls 1.1.1.2 5061 trunk.example",
      "tls 1.1.1.3 5062 trunk.example",
      "tls 1.1.1.4 5062 trunk.example",
    ]);
  });

  it("follows NAPTR to the transport that the trunk prefers and we have", async () => {
    const dns = zone({
      naptr: {
        "trunk.example": [
          { protocol: "SIPS+D2T", replacement: "tls.trunk.example", preference: 1 },
          { protocol: "SIP+D2T", replacement: "tcp.trunk.example", preference: 2 },
        ],
      },
      srv: {
        "tls.trunk.example": [["a.example", 5061, 1, 1]],
        "tcp.trunk.example": [["a.example", 5060, 1, 1]],
      },
      addresses: A,
    });
    expect(await find("sip:trunk.example", dns, { transports: ["udp", "tcp"] })).toEqual([
      "tcp 1.1.1.2 5060",
    ]);
    expect((await find("sip:trunk.example", dns))[0]).toBe("tls 1.1.1.2 5061 trunk.example");
  });

  it.each([
    ["a private address", "sip:10.0.0.1"],
    ["this machine", "sip:localhost"],
    ["a port of another protocol", "sip:1.1.1.1:25"],
    ["a name with a private address among others", "sip:mixed.example"],
    ["an SRV record with a private name", "sip:srv.example"],
  ])("refuses %s", async (_what, uri) => {
    const dns = zone({
      srv: { "_sip._udp.srv.example": [["inner.example", 5060, 1, 1]] },
      addresses: { "mixed.example": ["1.1.1.1", "10.0.0.1"], "inner.example": ["192.168.1.1"] },
    });
    await expect(find(uri, dns)).rejects.toThrow(TargetRefused);
  });

  it.each([
    ["a name without addresses", "sip:nobody.example", "no address"],
    ["a transport that is not enabled", "sips:1.1.1.1", "not enabled"],
    ["a transport that is not known", "sip:1.1.1.1;transport=sctp", "not known"],
  ])("fails for %s", async (_what, uri, message) => {
    await expect(find(uri, zone({}), { transports: ["udp", "tcp"] })).rejects.toThrow(message);
  });

  it("uses no more than four addresses", async () => {
    const addresses = { "many.example": Array.from({ length: 30 }, (_, n) => `1.1.2.${String(n)}`) };
    expect(await find("sip:many.example", zone({ addresses }))).toHaveLength(4);
  });
});
