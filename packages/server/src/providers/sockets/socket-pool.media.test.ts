import { afterEach, describe, expect, it } from "vitest";
import { neverAborted } from "../../ports/testing/collect.ts";
import { until } from "../../ports/testing/until.ts";
import { socketUrl } from "./socket-protocol.ts";
import { closeLineVendors, echo, openLineVendor, talk } from "./testing/line-vendor.ts";
import type { ServerConnection } from "./testing/socket-server.ts";

afterEach(closeLineVendors);

describe("a pool of sockets", () => {
  it("serves several requests on each socket, and opens the next when one is full", async () => {
    const waiting: [string, ServerConnection][] = [];
    const { vendor, pool, ask } = await openLineVendor((id, _word, connection) =>
      waiting.push([id, connection]),
    );
    const asked = [ask(), ask(), ask()];
    await until(() => waiting.length === 3);
    expect(vendor.connections).toHaveLength(2);
    expect(new Set(waiting.map(([id]) => id)).size).toBe(3);
    expect(vendor.requests[0]?.headers["x-api-key"]).toBe("secret-key-1");
    // In another order than they came, mixed.
    for (const [index, [id, { socket }]] of waiting.toReversed().entries())
      socket.send(`${id} word${String(index)}`);
    for (const [id, { socket }] of waiting) socket.send(`${id} end`);
    const heard = await Promise.all(asked);
    expect(heard.map(({ parts }) => parts)).toEqual([["word2"], ["word1"], ["word0"]]);
    expect(heard.every(({ error }) => error === null)).toBe(true);
    expect(pool.size).toBe(2);
  });

  it("lets requests wait in their order, refuses more than the limit, and those that wait too long", async () => {
    const held: [string, ServerConnection][] = [];
    const { timers, ask } = await openLineVendor((id, _word, connection) => held.push([id, connection]), {
      requestsPerSocket: 1,
      socketsPerTarget: 1,
      maxWaiting: 2,
      waitLimitMs: 5_000,
    });
    const first = ask();
    await until(() => held.length === 1);
    const abort = new AbortController();
    const [second, third] = [ask(), ask(talk, abort.signal)];
    expect((await ask()).error).toMatchObject({ type: "busy", message: "Vendor has 2 waiting requests" });
    abort.abort();
    expect((await third).error?.name).toBe("AbortError");
    const fourth = ask();
    timers.pass(4_000);
    for (const answer of [first, second]) {
      const [id, { socket }] = held.at(-1)!;
      socket.send(`${id} end`);
      expect((await answer).error).toBeNull();
      if (answer === first) await until(() => held.length === 2);
    }
    await until(() => held.length === 3);
    const late = ask();
    timers.pass(5_000);
    expect((await late).error).toMatchObject({ type: "busy" });
    const [id, { socket }] = held.at(-1)!;
    socket.send(`${id} end`);
    expect((await fourth).error).toBeNull();
  });

  it("keeps other requests of a socket when one is aborted or stops reading", async () => {
    const held: string[] = [];
    const { vendor, ask, pool, target } = await openLineVendor((id) => held.push(id), {
      requestsPerSocket: 3,
    });
    const abort = new AbortController();
    const [gone, kept] = [ask(talk, abort.signal), ask()];
    const left = pool.request(target, talk, neverAborted());
    const firstOfLeft = left.next();
    await until(() => held.length === 3);
    const socket = vendor.connections[0]!.socket;
    for (const id of held) socket.send(`${id} one`);
    expect(await firstOfLeft).toEqual({ done: false, value: "one" });
    await left.return();
    abort.abort(new Error("the caller spoke"));
    for (const id of held) socket.send(`${id} two`);
    for (const id of held) socket.send(`${id} end`);
    expect((await gone).error?.name).toBe("AbortError");
    expect(await kept).toEqual({ parts: ["one", "two"], error: null });
    expect(vendor.connections).toHaveLength(1);
  });

  it("repeats a request once when its used socket dies before it answered", async () => {
    const words: string[] = [];
    const { vendor, ask } = await openLineVendor((id, word, connection, index) => {
      words.push(word);
      if (index === 0 && words.length > 1) connection.tcp.destroy();
      else echo(id, word, connection, index);
    });
    expect((await ask()).error).toBeNull();
    expect(await ask()).toEqual({ parts: ["hello"], error: null });
    expect(words).toHaveLength(3);
    expect(vendor.connections).toHaveLength(2);
  });

  it.each([
    ["a fresh socket dies", 0, false],
    ["a used one dies after it answered", 1, true],
    ["the fresh one dies as well", 1, false],
  ])("does not repeat when %s", async (_name, good, answers) => {
    let asked = 0;
    const { vendor, ask } = await openLineVendor((id, word, connection, index) => {
      asked += 1;
      if (asked <= good) {
        echo(id, word, connection, index);
        return;
      }
      if (answers) connection.socket.send(`${id} part`);
      connection.socket.close(1_011, "broken");
    });
    for (let i = 0; i < good; i += 1) expect((await ask()).error).toBeNull();
    const { error } = await ask();
    expect(error).toMatchObject({ name: "EngineFailure", type: "closed" });
    expect(error?.message).toBe("Vendor closed the connection (code 1011: broken)");
    expect(vendor.connections).toHaveLength(good === 1 && !answers ? 2 : 1);
  });

  it("gives what came before a loss, and then the loss", async () => {
    const { ask } = await openLineVendor((id, _word, { socket }) => {
      socket.send(`${id} one`);
      socket.send(`${id} two`);
      socket.send("bye overload");
    });
    const { parts, error } = await ask();
    expect(parts).toEqual(["one", "two"]);
    expect(error).toMatchObject({ type: "overload", message: "Vendor said overload" });
  });
});

describe("the address of a socket", () => {
  it("keeps the path of the base and leaves out what is unset", () => {
    expect(
      socketUrl("https://api.example/base/", "/v1/speak", { a: "x y", b: null, c: undefined, d: 0 }),
    ).toBe("wss://api.example/base/v1/speak?a=x+y&d=0");
    expect(socketUrl("http://127.0.0.1:81", "/s")).toBe("ws://127.0.0.1:81/s");
  });
});
