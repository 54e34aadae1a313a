import { afterEach, describe, expect, it } from "vitest";
import type { DataConnection, DataConnectionListener } from "../../ports/data-connection.ts";
import { describeDataConnection } from "../../ports/testing/data-connection-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import { openDataConnections, type DataConnectionOptions } from "./data-connection.ts";
import { directly, HANDSHAKE_LIMIT_MS, KEEPALIVE_MS, Peer, Waits } from "./testing/other-side.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.000Z");
const CLOSE_WAIT_MS = 1_000;

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface SetUp {
  readonly peer: Peer;
  readonly waits: Waits;
  readonly heard: string[];
  readonly connection: DataConnection;
}

async function setUp(
  changes: {
    readonly refuses?: Peer["refuses"];
    readonly sharedSecrets?: readonly string[];
    readonly headers?: Readonly<Record<string, string>>;
    readonly options?: Partial<DataConnectionOptions>;
    readonly url?: string;
  } = {},
): Promise<SetUp> {
  const peer = new Peer();
  await peer.listen();
  peer.refuses = changes.refuses ?? null;
  const waits = new Waits();
  const heard: string[] = [];
  const listener: DataConnectionListener = {
    opened: () => heard.push("opened"),
    data: (text, tooLong) => heard.push(tooLong ? `too long, ${String(text.length)}` : `data ${text}`),
    problem: (problem) => heard.push(problem),
    lost: (detail, willRetry) => heard.push(`lost (${detail})${willRetry ? "" : " for good"}`),
    failed: (detail) => heard.push(`failed (${detail})`),
  };
  const open = openDataConnections({
    connectionTo: directly(peer.port),
    prefixes: ["X-Service-"],
    wallMs: () => NOW_MS,
    after: waits.after,
    ...changes.options,
  });
  const connection = open(
    {
      callId: "call-7",
      websocketUrl: changes.url ?? "ws://data.example/live?a=b#part",
      headers: changes.headers ?? {},
      sharedSecrets: changes.sharedSecrets ?? [],
    },
    listener,
  );
  closing.push(() => peer.close());
  closing.push(async () => {
    const closed = connection.close();
    if (waits.isRunning(CLOSE_WAIT_MS)) waits.pass(CLOSE_WAIT_MS);
    await closed;
  });
  expect(heard).toEqual([]);
  waits.pass(0);
  return { peer, waits, heard, connection };
}

async function opened(changes: Parameters<typeof setUp>[0] = {}): Promise<SetUp> {
  const set = await setUp(changes);
  await until(() => set.heard.includes("opened") && set.peer.sockets.length === 1);
  return set;
}

describeDataConnection("a websocket", async (request, listener) => {
  const peer = new Peer();
  await peer.listen();
  const open = openDataConnections({
    connectionTo: directly(peer.port),
    prefixes: ["X-Service-"],
    wallMs: () => NOW_MS,
    after: (delayMs, fire) => {
      const timer = setTimeout(fire, delayMs);
      return () => {
        clearTimeout(timer);
      };
    },
  });
  const connection = open({ ...request, websocketUrl: "ws://data.example/" }, listener);
  return {
    connection,
    peer: {
      audio: () => Int16Array.from(peer.frames.flatMap((frame) => [...frame])),
      messages: () => peer.messages,
      isOpen: () => peer.sockets.some(({ readyState, OPEN }) => readyState === OPEN),
      sendText: (text) => {
        peer.socket.send(text);
      },
      sendBinary: () => {
        peer.socket.send(new Uint8Array(640));
      },
      vanish: () => {
        peer.socket.terminate();
      },
    },
    close: async () => {
      await connection.close();
      await peer.close();
    },
  };
});

describe("the upgrade request", () => {
  it("goes to the URL with custom headers and the signature", async () => {
    const { peer } = await opened({
      sharedSecrets: ["a", "b"],
      headers: { Authorization: "Bearer t", "x-service-signature": "forged" },
    });
    const [request] = peer.requests;
    expect(request?.url).toBe("/live?a=b");
    expect(request?.headers).toMatchObject({
      host: "data.example",
      authorization: "Bearer t",
      "x-service-call-id": "call-7",
      "x-service-signature-timestamp": "2026-01-02T03:04:05.000+00:00",
    });
    expect(request?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64},[0-9a-f]{64}$/);
    expect(request?.headers["sec-websocket-extensions"]).toBeUndefined();
  });

  it("is not sent on to where a redirect points", async () => {
    const { peer, heard, waits } = await setUp({ refuses: 302 });
    await until(() => waits.isRunning(1_000));
    expect(peer.requests).toHaveLength(1);
    expect(heard).toEqual([]);
  });
});

describe("D125 attempts", () => {
  it("are three, one and two seconds apart, and then it has failed", async () => {
    const { peer, heard, waits } = await setUp({ refuses: 503 });
    await until(() => waits.isRunning(1_000));
    waits.pass(1_000);
    await until(() => waits.isRunning(2_000));
    waits.pass(2_000);
    await until(() => heard.length > 0);
    expect(heard).toEqual(["failed (Unexpected server response: 503)"]);
    expect(peer.requests).toHaveLength(3);
    expect(waits.retries).toEqual([1_000, 2_000]);
    expect(waits.count).toBe(0);
  });

  it("succeed when the third one does", async () => {
    const { peer, heard, waits } = await setUp({ refuses: 503 });
    await until(() => waits.isRunning(1_000));
    waits.pass(1_000);
    await until(() => waits.isRunning(2_000));
    peer.refuses = null;
    waits.pass(2_000);
    await until(() => heard.length > 0);
    expect(heard).toEqual(["opened"]);
  });

  it("follow losses five times in the whole call, each wait twice as long", async () => {
    const { peer, heard, waits } = await opened();
    for (const waitMs of [1_000, 2_000]) {
      peer.socket.close(1012);
      await until(() => waits.isRunning(waitMs));
      waits.pass(waitMs);
      await until(() => heard.at(-1) === "opened");
    }
    peer.refuses = 500;
    peer.socket.terminate();
    for (const waitMs of [4_000, 8_000, 16_000]) {
      await until(() => waits.isRunning(waitMs));
      waits.pass(waitMs);
    }
    await until(() => heard.at(-1)?.startsWith("failed") === true);
    expect(heard).toEqual([
      "opened",
      "lost (closed with 1012)",
      "opened",
      "lost (closed with 1012)",
      "opened",
      "lost (closed with 1006)",
      "failed (no more attempts: Unexpected server response: 500)",
    ]);
    expect(waits.retries).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  });

  it("end where nobody answers the handshake in time", async () => {
    const { peer, heard, waits } = await setUp({ refuses: "never" });
    for (const waitMs of [1_000, 2_000]) {
      await until(() => waits.isRunning(HANDSHAKE_LIMIT_MS));
      waits.pass(HANDSHAKE_LIMIT_MS);
      await until(() => waits.isRunning(waitMs));
      waits.pass(waitMs);
    }
    await until(() => waits.isRunning(HANDSHAKE_LIMIT_MS));
    waits.pass(HANDSHAKE_LIMIT_MS);
    await until(() => heard.length > 0);
    expect(heard).toEqual(["failed (no answer within 10 s)"]);
    expect(peer.requests.length).toBeLessThanOrEqual(3);
  });

  it("are not repeated where the target is refused", async () => {
    const refused = Object.assign(new Error("address not allowed"), { name: "TargetRefused" });
    const byThrow = await setUp({
      options: {
        connectionTo: () => {
          throw refused;
        },
      },
    });
    expect(byThrow.heard).toEqual(["failed (address not allowed)"]);
    const byCallback = await setUp({
      options: {
        connectionTo: () => (_options, created) => {
          setImmediate(created as (error: Error) => void, refused);
          return undefined;
        },
      },
    });
    await until(() => byCallback.heard.length > 0);
    expect(byCallback.heard).toEqual(["failed (address not allowed)"]);
    expect(byCallback.waits.retries).toEqual([]);
  });
});

describe("an open connection", () => {
  it("reports a message beyond 256 KiB and continues; a frame beyond 1 MiB costs the connection", async () => {
    const { peer, heard, waits } = await opened();
    peer.socket.send("x".repeat(256 * 1024));
    peer.socket.send("x".repeat(256 * 1024 + 1));
    peer.socket.send("short");
    await until(() => heard.includes("data short"));
    expect(heard[1]?.length).toBe("data ".length + 256 * 1024);
    expect(heard[2]).toBe("too long, 1024");
    peer.socket.send("x".repeat(1024 * 1024 + 1));
    await until(() => waits.isRunning(1_000));
    expect(heard.at(-1)).toBe("lost (Max payload size exceeded)");
    await until(() => peer.closeCodes.length === 1);
    expect(peer.closeCodes).toEqual([1009]);
  });

  it("drops audio, then says so once, when the receiver does not read; messages still go", async () => {
    const { peer, heard, connection } = await opened();
    peer.socket.pause();
    const frame = new Int16Array(16_000);
    let sent = 0;
    while (connection.sendAudio(frame) && sent < 2_000) sent += 1;
    expect(sent).toBeLessThan(2_000);
    expect(connection.sendAudio(frame)).toBe(false);
    connection.send({ type: "pong", timestamp: 5 });
    expect(heard).toEqual(["opened", "data_connection_congested"]);
    peer.socket.resume();
    await until(() => peer.messages.length === 1);
    expect(peer.frames).toHaveLength(sent);
  });

  it("is closed when the other side does not respond for two intervals", async () => {
    const { peer, heard, waits } = await opened();
    peer.socket.pause();
    waits.pass(KEEPALIVE_MS);
    waits.pass(KEEPALIVE_MS);
    expect(heard).toEqual(["opened"]);
    waits.pass(KEEPALIVE_MS);
    await until(() => heard.length > 1);
    expect(heard).toEqual(["opened", "lost (no response)"]);
  });
});

describe("the close", () => {
  it("is a regular one that the other side sees", async () => {
    const { peer, connection, waits } = await opened();
    await connection.close();
    await until(() => peer.closeCodes.length === 1);
    expect(peer.closeCodes).toEqual([1000]);
    expect(waits.count).toBe(0);
  });

  it("waits a bounded time for the other side", async () => {
    const { peer, connection, waits } = await opened();
    peer.socket.pause();
    const closed = connection.close();
    waits.pass(CLOSE_WAIT_MS);
    await expect(closed).resolves.toBeUndefined();
    expect(waits.count).toBe(0);
  });

  it("ends an attempt that is under way, and the waits between them", async () => {
    const waiting = await setUp({ refuses: 503 });
    await until(() => waiting.waits.isRunning(1_000));
    await waiting.connection.close();
    expect(waiting.waits.count).toBe(0);
    const dialling = await setUp({ refuses: "never" });
    await until(() => dialling.peer.requests.length === 1);
    await dialling.connection.close();
    expect(dialling.waits.count).toBe(0);
    expect([...waiting.heard, ...dialling.heard]).toEqual([]);
  });
});
