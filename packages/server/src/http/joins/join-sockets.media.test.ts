import { AUDIO_PROTOCOL } from "@parley/schema";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { openEmbeddedTestStore } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, JoinLookup } from "../../joins/api.ts";
import { MAX_PENDING_UPGRADES } from "./join-sockets.ts";
import { WRONG_TOKENS_PER_CALL_PER_SECOND } from "./wrong-tokens.ts";
import { buildServer } from "../server.ts";
import { testDeps, testLog } from "../testing/http-fixture.ts";

const callId = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";
const path = `/calls/${callId}/server_web_socket/secret-token`;

interface Refusal {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly problem: Record<string, unknown>;
}

describe("join sockets", () => {
  const log = testLog();
  let store: Awaited<ReturnType<typeof openEmbeddedTestStore>>;
  let server: HttpServer;
  let looked: FindJoinInput[] = [];
  let connected: ConnectCallInput[] = [];
  let lookup: () => Promise<JoinLookup> = () => Promise.resolve("ok");
  let connectCall: (input: ConnectCallInput) => ConnectOutcome | Promise<ConnectOutcome> = () => "connected";
  let open: WebSocket[] = [];

  beforeAll(async () => {
    store = await openEmbeddedTestStore();
  });
  afterAll(async () => {
    await store.remove();
  });
  beforeEach(async () => {
    looked = [];
    connected = [];
    lookup = () => Promise.resolve("ok");
    connectCall = () => "connected";
    server = await buildServer(
      testDeps(store, {
        publicUrl: null,
        logger: log.logger,
        findJoin: (input) => {
          looked.push(input);
          return lookup();
        },
        connectCall: (input) => {
          connected.push(input);
          return connectCall(input);
        },
      }),
    );
    await server.listen();
  });
  afterEach(async () => {
    for (const socket of open) socket.terminate();
    open = [];
    await server.close();
  });

  function join(at = path, headers: Record<string, string> = {}): WebSocket {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${at}`, { headers });
    open.push(socket);
    return socket;
  }

  async function refusalOf(socket: WebSocket): Promise<Refusal> {
    return new Promise((resolve, reject) => {
      socket.on("error", () => undefined);
      socket.on("open", () => reject(new Error("it was accepted")));
      socket.on("unexpected-response", (_request, response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const problem = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, problem });
        });
      });
    });
  }

  async function closeOf(socket: WebSocket): Promise<[number, string]> {
    const [code, reason] = (await once(socket, "close")) as [number, Buffer];
    return [code, reason.toString()];
  }

  it("hands a connected socket to the call, with what the query says", async () => {
    const socket = join(`${path}?clientVersion=web%201&experimentalMessages=debug&other=1`, {
      origin: "https://any.example",
    });
    await once(socket, "open");
    expect(looked).toEqual([{ callId, medium: "server_web_socket", token: "secret-token" }]);
    expect(connected).toEqual([
      expect.objectContaining({
        callId,
        query: { clientVersion: "web 1", apiVersion: null, experimentalMessages: ["debug"] },
      }),
    ]);
    expect(socket.extensions).toBe("");
    expect(log.text()).not.toContain("secret-token");
  });

  it("loses nothing that is sent before the call listens", async () => {
    const heard: string[] = [];
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    connectCall = async ({ socket }): Promise<ConnectOutcome> => {
      await begun;
      socket.on("message", (data: Buffer) => heard.push(data.toString()));
      return "connected";
    };
    const socket = join();
    await once(socket, "open");
    socket.send("one");
    socket.send("two");
    // The answer to a request that was sent later shows that the frames have arrived.
    expect((await fetch(`${server.publicUrl}/healthz`)).status).toBe(200);
    begin();
    const [own] = connected;
    if (own === undefined) throw new Error("the call was not connected");
    while (heard.length < 2) await once(own.socket, "message");
    expect(heard).toEqual(["one", "two"]);
  });

  it.each([
    ["10.9.9.9, 192.0.2.1", "10.9.9.9, 192.0.2.2", 404],
    // What a client says of itself stands before what the proxy says of it.
    ["192.0.2.3, 192.0.2.1", "192.0.2.4, 192.0.2.1", 429],
    ["192.0.2.1, 127.0.0.7", "192.0.2.1, 127.0.0.8", 429],
  ])("tells clients apart by what a trusted proxy says of them: %s and %s", async (first, second, status) => {
    const base = testDeps(store, {
      publicUrl: null,
      findJoin: async () => "not_found",
      nowMs: () => 5_000_000,
    });
    const settings = { ...base.settings, trustedProxies: ["127.0.0.0/8"] };
    const proxied = await buildServer({ ...base, settings });
    await proxied.listen();
    const wrongToken = async (forwardedFor: string): Promise<number> => {
      const headers = { "x-forwarded-for": forwardedFor };
      const socket = new WebSocket(`ws://127.0.0.1:${proxied.port}${path}`, { headers });
      open.push(socket);
      return (await refusalOf(socket)).status;
    };
    for (let tries = 0; tries < WRONG_TOKENS_PER_CALL_PER_SECOND; tries += 1) {
      expect(await wrongToken(first)).toBe(404);
    }
    expect(await wrongToken(first)).toBe(429);
    expect(await wrongToken(second)).toBe(status);
    await proxied.close();
  });

  it("accepts the vendor's spelling of a medium and any case of the id", async () => {
    const socket = join(`/calls/${callId.toUpperCase()}/twilio/secret-token/`);
    await once(socket, "open");
    expect(looked).toEqual([{ callId, medium: "telephony1", token: "secret-token" }]);
  });

  it.each<[string, JoinLookup, number, string]>([
    ["a wrong token", "not_found", 404, "not_found"],
    ["an ended call", "gone", 410, "gone"],
    ["a call that runs on another node", "elsewhere", 503, "call_elsewhere"],
    ["a call whose node is gone", "orphaned", 503, "call_elsewhere"],
    ["a call that a full node would have to take", "full", 503, "no_capacity"],
    ["a call that a node would have to take which is being stopped", "draining", 503, "no_capacity"],
  ])("refuses %s before the upgrade", async (_, found, status, code) => {
    lookup = () => Promise.resolve(found);
    const refusal = await refusalOf(join(path, { "x-request-id": "mine-1" }));
    expect(refusal.status).toBe(status);
    expect(refusal.headers).toMatchObject({
      "content-type": "application/problem+json",
      "x-request-id": "mine-1",
      "access-control-allow-origin": "*",
      connection: "close",
    });
    expect(refusal.problem).toMatchObject({
      type: `${server.publicUrl}/problems/${code}`,
      status,
      code,
      requestId: "mine-1",
    });
    expect(connected).toEqual([]);
  });

  it.each(["/", "/api/calls", `/calls/${callId}/server_web_socket`, `/calls/x/server_web_socket/t`])(
    "knows nothing to join at %s",
    async (at) => {
      const refusal = await refusalOf(join(at));
      expect([refusal.status, refusal.problem["code"]]).toEqual([404, "not_found"]);
      expect(looked).toEqual([]);
    },
  );

  it("answers a failing look-up with 500 and nothing of the inside", async () => {
    lookup = () => Promise.reject(new Error("secret inside"));
    const refusal = await refusalOf(join());
    expect([refusal.status, refusal.problem["code"]]).toEqual([500, "internal"]);
    expect(JSON.stringify(refusal.problem)).not.toContain("secret inside");
  });

  it.each<[string, number, () => void]>([
    ["a second join while connected", 4409, () => (lookup = () => Promise.resolve("joined"))],
    ["a join that another overtook", 4409, () => (connectCall = () => "joined")],
    ["a call that ended meanwhile", 4410, () => (connectCall = () => Promise.resolve("gone"))],
    ["a call that fails", 1011, () => (connectCall = () => Promise.reject(new Error("x")))],
  ])("accepts and closes %s with %i", async (_, code, prepare) => {
    prepare();
    const [closed, reason] = await closeOf(join());
    expect(closed).toBe(code);
    expect(reason).not.toBe("");
  });

  it("hands a websocket at a WebRTC URL to the call where it names the audio protocol", async () => {
    const at = `ws://127.0.0.1:${server.port}/calls/${callId}/web_rtc/secret-token`;
    const socket = new WebSocket(at, ["other.v1", AUDIO_PROTOCOL]);
    open.push(socket);
    await once(socket, "open");
    expect(socket.protocol).toBe(AUDIO_PROTOCOL);
    expect(connected).toEqual([expect.objectContaining({ callId, keepsAudio: true })]);
    // At other URLs the medium defines the audio, and protocols are only echoed, as clients require.
    const plain = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, ["other.v1"]);
    open.push(plain);
    await once(plain, "open");
    expect(plain.protocol).toBe("other.v1");
    expect(connected[1]).toMatchObject({ keepsAudio: false });
  });

  it("closes a frame above 1 MiB with 1009", async () => {
    const socket = join();
    await once(socket, "open");
    socket.send(Buffer.alloc(1_048_577));
    expect((await closeOf(socket))[0]).toBe(1009);
  });

  it("refuses new joins while draining, and lets lost calls come back", async () => {
    server.drain();
    const refusal = await refusalOf(join());
    expect([refusal.status, refusal.problem["code"]]).toEqual([503, "no_capacity"]);
    expect(Number(refusal.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    lookup = () => Promise.resolve("lost");
    await once(join(), "open");
    expect(connected).toHaveLength(1);
  });

  it("closes what is connected with 1012 when it stops, also a call that is just being connected", async () => {
    const first = join();
    await once(first, "open");
    let finish: (outcome: ConnectOutcome) => void = () => undefined;
    connectCall = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const second = join();
    await once(second, "open");
    const closes = Promise.all([closeOf(first), closeOf(second)]);
    const stopped = server.close();
    finish("gone");
    expect((await closes).map(([code]) => code)).toEqual([1012, 1012]);
    await stopped;
  });

  it("bounds how many upgrades wait", async () => {
    let release: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    lookup = async () => {
      await waiting;
      return "gone";
    };
    const sockets = Array.from({ length: MAX_PENDING_UPGRADES + 44 }, () => join());
    let refused = 0;
    const refusals = sockets.map(async (socket) => {
      const refusal = await refusalOf(socket);
      refused += 1;
      // Those above the limit are answered at once, before the others.
      if (refused === sockets.length - MAX_PENDING_UPGRADES) release();
      return refusal;
    });
    const statuses = (await Promise.all(refusals)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 410)).toHaveLength(MAX_PENDING_UPGRADES);
    expect(statuses.filter((status) => status === 503)).toHaveLength(44);
  });

  it("answers a malformed handshake with a problem", async () => {
    const refusal = await new Promise<string>((resolve, reject) => {
      const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "7" };
      const requested = httpRequest({ port: server.port, host: "127.0.0.1", path, headers }, (response) => {
        response.on("data", (chunk: Buffer) => resolve(`${response.statusCode} ${chunk.toString()}`));
      });
      requested.on("error", reject);
      requested.end();
    });
    expect(refusal).toMatch(/^400 .*"code":"validation_failed"/);
  });

  it("survives a client that vanishes during the look-up", async () => {
    let release: (found: JoinLookup) => void = () => undefined;
    let requested: () => void = () => undefined;
    const lookedUp = new Promise<void>((resolve) => {
      requested = resolve;
    });
    lookup = () => {
      requested();
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const socket = connect(server.port, "127.0.0.1");
    const handshake = [
      `GET ${path} HTTP/1.1`,
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    socket.write(`${handshake.join("\r\n")}\r\n\r\n`);
    await lookedUp;
    socket.resetAndDestroy();
    await once(socket, "close");
    // The other end of the connection is notified in a later turn of the same event loop.
    await new Promise((resolve) => setTimeout(resolve, 200));
    release("ok");
    lookup = () => Promise.resolve("ok");
    await once(join(), "open");
    expect(connected).toHaveLength(1);
  });
});
