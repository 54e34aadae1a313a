import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../ports/testing/until.ts";
import type { EngineFailure } from "../../ports/engine-failure.ts";
import { dialSocket, type DialOptions, type VendorSocket } from "./dial-socket.ts";
import {
  openSocketServer,
  textFrame,
  type SocketServer,
  type SocketServerOptions,
} from "./testing/socket-server.ts";

const KEY = "secret-key-1";
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

interface Heard {
  readonly texts: string[];
  readonly bytes: Uint8Array[];
  readonly closes: { readonly failure: EngineFailure; readonly code: number; readonly reason: string }[];
}

async function serve(options: SocketServerOptions = {}): Promise<SocketServer> {
  const server = await openSocketServer(options);
  opened.push(server);
  return server;
}

async function dial(
  server: { readonly baseUrl: string },
  options: Partial<DialOptions> = {},
  signal?: AbortSignal,
) {
  const heard: Heard = { texts: [], bytes: [], closes: [] };
  const socket: VendorSocket = await dialSocket(
    {
      vendor: "Vendor",
      url: `${server.baseUrl.replace("http", "ws")}/speak`,
      headers: { "x-api-key": KEY },
      secrets: [KEY],
      ...options,
    },
    () => ({
      text: (text) => heard.texts.push(text),
      binary: (bytes) => heard.bytes.push(bytes),
      closed: (failure, code, reason) => heard.closes.push({ failure, code, reason }),
    }),
    signal,
  );
  opened.push({
    close: () => {
      socket.cut();
    },
  });
  return { socket, heard };
}

function failureOf(promise: Promise<unknown>): Promise<EngineFailure> {
  return promise.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: unknown) => error as EngineFailure,
  );
}

describe("a socket to a vendor", () => {
  it("sends its headers and carries texts and bytes both ways", async () => {
    const received: unknown[] = [];
    const server = await serve({
      connected: ({ socket }) => {
        // At once: it may come with the answer to the upgrade.
        socket.send("hello");
        socket.on("message", (data: Buffer, isBinary) => {
          received.push(isBinary ? [...data] : data.toString());
          socket.send(data, { binary: isBinary });
        });
      },
    });
    const { socket, heard } = await dial(server);
    socket.send("Grüße 😀");
    const bytes = Uint8Array.of(1, 2, 3);
    socket.send(bytes);
    bytes.fill(0);
    await until(() => heard.bytes.length === 1);
    expect(heard.texts).toEqual(["hello", "Grüße 😀"]);
    expect(received).toEqual(["Grüße 😀", [1, 2, 3]]);
    expect(server.requests[0]?.headers["x-api-key"]).toBe(KEY);
    expect(server.requests[0]?.headers["sec-websocket-extensions"]).toBeUndefined();
    socket.close();
    socket.close();
    await until(() => heard.closes.length === 1 && server.closeCodes.length === 1);
    expect(server.closeCodes).toEqual([1_000]);
    expect(() => {
      socket.send("late");
    }).toThrow("closed the connection");
  });

  it.each([
    [
      401,
      `{"detail":{"status":"invalid_api_key","message":"No such key: ${KEY}"}}`,
      ": No such key: [key]",
      true,
    ],
    [403, '{"error":"not\\nallowed"}', ": not allowed", true],
    [404, '{"title":"Not found","message":"no such voice"}', ": no such voice", true],
    [422, '{"detail":[{"loc":["query","x"],"msg":"bad field","type":"t"}]}', ": bad field", false],
    [429, "Too many", ": Too many", false],
    [500, "<html>proxy</html>", "", false],
    [503, "", "", false],
    [301, "", "", false],
  ])("tells a refusal with %i", async (status, body, words, isPermanent) => {
    const server = await serve({
      upgrade: () => ({ status, body, headers: { Location: "http://127.0.0.1:1/" } }),
    });
    const failure = await failureOf(dial(server));
    expect(failure.name).toBe("EngineFailure");
    expect(failure.message).toBe(`Vendor answered HTTP ${String(status)}${words}`);
    expect(failure).toMatchObject({ isPermanent, type: String(status) });
    expect(`${String(failure.stack)} ${String(failure.cause)}`).not.toContain(KEY);
  });

  it("reads little of a refusal that does not end", async () => {
    const long = await serve({
      upgrade: () => ({ status: 500, body: "x".repeat(100_000), isEndless: true }),
    });
    expect((await failureOf(dial(long))).message.length).toBeLessThan(400);
    const short = await serve({ upgrade: () => ({ status: 401, body: "wrong key", isEndless: true }) });
    expect(await failureOf(dial(short))).toMatchObject({ message: "Vendor answered HTTP 401: wrong key" });
  });

  it("gives up on a handshake that hangs", async () => {
    const server = await serve({ upgrade: () => "hang" });
    const failure = await failureOf(dial(server, { handshakeLimitMs: 50 }));
    expect(failure).toMatchObject({ type: "timeout", isPermanent: false });
    expect(failure.message).toBe("Vendor did not answer within 0.05 s");
  });

  it.each([
    ["other bytes", (tcp: Socket) => tcp.end("220 mail.example ESMTP\r\n")],
    ["nothing", (tcp: Socket) => tcp.destroy()],
    [
      "a wrong accept key",
      (tcp: Socket) =>
        tcp.write(
          "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n",
        ),
    ],
  ])("fails when the upgrade is answered with %s", async (_name, raw) => {
    const server = await serve({ upgrade: () => ({ raw }) });
    const failure = await failureOf(dial(server));
    expect(failure.name).toBe("EngineFailure");
    expect(failure.message).toMatch(/^Vendor cannot be reached/);
  });

  it("fails when nobody listens, and for an address that is none", async () => {
    const server = await serve();
    await server.close();
    expect(await failureOf(dial(server))).toMatchObject({
      type: "ECONNREFUSED",
      message: "Vendor cannot be reached (ECONNREFUSED)",
    });
    const bad = await failureOf(dial(server, { headers: { "x-api-key": `${KEY}\r\nx: y` } }));
    expect(bad.name).toBe("EngineFailure");
    expect(bad.message).not.toContain(KEY);
  });

  it("reads messages that are split at every byte", async () => {
    const text = JSON.stringify({ words: "Grüße 😀", filler: "x".repeat(150) });
    const server = await serve({
      connected: ({ tcp }) => {
        tcp.setNoDelay(true);
        for (const byte of textFrame(text)) tcp.write(Uint8Array.of(byte));
      },
    });
    const { heard } = await dial(server);
    await until(() => heard.texts.length === 1);
    expect(heard.texts).toEqual([text]);
  });

  it.each([
    ["in the middle of a frame", textFrame("half of this").subarray(0, 6), 1_006],
    ["after reserved bits", Buffer.of(0xf1, 0x01, 0x41), 1_002],
    ["after a masked frame", Buffer.of(0x81, 0x81, 1, 2, 3, 4, 0x41), 1_002],
    ["after text that is not UTF-8", Buffer.of(0x81, 0x02, 0xc3, 0x28), 1_007],
    ["after a frame of 8 EB", Buffer.of(0x82, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255), 1_009],
  ])("ends once when the vendor breaks off %s", async (_name, bytes, code) => {
    const server = await serve({
      connected: ({ tcp }) => {
        tcp.write(bytes, () => tcp.destroySoon());
      },
    });
    const { socket, heard } = await dial(server);
    await until(() => heard.closes.length === 1);
    expect(heard.texts).toEqual([]);
    expect(heard.closes[0]?.failure).toMatchObject({ name: "EngineFailure", type: "closed" });
    expect([code, 1_006]).toContain(heard.closes[0]?.code);
    expect(socket.isOpen).toBe(false);
  });

  it("refuses a giant message and tells the reason of a close without the key", async () => {
    const giant = await serve({ connected: ({ socket }) => socket.send("x".repeat(2_000)) });
    const { heard } = await dial(giant, { maxMessageBytes: 1_000 });
    await until(() => heard.closes.length === 1);
    expect(heard.texts).toEqual([]);
    const named = await serve({ connected: ({ socket }) => socket.close(1_008, `no: ${KEY}`) });
    const other = await dial(named);
    await until(() => other.heard.closes.length === 1);
    expect(other.heard.closes[0]).toMatchObject({ code: 1_008, reason: "no: [key]" });
    expect(other.heard.closes[0]?.failure.message).toBe(
      "Vendor closed the connection (code 1008: no: [key])",
    );
  });

  it("notices a vendor that does not read", async () => {
    const server = await serve({ connected: ({ tcp }) => tcp.pause() });
    const { socket, heard } = await dial(server, { maxUnsentBytes: 100_000 });
    const text = "x".repeat(1_000_000);
    expect(() => {
      for (let i = 0; i < 100; i += 1) socket.send(text);
    }).toThrow("does not read");
    await until(() => heard.closes.length === 1);
  });

  it("ends its close when the vendor does not answer it", async () => {
    const server = await serve({ connected: ({ tcp }) => tcp.pause() });
    const { socket, heard } = await dial(server);
    socket.close();
    await until(() => heard.closes.length === 1);
    expect(heard.closes[0]?.failure.message).toBe("Vendor was closed");
  });

  it("stops at an abort, before and during the handshake", async () => {
    const server = await serve({ upgrade: () => "hang" });
    expect((await failureOf(dial(server, {}, AbortSignal.abort()))).name).toBe("AbortError");
    expect(server.requests).toEqual([]);
    const abort = new AbortController();
    const dialing = failureOf(dial(server, {}, abort.signal));
    await until(() => server.requests.length === 1);
    abort.abort(new Error("the caller left"));
    expect((await dialing).name).toBe("AbortError");
  });
});
