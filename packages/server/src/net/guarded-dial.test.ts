import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { NO_PRIVATE_TARGETS, readAllowedTargets, type AllowedTargets } from "./address-filter.ts";
import { connectionTo, openGuardedDial, type Connect } from "./guarded-dial.ts";
import { TargetRefused, type Target } from "./target-url.ts";

const target = (host: string, port = 443): Target => ({ host, port, secure: true });

/** A network without a network: says which addresses were dialled, and gives sockets that claim an address. */
function fakeNet(answers: readonly (readonly string[])[], reached?: string) {
  const dialled: (readonly string[])[] = [];
  const resolved: string[] = [];
  const destroyed: string[] = [];
  const connect: Connect = (_target, addresses) => {
    dialled.push(addresses);
    const remoteAddress = reached ?? addresses[0];
    const destroy = () => destroyed.push(String(remoteAddress));
    return Promise.resolve({ remoteAddress, destroy } as unknown as Socket);
  };
  const resolve = (host: string) => {
    resolved.push(host);
    return Promise.resolve(answers[resolved.length - 1] ?? answers.at(-1) ?? []);
  };
  const dial = (allowed: AllowedTargets = NO_PRIVATE_TARGETS) =>
    openGuardedDial({ allowed, resolve, connect });
  return { dial, dialled, resolved, destroyed };
}

describe("openGuardedDial", () => {
  it("connects to the very addresses that were checked", async () => {
    const net = fakeNet([["1.1.1.1", "2606:4700::1111"]]);
    await net.dial()(target("example.com"));
    expect(net.dialled).toEqual([["1.1.1.1", "2606:4700::1111"]]);
  });

  it("refuses a name with one private address among public ones", async () => {
    const net = fakeNet([["1.1.1.1", "10.0.0.1", "8.8.8.8"]]);
    await expect(net.dial()(target("example.com"))).rejects.toThrow(TargetRefused);
    expect(net.dialled).toEqual([]);
  });

  it("asks once for each connection, so a name that moves cannot slip through", async () => {
    const net = fakeNet([["1.1.1.1"], ["127.0.0.1"]]);
    const dial = net.dial();
    await dial(target("rebinding.example"));
    expect(net.resolved).toHaveLength(1);
    expect(net.dialled).toEqual([["1.1.1.1"]]);
    await expect(dial(target("rebinding.example"))).rejects.toThrow("address not allowed");
    expect(net.dialled).toHaveLength(1);
  });

  it("checks an address that is written out, without asking a resolver", async () => {
    const net = fakeNet([["1.1.1.1"]]);
    await expect(net.dial()(target("10.0.0.1"))).rejects.toThrow(TargetRefused);
    await expect(net.dial()(target("::1"))).rejects.toThrow(TargetRefused);
    await expect(net.dial()(target("localhost"))).rejects.toThrow(TargetRefused);
    await net.dial(readAllowedTargets("10.0.0.0/8"))(target("10.0.0.1"));
    expect(net.dialled).toEqual([["10.0.0.1"]]);
    expect(net.resolved).toEqual([]);
  });

  it("refuses ports that are never allowed, even where everything else is", async () => {
    const net = fakeNet([["1.1.1.1"]]);
    for (const port of [25, 6000, 6063]) {
      await expect(net.dial(true)(target("example.com", port))).rejects.toThrow(TargetRefused);
    }
    expect(net.dialled).toEqual([]);
  });

  it("drops a socket that is not where it should be", async () => {
    const net = fakeNet([["1.1.1.1"]], "169.254.169.254");
    await expect(net.dial()(target("example.com"))).rejects.toThrow(TargetRefused);
    expect(net.destroyed).toEqual(["169.254.169.254"]);
  });

  it("refuses a name without addresses and one that answers with nonsense", async () => {
    await expect(fakeNet([[]]).dial()(target("example.com"))).rejects.toThrow("no address");
    await expect(fakeNet([["1.1.1.1", "x"]]).dial()(target("example.com"))).rejects.toThrow(TargetRefused);
  });

  it("gives up waiting for the resolver when aborted", async () => {
    const controller = new AbortController();
    const dial = openGuardedDial({
      allowed: NO_PRIVATE_TARGETS,
      resolve: () => new Promise(() => undefined),
      connect: () => Promise.reject(new Error("must not connect")),
    });
    const dialling = dial(target("example.com"), controller.signal);
    controller.abort(new Error("enough"));
    await expect(dialling).rejects.toThrow("enough");
  });
});

describe("connectionTo", () => {
  it("gives a refusal to whoever asked for the connection", async () => {
    const net = fakeNet([["10.0.0.1"]]);
    const error = await new Promise<Error | null>((resolve) => {
      connectionTo(net.dial(), target("example.com"))({}, resolve);
    });
    expect(error).toBeInstanceOf(TargetRefused);
  });
});
