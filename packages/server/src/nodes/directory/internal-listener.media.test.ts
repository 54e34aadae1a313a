import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallOperation } from "../../ports/nodes/call-directory.ts";
import { openInternalClient, type InternalClient } from "./internal-client.ts";
import { openInternalListener, type InternalListener } from "./internal-listener.ts";
import { hashOf, newNonce, nodeKey, signRequest } from "./signatures.ts";
import { HEADERS, MAX_BODY_BYTES, operationPath } from "./wire.ts";

const WIDE_MS = 30_000;
const BOOT = "a boot".replace(" ", "-");
const CALL = randomUUID();
const OPERATION: CallOperation = { kind: "end" };

describe("the internal listener", () => {
  const key = nodeKey(randomBytes(32));
  let listener: InternalListener;
  let performed: [string, CallOperation][];
  let warned: object[];
  let answer: unknown;
  const sockets: Socket[] = [];
  const clients: InternalClient[] = [];

  beforeEach(async () => {
    performed = [];
    warned = [];
    answer = true;
    const logger = { warn: (fields: object) => void warned.push(fields), error: () => undefined };
    const perform = async (callId: string, operation: CallOperation) => {
      performed.push([callId, operation]);
      return answer;
    };
    const deps = { key, bootId: BOOT, nowMs: Date.now, perform, logger };
    listener = await openInternalListener(deps, { host: "127.0.0.1", port: 0 });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await listener.close();
  });

  const owner = (bootId = BOOT) => ({
    nodeId: "n",
    bootId,
    address: `http://127.0.0.1:${String(listener.port)}`,
  });
  const clientOf = (withKey = key, nowMs: () => number = Date.now): InternalClient => {
    const client = openInternalClient({ key: withKey, nowMs, limitMs: WIDE_MS });
    clients.push(client);
    return client;
  };

  interface Raw {
    readonly path?: string;
    readonly method?: string;
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** What the signature is made for, where it differs. */
    readonly signed?: Readonly<Record<string, string | number>>;
  }
  /** Headers of a request that is right, but for what a test changes. */
  const headersOf = ({
    path = operationPath(CALL),
    method = "POST",
    body = "",
    headers = {},
    signed = {},
  }: Raw) => {
    const made = {
      method,
      path,
      target: BOOT,
      atMs: Date.now(),
      nonce: newNonce(),
      bodyHash: hashOf(body),
      ...signed,
    };
    return {
      [HEADERS.target]: made.target,
      [HEADERS.time]: String(made.atMs),
      [HEADERS.nonce]: made.nonce,
      [HEADERS.bodyHash]: made.bodyHash,
      [HEADERS.signature]: signRequest(key, made),
      ...headers,
    };
  };
  const send = async (raw: Raw): Promise<number> => {
    const { path = operationPath(CALL), method = "POST", body = JSON.stringify(OPERATION) } = raw;
    const headers = headersOf({ ...raw, body });
    const request = httpRequest({
      port: listener.port,
      host: "127.0.0.1",
      method,
      path,
      headers,
      agent: false,
    });
    request.end(body);
    const [response] = (await once(request, "response")) as [{ statusCode: number; resume: () => void }];
    response.resume();
    return response.statusCode;
  };

  it("carries out an operation of a node of the deployment, on a connection that is kept", async () => {
    const client = clientOf();
    expect(await client.send(owner(), CALL, OPERATION)).toEqual({ kind: "answered", answer: true });
    answer = { kind: "answered", sdp: "v=0" };
    expect(await client.send(owner(), CALL, { kind: "offer", sdp: "ü" })).toEqual({
      kind: "answered",
      answer,
    });
    expect(performed).toEqual([
      [CALL, OPERATION],
      [CALL, { kind: "offer", sdp: "ü" }],
    ]);
  });

  it("says that another process runs here, without carrying it out", async () => {
    const sent = await clientOf().send(owner("another-boot"), CALL, OPERATION);
    expect(sent.kind).toBe("moved");
    expect(performed).toEqual([]);
  });

  it("refuses an operation that it does not know", async () => {
    answer = null;
    expect((await clientOf().send(owner(), CALL, OPERATION)).kind).toBe("unreachable");
  });

  it.each<[string, Raw]>([
    ["no key", { headers: { [HEADERS.signature]: "A".repeat(43) } }],
    ["no headers of a node", { headers: { [HEADERS.signature]: "", [HEADERS.nonce]: "" } }],
    ["the signature of another path", { signed: { path: operationPath(randomUUID()) } }],
    ["the signature of another method", { signed: { method: "PUT" } }],
    ["the signature of another target", { headers: { [HEADERS.target]: "another-boot" } }],
    ["the signature of another body", { headers: { [HEADERS.bodyHash]: hashOf("x") } }],
    ["another body than it names", { signed: { bodyHash: hashOf("x") } }],
    ["a time of a minute ago", { signed: { atMs: Date.now() - 60_000 } }],
    ["a time in a minute", { signed: { atMs: Date.now() + 90_000 } }],
    ["a nonce of another form", { headers: { [HEADERS.nonce]: "x\ny".replace("\n", "") } }],
  ])("refuses a request with %s", async (_what, raw) => {
    expect(await send(raw)).toBe(401);
    expect(performed).toEqual([]);
    expect(warned).toHaveLength(1);
  });

  it("refuses the key of another deployment", async () => {
    const sent = await clientOf(nodeKey(randomBytes(32))).send(owner(), CALL, OPERATION);
    expect(sent.kind).toBe("unreachable");
    expect(performed).toEqual([]);
  });

  it("refuses a request that is sent again, and goes on", async () => {
    const raw = { headers: headersOf({ body: JSON.stringify(OPERATION) }) };
    expect(await send(raw)).toBe(200);
    expect(await send(raw)).toBe(401);
    expect(performed).toHaveLength(1);
    expect(await send({})).toBe(200);
  });

  it.each<[number, Raw]>([
    [404, { path: "/calls" }],
    [404, { path: "/healthz" }],
    [404, { method: "PUT" }],
    [400, { body: "[]" }],
    [400, { body: "{" }],
  ])("answers %i to a request of a node that is wrong", async (status, raw) => {
    const { path = operationPath(CALL), method = "POST" } = raw;
    expect(await send({ ...raw, signed: { path, method } })).toBe(status);
    expect(performed).toEqual([]);
  });

  it("cuts off a body that is too long", async () => {
    const body = "x".repeat(MAX_BODY_BYTES + 1);
    expect(await send({ body }).catch(() => 401)).toBe(401);
    expect(performed).toEqual([]);
    expect(await send({})).toBe(200);
  });

  /** A connection of somebody without the key, and everything that it gets until it is closed. */
  const strange = async (text: string): Promise<string> => {
    const socket = connect(listener.port, "127.0.0.1");
    sockets.push(socket);
    let received = "";
    socket.on("data", (block: Buffer) => void (received += block.toString()));
    socket.on("error", () => undefined);
    const closed = once(socket, "close");
    socket.write(text);
    await closed;
    return received;
  };

  it("closes a connection without the key before its body has come", async () => {
    const head = `POST ${operationPath(CALL)} HTTP/1.1\r\nhost: x\r\ncontent-length: 2000000000\r\n\r\n{`;
    expect(await strange(head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("closes connections whose headers or body come too slowly, while others are served", async () => {
    const body = JSON.stringify(OPERATION);
    const lines = Object.entries(headersOf({ body })).map(([name, value]) => `${name}: ${value}\r\n`);
    const slow = [
      strange(`POST ${operationPath(CALL)} HTTP/1.1\r\nhost: x\r\n`),
      strange(
        `POST ${operationPath(CALL)} HTTP/1.1\r\nhost: x\r\n${lines.join("")}content-length: ${String(body.length)}\r\n\r\n{`,
      ),
    ];
    expect(await send({})).toBe(200);
    for (const received of await Promise.all(slow)) expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(performed).toHaveLength(1);
  });

  it("is told from somebody else at its address, who cannot answer for it", async () => {
    const impostor = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "application/json" }).end('{"answer":true}');
    });
    impostor.listen(0, "127.0.0.1");
    await once(impostor, "listening");
    const { port } = impostor.address() as AddressInfo;
    const at = { nodeId: "n", bootId: BOOT, address: `http://127.0.0.1:${String(port)}` };
    const sent = await clientOf().send(at, CALL, OPERATION);
    expect(sent).toEqual({ kind: "unreachable", reason: "did not answer as a node of this deployment" });
    impostor.closeAllConnections();
    await new Promise((resolve) => impostor.close(resolve));
  });

  it("may have carried an operation out where the connection breaks, so that it is sent again only if that is harmless", async () => {
    let received = 0;
    const dying = createServer((request) => {
      request.resume();
      request.on("end", () => {
        received += 1;
        request.socket.resetAndDestroy();
      });
    });
    dying.listen(0, "127.0.0.1");
    await once(dying, "listening");
    const { port } = dying.address() as AddressInfo;
    const at = { nodeId: "n", bootId: BOOT, address: `http://127.0.0.1:${String(port)}` };
    expect(await clientOf().send(at, CALL, { kind: "send" })).toMatchObject({ kind: "broken" });
    expect(received).toBe(1);
    dying.closeAllConnections();
    await new Promise((resolve) => dying.close(resolve));
    // Nobody listens any more, so nothing was sent.
    expect(await clientOf().send(at, CALL, { kind: "send" })).toMatchObject({ kind: "moved" });
  });

  it("is waited for no longer than the limit", async () => {
    answer = undefined;
    const silent = createServer(() => undefined);
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const client = openInternalClient({ key, nowMs: Date.now, limitMs: 50 });
    clients.push(client);
    const sent = await client.send(
      { nodeId: "n", bootId: BOOT, address: `http://127.0.0.1:${String(port)}` },
      CALL,
      OPERATION,
    );
    expect(sent).toEqual({ kind: "unreachable", reason: "did not answer within 50 ms" });
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });
});
