import { afterEach, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { until } from "../../ports/testing/until.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { type Exchange, SocketPool, type SocketPoolOptions } from "./socket-pool.ts";
import { type SocketProtocol, type SocketTarget, socketUrl } from "./socket-protocol.ts";
import { ManualTimers } from "./testing/manual-timers.ts";
import {
  openSocketServer,
  type ServerConnection,
  type SocketServerOptions,
} from "./testing/socket-server.ts";

/** What the test's vendor says: `id word`. */
const SILENCE_LIMIT_MS = 60_000;
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const protocol: SocketProtocol<string> = {
  read: (data) => {
    if (typeof data !== "string" || data.startsWith("{"))
      throw new Error(`not a line: ${String(data)} secret-key-1`);
    const [to = "", message = ""] = data.split(" ");
    if (to === "bye") return { lost: new EngineFailure(`Vendor said ${message}`, { type: message }) };
    return to === "all" ? { to: null, message } : { to, message };
  },
};

/** Says hello, and yields what comes until `end`. */
const talk: Exchange<string, string> = {
  async *run(request) {
    request.send(`${request.id} hello`);
    for (;;) {
      const message = await request.next(SILENCE_LIMIT_MS);
      if (message === "end") return;
      yield message;
    }
  },
};

type Answer = (id: string, word: string, connection: ServerConnection, index: number) => void;

/** Answers each line of a request; `index` counts the connections. */
async function open(
  answer: Answer,
  options: Partial<SocketPoolOptions> = {},
  server: SocketServerOptions = {},
) {
  let count = 0;
  const vendor = await openSocketServer({
    ...server,
    connected: (connection) => {
      server.connected?.(connection);
      const index = count;
      count += 1;
      connection.socket.on("message", (data: Buffer) => {
        const [id = "", word = ""] = data.toString().split(" ");
        answer(id, word, connection, index);
      });
    },
  });
  const log: string[] = [];
  const timers = new ManualTimers();
  const pool = new SocketPool<string>({
    vendor: "Vendor",
    log: (message) => log.push(message),
    requestsPerSocket: 2,
    socketsPerTarget: 2,
    idleLimitMs: 30_000,
    timers,
    ...options,
  });
  opened.push(vendor, pool);
  const target: SocketTarget<string> = {
    url: socketUrl(vendor.baseUrl, "/speak"),
    headers: { "x-api-key": "secret-key-1" },
    secrets: ["secret-key-1"],
    protocol,
  };
  const ask = (exchange = talk, signal = neverAborted(), on = target) =>
    collect(pool.request(on, exchange, signal));
  return { vendor, pool, timers, log, target, ask };
}

const echo: Answer = (id, word, { socket }) => {
  socket.send(`${id} ${word}`);
  socket.send(`${id} end`);
};

describe("a pool of sockets", () => {
  it("serves several requests on each socket, and opens the next when one is full", async () => {
    const waiting: [string, ServerConnection][] = [];
    const { vendor, pool, ask } = await open((id, _word, connection) => waiting.push([id, connection]));
    const asked = [ask(), ask(), ask()];
    await until(() => waiting.length === 3);
    expect(vendor.connections).toHaveLength(2);
    expect(new Set(waiting.map(([id]) => id)).size).toBe(3);
    expect(vendor.requests[0]?.headers["x-api-key"]).toBe("secret-key-1");
    // In another order than they came, mixed.
    for (const [index, [id, { socket }]] of [...waiting].reverse().entries())
      socket.send(`${id} word${String(index)}`);
    for (const [id, { socket }] of waiting) socket.send(`${id} end`);
    const heard = await Promise.all(asked);
    expect(heard.map(({ parts }) => parts)).toEqual([["word2"], ["word1"], ["word0"]]);
    expect(heard.every(({ error }) => error === null)).toBe(true);
    expect(pool.size).toBe(2);
  });

  it("lets requests wait in their order, refuses more than the limit, and those that wait too long", async () => {
    const held: [string, ServerConnection][] = [];
    const { timers, ask } = await open((id, _word, connection) => held.push([id, connection]), {
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
    const { vendor, ask, pool, target } = await open((id) => held.push(id), { requestsPerSocket: 3 });
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
    const { vendor, ask } = await open((id, word, connection, index) => {
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
    const { vendor, ask } = await open((id, word, connection, index) => {
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
    const { ask } = await open((id, _word, { socket }) => {
      socket.send(`${id} one`);
      socket.send(`${id} two`);
      socket.send("bye overload");
    });
    const { parts, error } = await ask();
    expect(parts).toEqual(["one", "two"]);
    expect(error).toMatchObject({ type: "overload", message: "Vendor said overload" });
  });

  it("opens a socket ahead, and closes what is idle", async () => {
    const { vendor, pool, timers, target, ask } = await open(echo);
    pool.prepare(target);
    pool.prepare(target);
    await until(() => vendor.openCount === 1);
    expect((await ask()).error).toBeNull();
    expect(vendor.connections).toHaveLength(1);
    timers.pass(29_999);
    expect(pool.size).toBe(1);
    timers.pass(1);
    expect(pool.size).toBe(0);
    await until(() => vendor.closeCodes.length === 1);
    expect(vendor.closeCodes).toEqual([1_000]);
    expect((await ask()).error).toBeNull();
    expect(vendor.connections).toHaveLength(2);
  });

  it("closes a prepared socket that is never used, and only logs a failure to open one", async () => {
    const { vendor, pool, timers, target, log } = await open(echo);
    pool.prepare(target);
    await until(() => vendor.openCount === 1);
    // The handshake may be over there before it is here.
    await until(() => {
      timers.pass(30_000);
      return pool.size === 0;
    });
    await vendor.close();
    pool.prepare(target);
    await until(() => log.length === 1);
    expect(log).toEqual(["Vendor cannot be reached (ECONNREFUSED)"]);
    expect(pool.size).toBe(0);
  });

  it("does not use sockets beyond their age", async () => {
    const { vendor, timers, ask } = await open(echo, { idleLimitMs: 1e9, ageLimitMs: 1_000 });
    expect((await ask()).error).toBeNull();
    timers.pass(1_001);
    expect((await ask()).error).toBeNull();
    expect(vendor.connections).toHaveLength(2);
    await until(() => vendor.openCount === 1);
  });

  it("takes an idle socket that does not answer pings out of use", async () => {
    const { pool, timers, ask, vendor } = await open(echo, { idleLimitMs: 1e9 });
    expect((await ask()).error).toBeNull();
    vendor.connections[0]!.tcp.pause();
    timers.pass(40_000);
    expect(pool.size).toBe(0);
  });

  it("closes the socket that is idle longest when there are too many in all", async () => {
    const { vendor, pool, target, ask } = await open(echo, { sockets: 2 });
    const targets = ["a", "b", "c"].map((name) => ({ ...target, url: `${target.url}?voice=${name}` }));
    for (const index of [0, 1, 0, 2])
      expect((await ask(talk, neverAborted(), targets[index])).error).toBeNull();
    expect(pool.size).toBe(2);
    await until(() => vendor.closeCodes.length === 1);
    expect((await ask(talk, neverAborted(), targets[0])).error).toBeNull();
    expect(vendor.connections.map(({ request }) => request.url)).toEqual(
      ["a", "b", "c"].map((name) => `/speak?voice=${name}`),
    );
  });

  it("sends the greeting first, waits for the answer, and tells a refusal", async () => {
    const lines: string[] = [];
    const greeted = {
      ...protocol,
      greeting: ["key settings"],
      isReady: (message: string) => message === "ready",
    };
    let refuses = false;
    const { ask, target, timers, vendor } = await open((id, word, connection, index) => {
      lines.push(word);
      if (word === "settings") connection.socket.send(refuses ? "bye refused" : "all ready");
      else echo(id, word, connection, index);
    });
    const on = { ...target, protocol: greeted };
    expect(await ask(talk, neverAborted(), on)).toEqual({ parts: ["hello"], error: null });
    expect(lines).toEqual(["settings", "hello"]);
    refuses = true;
    const other = { ...on, url: `${on.url}?other=1` };
    expect((await ask(talk, neverAborted(), other)).error).toMatchObject({ type: "refused" });
    const silent = { ...other, protocol: { ...greeted, greeting: ["", "key nothing"], read: () => null } };
    const late = ask(talk, neverAborted(), silent);
    await until(() => vendor.connections.length === 3);
    await until(() => {
      timers.pass(10_000);
      return lines.includes("nothing");
    });
    timers.pass(10_000);
    expect((await late).error).toMatchObject({
      message: "Vendor did not say that it is ready",
      type: "timeout",
    });
  });

  it("ends a socket that sends garbage, without the key in the message", async () => {
    for (const garbage of ["{", Buffer.of(1, 2, 3)]) {
      const { ask, pool } = await open((_id, _word, { socket }) => socket.send(garbage));
      const heard = await Promise.all([ask(), ask()]);
      for (const { error } of heard) {
        expect(error).toMatchObject({ name: "EngineFailure", type: "garbage" });
        expect(error?.message).toContain("[key]");
      }
      expect(pool.size).toBe(0);
    }
  });

  it("limits what a vendor sends ahead, and what nobody asked for", async () => {
    let unread = "";
    const flood = await open(
      (id, word, { socket }) => {
        if (unread === "") unread = id;
        else for (let i = 0; i < 1_000; i += 1) socket.send(`${unread} ${"x".repeat(100)}`);
        socket.send(`${id} ${word}`);
        socket.send(`${id} end`);
      },
      { maxUnreadBytes: 10_000 },
    );
    const reading = flood.pool.request(flood.target, talk, neverAborted());
    expect(await reading.next()).toEqual({ done: false, value: "hello" });
    expect(await flood.ask()).toEqual({ parts: ["hello"], error: null });
    await expect(reading.next()).rejects.toMatchObject({ type: "flood" });
    const stray = await open((_id, _word, { socket }) => {
      for (let i = 0; i < 10_001; i += 1) socket.send("nobody word");
    });
    expect((await stray.ask()).error).toMatchObject({ type: "flood" });
  });

  it("tells silence of the vendor as a timeout", async () => {
    let asked = 0;
    const { ask, timers } = await open(() => (asked += 1));
    const answer = ask();
    await until(() => asked === 1);
    timers.pass(SILENCE_LIMIT_MS);
    expect((await answer).error).toMatchObject({ message: "Vendor stopped answering", type: "timeout" });
  });

  it("frees a place when the end of the request is settled", async () => {
    const held: [string, string, ServerConnection][] = [];
    const { vendor, ask, timers } = await open((id, word, connection) => held.push([id, word, connection]), {
      requestsPerSocket: 1,
      socketsPerTarget: 1,
    });
    const told: boolean[] = [];
    const settled: Exchange<string, string> = {
      ...talk,
      settle: async (request, isComplete) => {
        told.push(isComplete);
        request.send(`${request.id} cancel`);
        while ((await request.next(SILENCE_LIMIT_MS)) !== "cancelled");
      },
    };
    const abort = new AbortController();
    const first = ask(settled, abort.signal);
    await until(() => held.length === 1);
    abort.abort();
    expect((await first).error?.name).toBe("AbortError");
    const second = ask(settled);
    await until(() => held.length === 2);
    expect(held[1]?.[1]).toBe("cancel");
    const [id, , { socket }] = held[1]!;
    for (const word of ["late", "later", "cancelled"]) socket.send(`${id} ${word}`);
    await until(() => held.length === 3);
    expect(held[2]?.[1]).toBe("hello");
    expect(vendor.connections).toHaveLength(1);
    socket.send(`${held[2]?.[0] ?? ""} end`);
    expect((await second).error).toBeNull();
    expect(told).toEqual([false, true]);
    // This cancel is never confirmed: the socket is not used again.
    await until(() => held.length === 4);
    const third = ask();
    timers.pass(3_000);
    await until(() => held.length === 5);
    expect(vendor.connections).toHaveLength(2);
    held[4]?.[2].socket.send(`${held[4][0]} end`);
    expect((await third).error).toBeNull();
  });

  it("closes twice, fails what is under way or waits, and refuses later requests", async () => {
    const { pool, vendor, target, ask } = await open(() => undefined, {
      requestsPerSocket: 1,
      socketsPerTarget: 1,
    });
    const asked = [ask(), ask()];
    await until(() => vendor.openCount === 1);
    await Promise.all([pool.close(), pool.close()]);
    for (const { error } of await Promise.all(asked)) expect(error).toMatchObject({ type: "closed" });
    expect((await ask()).error).toMatchObject({ message: "the connections to Vendor are closed" });
    pool.prepare(target);
    expect(pool.size).toBe(0);
    await until(() => vendor.openCount === 0);
  });

  it("ends a handshake that hangs, for all that wait for it", async () => {
    const { ask, vendor, pool } = await open(echo, { handshakeLimitMs: 50 }, { upgrade: () => "hang" });
    const abort = new AbortController();
    const [one, other, gone] = [ask(), ask(), ask(talk, abort.signal)];
    await until(() => vendor.requests.length >= 1);
    abort.abort();
    expect((await gone).error?.name).toBe("AbortError");
    for (const { error } of await Promise.all([one, other])) expect(error).toMatchObject({ type: "timeout" });
    await until(() => pool.size === 0);
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
