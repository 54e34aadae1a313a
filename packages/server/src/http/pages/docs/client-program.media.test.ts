import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { CLIENT_PROGRAM } from "./joining.ts";

/** The program runs for a fifth of a second; a busy machine may take far longer, a stuck one must not hang. */
const PROGRAM_LIMIT_MS = 60_000;
/** Frames of 20 ms that the other side receives before it ends the call. */
const FRAMES = 10;

it("the client of the reference page sends speech and silence, keeps what it hears and ends with the call", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-client-"));
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  try {
    await once(server, "listening");
    const received: Buffer[] = [];
    server.on("connection", (socket: WebSocket) => {
      socket.send(JSON.stringify({ type: "state", state: "speaking" }));
      socket.send(Buffer.from([1, 2, 3, 4]));
      const last = {
        type: "transcript",
        role: "agent",
        medium: "voice",
        text: "Hello.",
        final: true,
        ordinal: 0,
      };
      socket.send(JSON.stringify(last));
      socket.on("message", (data: Buffer, isBinary) => {
        if (isBinary) received.push(data);
        if (received.length === FRAMES) socket.close(1000, "over");
      });
    });
    await writeFile(join(folder, "talk.mjs"), CLIENT_PROGRAM);
    // A frame and a half of speech.
    await writeFile(join(folder, "speech.raw"), Buffer.alloc(960, 7));
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { stdout } = await promisify(execFile)(process.execPath, ["talk.mjs", url, "speech.raw"], {
      cwd: folder,
      timeout: PROGRAM_LIMIT_MS,
    });
    expect(stdout.trim().split("\n")).toEqual(["agent is speaking", "agent: Hello.", "over: 1000 over"]);
    const frames = received.slice(0, FRAMES);
    expect(frames.map((frame) => frame.length)).toEqual(frames.map(() => 640));
    const speech = Buffer.concat([Buffer.alloc(960, 7), Buffer.alloc(FRAMES * 640 - 960)]);
    expect(Buffer.concat(frames).equals(speech)).toBe(true);
    expect([...(await readFile(join(folder, "heard.raw")))]).toEqual([1, 2, 3, 4]);
  } finally {
    for (const socket of server.clients) socket.terminate();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
