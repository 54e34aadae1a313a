import { afterEach, describe, expect, it } from "vitest";
import { neverAborted } from "../../ports/testing/collect.ts";
import { until } from "../../ports/testing/until.ts";
import type { Exchange } from "./socket-pool.ts";
import {
  closeLineVendors,
  echo,
  lineProtocol,
  openLineVendor,
  SILENCE_LIMIT_MS,
  talk,
} from "./testing/line-vendor.ts";
import type { ServerConnection } from "./testing/socket-server.ts";

afterEach(closeLineVendors);

describe("the limits of a pool of sockets", () => {
  it("opens a socket ahead, and closes what is idle", async () => {
    const { vendor, pool, timers, target, ask } = await openLineVendor(echo);
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
    const { vendor, pool, timers, target, log } = await openLineVendor(echo);
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
    const { vendor, timers, ask } = await openLineVendor(echo, { idleLimitMs: 1e9, ageLimitMs: 1_000 });
    expect((await ask()).error).toBeNull();
    timers.pass(1_001);
    expect((await ask()).error).toBeNull();
    expect(vendor.connections).toHaveLength(2);
    await until(() => vendor.openCount === 1);
  });

  it("takes an idle socket that does not answer pings out of use", async () => {
    const { pool, timers, ask, vendor } = await openLineVendor(echo, { idleLimitMs: 1e9 });
    expect((await ask()).error).toBeNull();
    vendor.connections[0]!.tcp.pause();
    timers.pass(40_000);
    expect(pool.size).toBe(0);
  });

  it("closes the socket that is idle longest when there are too many in all", async () => {
    const { vendor, pool, target, ask } = await openLineVendor(echo, { sockets: 2 });
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
      ...lineProtocol,
      greeting: ["key settings"],
      isReady: (message: string) => message === "ready",
    };
    let refuses = false;
    const { ask, target, timers, vendor } = await openLineVendor((id, word, connection, index) => {
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
      const { ask, pool } = await openLineVendor((_id, _word, { socket }) => socket.send(garbage));
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
    const flood = await openLineVendor(
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
    const stray = await openLineVendor((_id, _word, { socket }) => {
      for (let i = 0; i < 10_001; i += 1) socket.send("nobody word");
    });
    expect((await stray.ask()).error).toMatchObject({ type: "flood" });
  });

  it("tells silence of the vendor as a timeout", async () => {
    let asked = 0;
    const { ask, timers } = await openLineVendor(() => (asked += 1));
    const answer = ask();
    await until(() => asked === 1);
    timers.pass(SILENCE_LIMIT_MS);
    expect((await answer).error).toMatchObject({ message: "Vendor stopped answering", type: "timeout" });
  });

  it("frees a place when the end of the request is settled", async () => {
    const held: [string, string, ServerConnection][] = [];
    const { vendor, ask, timers } = await openLineVendor(
      (id, word, connection) => held.push([id, word, connection]),
      {
        requestsPerSocket: 1,
        socketsPerTarget: 1,
      },
    );
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
    const { pool, vendor, target, ask } = await openLineVendor(() => undefined, {
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
    const { ask, vendor, pool } = await openLineVendor(
      echo,
      { handshakeLimitMs: 50 },
      { upgrade: () => "hang" },
    );
    const abort = new AbortController();
    const [one, other, gone] = [ask(), ask(), ask(talk, abort.signal)];
    await until(() => vendor.requests.length >= 1);
    abort.abort();
    expect((await gone).error?.name).toBe("AbortError");
    for (const { error } of await Promise.all([one, other])) expect(error).toMatchObject({ type: "timeout" });
    await until(() => pool.size === 0);
  });
});
