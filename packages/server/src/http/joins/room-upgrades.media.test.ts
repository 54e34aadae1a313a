import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { JoinLookup, OpenRoomInput, RoomSignalInput } from "../../joins/api.ts";
import { openEmbeddedTestStore } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { buildServer } from "../server.ts";
import { testDeps, testLog } from "../testing/http-fixture.ts";

const CALL = "0197a9c3-2f5e-7c0a-9d57-0d6f3a2b1c4e";
const PATH = `/calls/${CALL}/web_rtc/secret-token`;

describe("sockets of clients that join rooms", () => {
  const log = testLog();
  let store: Awaited<ReturnType<typeof openEmbeddedTestStore>>;
  let server: HttpServer;
  let opened: OpenRoomInput[];
  let signalled: RoomSignalInput[];
  let outcome: "connected" | "joined" | "gone";
  let nowMs: number;
  let waitMs: number;
  let found: () => Promise<JoinLookup>;
  let sockets: WebSocket[];

  beforeAll(async () => {
    store = await openEmbeddedTestStore();
  });
  afterAll(async () => {
    await store.remove();
  });
  beforeEach(async () => {
    [opened, signalled, sockets, outcome, nowMs] = [[], [], [], "connected", Date.now()];
    waitMs = 0;
    found = () => Promise.resolve("ok");
    const deps = testDeps(store, {
      publicUrl: null,
      logger: log.logger,
      nowMs: () => nowMs,
      findJoin: ({ callId, token }): Promise<JoinLookup> =>
        callId === CALL && token === "secret-token" ? found() : Promise.resolve("not_found"),
      rooms: {
        open: (input) => {
          opened.push(input);
          return Promise.resolve(outcome);
        },
        waitToSignal: () => waitMs,
        signal: (input) => {
          signalled.push(input);
          return Promise.resolve();
        },
      },
    });
    server = await buildServer(deps);
    await server.listen();
  });
  afterEach(async () => {
    for (const socket of sockets) socket.terminate();
    await server.close();
  });

  function connect(path: string, headers: Record<string, string> = {}): WebSocket {
    const socket = new WebSocket(`ws://127.0.0.1:${String(server.port)}${path}`, { headers });
    sockets.push(socket);
    socket.on("error", () => undefined);
    return socket;
  }

  /** The status of the refusal; 101: it was accepted. */
  const statusOf = (path: string, headers?: Record<string, string>): Promise<number> =>
    new Promise((resolve) => {
      const socket = connect(path, headers);
      socket.on("open", () => resolve(101));
      socket.on("unexpected-response", (_request, { statusCode }) => resolve(statusCode ?? 0));
    });

  async function tokenOfRoom(): Promise<string> {
    await once(connect(`${PATH}?clientVersion=app`), "open");
    await expect.poll(() => opened.length).toBe(1);
    return opened[0]?.token ?? "";
  }

  it("are given a room below the join URL, and a token for it", async () => {
    const token = await tokenOfRoom();
    expect(opened[0]).toMatchObject({
      callId: CALL,
      query: { clientVersion: "app" },
      roomUrl: `ws://127.0.0.1:${String(server.port)}${PATH}/room`,
    });
    const query = `access_token=${token}&join_request=abc`;
    expect(await statusOf(`${PATH}/room/rtc/v1?${query}`)).toBe(101);
    await expect.poll(() => signalled.length).toBe(1);
    expect(signalled[0]).toMatchObject({ callId: CALL, joinRequest: "abc" });
    const authorization = `Bearer ${token}`;
    expect(await statusOf(`${PATH}/room/rtc/v1?join_request=abc`, { authorization })).toBe(101);
    const { status } = await fetch(
      `http://127.0.0.1:${String(server.port)}${PATH}/room/rtc/v1/validate?${query}`,
    );
    expect(status).toBe(200);
    expect(log.text()).not.toContain("secret-token");
    expect(log.text()).not.toContain(token);
  });

  it.each(["joined", "gone"] as const)("are closed where the call is %s", async (found) => {
    outcome = found;
    const [code] = (await once(connect(PATH), "close")) as [number];
    expect(code).toBe(found === "joined" ? 4409 : 4410);
  });

  it("are refused with another token, an old one, or none", async () => {
    const token = await tokenOfRoom();
    const signal = `${PATH}/room/rtc/v1`;
    for (const wrong of ["", "access_token=", "access_token=x.y.z", `access_token=${token}A`]) {
      expect(await statusOf(`${signal}?${wrong}&join_request=abc`)).toBe(401);
    }
    const other = PATH.replace("secret-token", "other-token");
    expect(await statusOf(`${other}/room/rtc/v1?access_token=${token}&join_request=abc`)).toBe(404);
    expect(await statusOf(`${signal}?access_token=${token}`)).toBe(400);
    const validate = `http://127.0.0.1:${String(server.port)}${signal}/validate`;
    expect((await fetch(`${validate}?access_token=x`)).status).toBe(401);
    nowMs += 25 * 3_600_000;
    expect(await statusOf(`${signal}?access_token=${token}&join_request=abc`)).toBe(401);
    expect(signalled).toEqual([]);
  });

  it("are refused before the upgrade when a call has too many", async () => {
    const token = await tokenOfRoom();
    waitMs = 5_000;
    expect(await statusOf(`${PATH}/room/rtc/v1?access_token=${token}&join_request=abc`)).toBe(429);
    expect(signalled).toEqual([]);
  });

  it("are refused when the server has begun to close while they were looked up", async () => {
    const token = await tokenOfRoom();
    const lookup = Promise.withResolvers<JoinLookup>();
    let looked = false;
    found = () => {
      looked = true;
      return lookup.promise;
    };
    const status = statusOf(`${PATH}/room/rtc/v1?access_token=${token}&join_request=abc`);
    await expect.poll(() => looked).toBe(true);
    const closed = server.close();
    lookup.resolve("ok");
    expect(await status).toBe(503);
    await closed;
    expect(signalled).toEqual([]);
  });

  it("find nothing where version 0 of the signalling would be", async () => {
    const token = await tokenOfRoom();
    expect(await statusOf(`${PATH}/room/rtc?access_token=${token}`)).toBe(404);
    expect(await statusOf(`${PATH.replace("web_rtc", "server_web_socket")}/room/rtc/v1`)).toBe(404);
  });

  it("are closed for a message of signalling that is too large, and at a restart", async () => {
    const token = await tokenOfRoom();
    const path = `${PATH}/room/rtc/v1?access_token=${token}&join_request=abc`;
    const [large, other] = [connect(path), connect(path)];
    await Promise.all([once(large, "open"), once(other, "open")]);
    large.send(Buffer.alloc(80 * 1_024 + 1));
    expect((await once(large, "close"))[0]).toBe(1009);
    const closed = once(other, "close");
    await server.close();
    expect((await closed)[0]).toBe(1012);
  });
});
