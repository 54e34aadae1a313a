import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openEmbeddedTestStore } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { buildServer } from "../server.ts";
import { type Client, newClient, testDeps } from "../testing/http-fixture.ts";

const MIB = 1_048_576;
const FORM = "multipart/form-data; boundary=b";

let store: Awaited<ReturnType<typeof openEmbeddedTestStore>>;
let server: HttpServer;
let clients: readonly [Client, Client];

beforeAll(async () => {
  store = await openEmbeddedTestStore();
  server = await buildServer(testDeps(store, { publicUrl: null }));
  await server.listen();
  clients = [await newClient(server, store.db), await newClient(server, store.db)];
});
afterAll(async () => {
  await server.close();
  await store.remove();
});

/** Sends the headers of an upload and no body. */
function begin({ key }: Client, bytes: number): Socket {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(
    `POST /api/voices HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: ${FORM}\r\n` +
      `Content-Length: ${bytes}\r\n\r\n`,
  );
  return socket;
}

async function answerOf(socket: Socket): Promise<string> {
  const [data] = (await once(socket, "data")) as [Buffer];
  const text = data.toString();
  return `${text.slice(9, 12)} ${/"detail":"([^"]*)"/.exec(text)?.[1] ?? ""}`;
}

// The tests mostly wait, so they run concurrently.
it.concurrent(
  "takes one large upload of an account at a time, and ends one that stalls",
  { timeout: 30_000 },
  async () => {
    const stalled = begin(clients[0], 8 * MIB);
    const answered = answerOf(stalled);
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
    expect(await answerOf(begin(clients[0], 8 * MIB))).toBe(
      "503 Another large body of this account is being read; send one at a time.",
    );
    const other = begin(clients[1], 8 * MIB);
    expect(await answered).toBe(
      "400 The body came too slowly: it must arrive within 300 s, and at least 65536 bytes of it in any 10 s.",
    );
    await once(stalled, "close");
    other.destroy();
    // The slot is free again: this request gets it.
    const again = begin(clients[0], 8 * MIB);
    const nothing = new Promise<string>((resolve) => {
      setTimeout(() => resolve("no answer yet"), 500);
    });
    expect(await Promise.race([answerOf(again), nothing])).toBe("no answer yet");
    again.destroy();
  },
);

it.concurrent("closes a connection whose request was refused and whose body never ends", async () => {
  const refused = begin({ ...clients[0], key: "wrong" }, 8 * MIB);
  expect(await answerOf(refused)).toContain("401");
  await once(refused, "close");
});

it.concurrent(
  "closes a connection that has sent nothing without an answer, and answers one that stops in its headers",
  { timeout: 100_000 },
  async () => {
    // Node looks every 30 s for connections that have exceeded their 10 s.
    const silent = connect(server.port, "127.0.0.1");
    const received: Buffer[] = [];
    silent.on("data", (data) => received.push(data));
    const stopped = connect(server.port, "127.0.0.1");
    stopped.write("GET /api/agents HTTP/1.1\r\nHost: x\r\n");
    const [answer] = await Promise.all([answerOf(stopped), once(silent, "close")]);
    expect(answer).toBe("400 The request came too slowly.");
    expect(Buffer.concat(received).toString()).toBe("");
  },
);
