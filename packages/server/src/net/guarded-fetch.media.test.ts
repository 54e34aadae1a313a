import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { openLocalServer, type LocalHandler } from "../ports/testing/local-server.ts";
import { readAllowedTargets } from "./address-filter.ts";
import { connectionTo, openGuardedDial } from "./guarded-dial.ts";
import { openGuardedClient, RequestTimedOut, type GuardedRequest } from "./guarded-fetch.ts";
import { TargetRefused, targetOf } from "./target-url.ts";

const LOOPBACK = readAllowedTargets("127.0.0.1");
const client = openGuardedClient({ allowed: LOOPBACK });
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(handler: LocalHandler) {
  const server = await openLocalServer(handler);
  closing.push(() => server.close());
  return server;
}

function get(url: string, fields: Partial<GuardedRequest> = {}) {
  const request = { method: "GET", headers: {}, body: null, timeoutMs: 10_000, maxBodyBytes: 1000, url };
  return client.request({ ...request, ...fields }, fields.timeoutMs === -1 ? AbortSignal.abort() : never());
}

const never = () => new AbortController().signal;

describe("a guarded request", () => {
  it("gives status, headers and body", async () => {
    const server = await serve(({ body, method }, response) => {
      response.writeHead(201, { "X-A": ["1", "2"], "content-type": "text/plain" });
      response.end(`${method} ${body}`);
    });
    const answer = await get(server.baseUrl, { method: "POST", body: "hello", headers: { "x-b": "3" } });
    expect([answer.status, answer.body.toString(), answer.truncated]).toEqual([201, "POST hello", false]);
    expect(answer.headers).toMatchObject({ "x-a": "1, 2", "content-type": "text/plain" });
    expect(server.requests[0]?.headers).toMatchObject({ "x-b": "3", connection: "close" });
  });

  it("refuses what is not allowed before a connection", async () => {
    const server = await serve((_request, response) => {
      response.end();
    });
    const strict = openGuardedClient({ allowed: [] });
    const request = { url: server.baseUrl, method: "GET", headers: {}, body: null, timeoutMs: 10_000 };
    await expect(strict.request({ ...request, maxBodyBytes: 10 }, never())).rejects.toThrow(TargetRefused);
    await expect(strict.fetch(server.baseUrl, {}, 10)).rejects.toThrow(TargetRefused);
    await expect(get("ftp://127.0.0.1/")).rejects.toThrow("not an http URL");
    await expect(get("http://a:b@127.0.0.1/")).rejects.toThrow("credentials");
    expect(server.requests).toEqual([]);
  });

  it("connects to what the resolver said, under the name that was asked for", async () => {
    const server = await serve((_request, response) => {
      response.end("here");
    });
    const named = openGuardedClient({ allowed: LOOPBACK, resolve: () => Promise.resolve(["127.0.0.1"]) });
    const url = server.baseUrl.replace("127.0.0.1", "tools.example");
    const request = { url, method: "GET", headers: {}, body: null, timeoutMs: 10_000, maxBodyBytes: 10 };
    const answer = await named.request(request, never());
    expect(answer.body.toString()).toBe("here");
    expect(server.requests[0]?.headers.host).toBe(new URL(url).host);
  });

  it.each(["Host", "Transfer-Encoding", "content-length", "Connection"])(
    "refuses the header %s",
    async (name) => {
      const server = await serve((_request, response) => {
        response.end();
      });
      await expect(get(server.baseUrl, { headers: { [name]: "1" } })).rejects.toThrow("cannot be set");
      await expect(client.fetch(server.baseUrl, { headers: { [name]: "1" } }, 10)).rejects.toThrow(
        "cannot be set",
      );
      expect(server.requests).toEqual([]);
    },
  );

  it("does not use the proxy of the environment", async () => {
    const server = await serve((_request, response) => {
      response.end("direct");
    });
    const before = process.env["HTTP_PROXY"];
    process.env["HTTP_PROXY"] = "http://127.0.0.1:9";
    try {
      expect((await get(server.baseUrl)).body.toString()).toBe("direct");
    } finally {
      if (before === undefined) delete process.env["HTTP_PROXY"];
      else process.env["HTTP_PROXY"] = before;
    }
  });

  it("stops reading at the limit", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536, 97)));
        response.once("drain", more);
      };
      more();
    });
    const gone = server.hungUp();
    const answer = await get(server.baseUrl, { maxBodyBytes: 100_000 });
    expect([answer.body.length, answer.truncated]).toEqual([100_000, true]);
    await gone;
  });

  it.each(["never answers", "never ends"])("times out when the server %s", async (kind) => {
    const server = await serve((_request, response) => {
      if (kind === "never ends") response.writeHead(200).write("some");
    });
    const gone = server.hungUp();
    await expect(get(server.baseUrl, { timeoutMs: 300 })).rejects.toThrow(new RequestTimedOut(300));
    await gone;
  });

  it("ends with its signal, before and while it waits", async () => {
    const server = await serve(() => undefined);
    await expect(get(server.baseUrl, { timeoutMs: -1 })).rejects.toThrow("abort");
    expect(server.requests).toEqual([]);
    const controller = new AbortController();
    const requested = server.requested();
    const gone = server.hungUp();
    const request = { url: server.baseUrl, method: "GET", headers: {}, body: null, timeoutMs: 9_000 };
    const waiting = client.request({ ...request, maxBodyBytes: 10 }, controller.signal);
    await requested;
    controller.abort(new Error("not wanted any more"));
    await expect(waiting).rejects.toThrow("not wanted any more");
    await gone;
  });

  it.each(["GET", "POST"])("sends a %s once, also when the connection breaks", async (method) => {
    const server = await serve((_request, response) => {
      response.destroy();
    });
    await expect(get(server.baseUrl, { method })).rejects.toThrow("closed");
    expect(server.requests).toHaveLength(1);
  });
});

describe("redirects", () => {
  const redirecting = (to: (path: string) => string | null, status = 302): LocalHandler => {
    return ({ path }, response) => {
      const location = to(path);
      if (location === null) response.end("arrived");
      else response.writeHead(status, { location }).end("gone");
    };
  };

  it("are followed three times for GET, with the headers while the origin is the same", async () => {
    const server = await serve(redirecting((path) => (path === "/v1xxx" ? null : `${path}x`)));
    const answer = await get(server.baseUrl, { headers: { authorization: "Bearer s" } });
    expect(answer.body.toString()).toBe("arrived");
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 4 }, () => "Bearer s"),
    );
  });

  it("fail after the third", async () => {
    const server = await serve(redirecting((path) => `${path}x`));
    await expect(get(server.baseUrl)).rejects.toThrow("too many redirects");
    expect(server.requests).toHaveLength(4);
  });

  it("carry nothing but harmless headers to another origin", async () => {
    const there = await serve(redirecting(() => null));
    const here = await serve(redirecting(() => there.baseUrl));
    const headers = {
      Authorization: "Bearer s",
      "X-My-Key": "s",
      Cookie: "s",
      "X-Service-Invocation-Id": "i",
    };
    await get(here.baseUrl, { headers, harmlessHeaders: ["x-service-invocation-id"] });
    const arrived = there.requests[0]?.headers;
    expect(Object.values(arrived ?? {})).not.toContain("s");
    expect(arrived?.authorization).toBeUndefined();
    expect(arrived?.["x-service-invocation-id"]).toBe("i");
  });

  it.each([
    "http://127.0.0.2:1/",
    "http://169.254.169.254/",
    "http://[::1]/",
    "http://localhost:25/",
    "ftp://a/",
  ])("to %s are refused", async (location) => {
    const server = await serve(redirecting(() => location));
    await expect(get(server.baseUrl)).rejects.toThrow(TargetRefused);
  });

  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("are not followed for %s", async (method) => {
    const server = await serve(redirecting((path) => (path === "/v1" ? "/other" : null), 307));
    expect((await get(server.baseUrl, { method })).status).toBe(307);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a guarded fetch", () => {
  it("gives an answer as the web's fetch does", async () => {
    const server = await serve(({ headers, body }, response) => {
      response.writeHead(202, { "content-type": "application/json" });
      response.end(JSON.stringify({ key: headers["x-key"], body }));
    });
    const init = { method: "post", headers: { "X-Key": "k" }, body: "b" };
    const answer = await client.fetch(server.baseUrl, init, 1000);
    expect([answer.status, await answer.json()]).toEqual([202, { key: "k", body: "b" }]);
  });

  it("cuts off what is too large, and takes answers without a body", async () => {
    const server = await serve(({ path }, response) => {
      if (path === "/v1") response.end("a".repeat(2000));
      else response.writeHead(204).end();
    });
    const large = await client.fetch(server.baseUrl, {}, 1000);
    await expect(large.text()).rejects.toThrow("longer than 1000 bytes");
    expect((await client.fetch(`${server.baseUrl}/none`, {}, 1000)).body).toBeNull();
  });

  it("follows no redirect", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(307, { location: "/x" }).end();
    });
    await expect(client.fetch(server.baseUrl, {}, 1000)).rejects.toThrow("redirects are not followed");
    expect(server.requests).toHaveLength(1);
  });
});

describe("a guarded websocket", () => {
  it("opens to an allowed target and to no other", async () => {
    const http = createServer();
    const sockets = new WebSocketServer({ server: http });
    sockets.on("connection", (socket) => {
      socket.send("hello");
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    closing.push(async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => http.close(resolve));
    });
    const url = new URL(`ws://127.0.0.1:${String((http.address() as AddressInfo).port)}/`);
    const open = (allowed: readonly []) => openGuardedDial({ allowed });
    const allowed = new WebSocket(url, {
      createConnection: connectionTo(openGuardedDial({ allowed: LOOPBACK }), targetOf(url)),
      followRedirects: false,
    });
    const greeting = await new Promise((resolve) => {
      allowed.once("message", (data: Buffer) => resolve(data.toString()));
    });
    expect(greeting).toBe("hello");
    allowed.terminate();
    const refused = new WebSocket(url, { createConnection: connectionTo(open([]), targetOf(url)) });
    const error = await new Promise((resolve) => refused.once("error", resolve));
    expect(error).toBeInstanceOf(TargetRefused);
  });
});
