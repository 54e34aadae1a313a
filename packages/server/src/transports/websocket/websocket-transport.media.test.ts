import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { TransportListener } from "../../ports/transport.ts";
import {
  describeTransportConformance,
  eventually,
  TransportRecord,
  type TransportUnderTest,
} from "../../ports/testing/transport-conformance.ts";
import { openWebSocketTransport } from "./websocket-transport.ts";

const OPTIONS = { inputSampleRateHz: 8_000, outputSampleRateHz: 16_000, clientBufferSizeMs: 60 };

async function connect(listener: TransportListener, options = OPTIONS) {
  const http = createServer();
  const server = new WebSocketServer({ server: http, maxPayload: 1024 * 1024, perMessageDeflate: false });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  const { port } = http.address() as AddressInfo;
  const accepted = new Promise<WebSocket>((resolve) => {
    server.once("connection", resolve);
  });
  const client = new WebSocket(`ws://127.0.0.1:${String(port)}`, { perMessageDeflate: false });
  const frames: Buffer[] = [];
  const messages: unknown[] = [];
  let closeCode: number | null = null;
  client.on("error", () => {
    // `close` follows.
    closeCode ??= null;
  });
  client.on("close", (code) => {
    closeCode = code;
  });
  client.on("message", (data: Buffer, isBinary) => {
    if (isBinary) frames.push(Buffer.from(data));
    else messages.push(JSON.parse(data.toString("utf8")));
  });
  const socket = await accepted;
  const transport = openWebSocketTransport(socket, options, listener);
  if (client.readyState !== WebSocket.OPEN) {
    await new Promise((resolve) => {
      client.once("open", resolve);
    });
  }
  const under: TransportUnderTest = {
    transport,
    peer: {
      audio: () => {
        const bytes = Uint8Array.from(Buffer.concat(frames));
        return new Int16Array(bytes.buffer);
      },
      messages: () => messages,
      closeCode: () => closeCode,
      sendAudio: (samples) => {
        client.send(new Uint8Array(samples.slice().buffer));
      },
      sendText: (text) => {
        client.send(text);
      },
      hangUp: () => {
        client.close(1000);
      },
      vanish: () => {
        client.terminate();
      },
      freeze: () => {
        client.pause();
      },
    },
    dispose: async () => {
      client.terminate();
      socket.terminate();
      await new Promise<void>((resolve) => {
        http.close(() => {
          resolve();
        });
      });
    },
  };
  return { ...under, client, socket };
}

describeTransportConformance("a websocket", { open: (listener) => connect(listener) });

async function connected(options = OPTIONS) {
  const record = new TransportRecord();
  const opened = await connect(record, options);
  onTestFinished(opened.dispose);
  return { record, ...opened };
}

describe("websocket frames", () => {
  it("an odd byte is reported and dropped", async () => {
    const { record, client } = await connected();
    client.send(Uint8Array.of(1, 0, 2, 0, 3));
    client.send(Uint8Array.of(9));
    await eventually(() => record.problems.length === 2, "both reports");
    expect(record.problems).toEqual(["odd_bytes", "odd_bytes"]);
    expect(record.samples()).toEqual(Int16Array.of(1, 2));
  });

  it("one second of audio is taken, more is dropped whole and reported", async () => {
    const { record, client } = await connected();
    client.send(new Uint8Array(16_000));
    client.send(new Uint8Array(16_002));
    client.send(new Uint8Array(0));
    client.send(Uint8Array.of(5, 0));
    await eventually(() => record.heard.length === 2, "the last frame");
    expect(record.heard.map((samples) => samples.length)).toEqual([8_000, 1]);
    expect(record.problems).toEqual(["frame_too_long"]);
  });

  it("a message of 256 KiB is whole, a longer one is cut off and says so", async () => {
    const { record, client } = await connected();
    client.send("x".repeat(256 * 1024));
    client.send("y".repeat(256 * 1024 + 1));
    await eventually(() => record.texts.length === 2, "both texts");
    expect(record.texts.map(({ text, tooLong }) => [text.length, tooLong])).toEqual([
      [256 * 1024, false],
      [1_024, true],
    ]);
  });

  it("a frame above the server's limit ends the connection with 1009, which is no hang-up", async () => {
    const { record, client, peer } = await connected();
    client.send(new Uint8Array(2 * 1024 * 1024));
    await eventually(() => record.closings.length > 0, "the close");
    expect(record.closings).toMatchObject([{ regular: false }]);
    expect(peer.closeCode()).toBe(1009);
  });

  it.each([
    [1000, true],
    [1001, true],
    [undefined, true],
    [1011, false],
    [1012, false],
    [4000, false],
  ])("a close with %s is regular: %s", async (code, regular) => {
    const { record, client } = await connected();
    client.close(code);
    await eventually(() => record.closings.length > 0, "the close");
    expect(record.closings).toEqual([{ regular, code: code ?? 1005 }]);
  });

  it("a client that does not read costs a bounded amount of memory and is reported once as congested", async () => {
    const { record, client, socket, transport } = await connected();
    client.pause();
    const frame = new Int16Array(960);
    let sent = 0;
    for (let i = 0; i < 20_000 && record.problems.length === 0; i += 1) {
      if (transport.sendAudio(frame)) sent += 1;
      if (i % 100 === 0) await new Promise(setImmediate);
    }
    expect(record.problems).toEqual(["congested"]);
    expect(socket.bufferedAmount).toBeLessThan(300 * 1024);
    expect(transport.sendAudio(frame)).toBe(false);
    expect(record.problems).toEqual(["congested"]);
    client.resume();
    await eventually(() => socket.bufferedAmount === 0, "room");
    expect(transport.sendAudio(frame)).toBe(true);
    expect(sent).toBeGreaterThan(0);
  });

  it("a client that reads no messages is cut off before they fill the memory", async () => {
    const { record, client, transport } = await connected();
    client.pause();
    const message = "m".repeat(100 * 1024);
    for (let i = 0; i < 400 && record.closings.length === 0; i += 1) {
      transport.sendData({ type: "debug", message });
      await new Promise(setImmediate);
    }
    await eventually(() => record.closings.length > 0, "the end");
    expect(record.closings).toMatchObject([{ regular: false }]);
  });

  it("a flood is read in portions", async () => {
    const { record, client } = await connected();
    const startMs = performance.now();
    for (let i = 0; i < 2_000; i += 1) client.send("{}");
    await eventually(() => record.texts.length === 2_000, "all of it");
    // 256 messages in 100 ms, and some more that had been read already.
    expect(performance.now() - startMs).toBeGreaterThan(300);
  });

  it("the client's buffer is never below one frame", async () => {
    const { transport } = await connected({ ...OPTIONS, clientBufferSizeMs: 0 });
    expect(transport.aheadMs).toBe(20);
  });
});
