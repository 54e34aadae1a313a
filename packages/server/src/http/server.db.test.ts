/** What every answer of the HTTP server has in common, and the pages outside the interface. */

import { connect } from "node:net";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, describe, it } from "vitest";
import { describeOnBothDatabases } from "../store/testing/databases.ts";
import { StoreBusyError } from "../store/database/store-errors.ts";
import type { HttpServer } from "./deps.ts";
import { buildServer } from "./server.ts";
import { type Client, newClient, PUBLIC_URL, send, testDeps, testLog } from "./testing/http-fixture.ts";

describeOnBothDatabases("the HTTP server", (current) => {
  const log = testLog();
  const registry = new Registry();
  let server: HttpServer;
  let client: Client;
  let failWith: Error = new Error("secret inside");

  beforeAll(async () => {
    server = await buildServer(
      testDeps(current(), {
        logger: log.logger,
        registry,
        createCall: () => Promise.reject(failWith),
        settings: { ...testDeps(current()).settings, allowedOrigins: ["https://console.example"] },
      }),
    );
    await server.listen();
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
  });

  describe("failures", () => {
    it("tell nothing of the inside, and log it with the request id", async () => {
      failWith = new Error("secret inside");
      const reply = await send(server, "POST", "/api/calls", {
        headers: { "x-api-key": client.key, "x-request-id": "find-me-1" },
        body: {},
      });
      expect(reply.status).toBe(500);
      expect(reply.json).toEqual({
        type: `${PUBLIC_URL}/problems/internal`,
        title: "Something failed in the service",
        status: 500,
        detail: "Something failed in the service. The request id identifies the error in the log.",
        code: "internal",
        requestId: "find-me-1",
      });
      const logged = log.lines().filter((line) => line["requestId"] === "find-me-1");
      expect(JSON.stringify(logged)).toContain("secret inside");
    });

    it("are 503 with Retry-After while the database is busy", async () => {
      failWith = new StoreBusyError("busy");
      const reply = await client.post("/api/calls");
      expect([reply.status, reply.json["code"], reply.headers["retry-after"]]).toEqual([
        503,
        "no_capacity",
        "1",
      ]);
    });

    it.each([
      ["GET", "/nothing", 404],
      ["POST", "/api/nothing", 404],
      ["GET", "/api", 404],
      ["GET", "//api/agents", 404],
      ["GET", "/%zz", 404],
      ["GET", "/problems/nothing", 404],
      ["OPTIONS", "/nothing", 404],
      ["DELETE", "/docs", 405],
      ["POST", "/calls/1/server_web_socket/t", 405],
      ["GET", "/calls/1/server_web_socket/t", 400],
    ])("%s %s is a problem with status %i", async (method, url, status) => {
      const reply = await send(server, method, url);
      expect(reply.status).toBe(status);
      expect(reply.headers["content-type"]).toBe("application/problem+json");
      expect(reply.json).toMatchObject({ status, requestId: reply.headers["x-request-id"] });
      expect(reply.json["type"]).toBe(`${PUBLIC_URL}/problems/${String(reply.json["code"])}`);
    });

    it("explain themselves to programs and to people", async () => {
      const program = await send(server, "GET", `${PUBLIC_URL}/problems/rate_limited`);
      expect(program.json).toMatchObject({ code: "rate_limited", status: 429 });
      const person = await send(server, "GET", "/problems/rate_limited", {
        headers: { accept: "text/html,*/*" },
      });
      expect(person.headers["content-type"]).toContain("text/html");
      expect(person.text).toContain("rate_limited");
    });
  });

  describe("requests", () => {
    it("keep a sensible id of the client's and get one otherwise", async () => {
      const kept = await send(server, "GET", "/healthz", { headers: { "x-request-id": "abc-1" } });
      expect(kept.headers["x-request-id"]).toBe("abc-1");
      const made = await send(server, "GET", "/healthz", { headers: { "x-request-id": "a b" } });
      expect(made.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    });

    it("carry the headers that keep browsers from running or framing an answer", async () => {
      for (const url of ["/api/agents", "/nothing", "/healthz", "/api/schema/"]) {
        const { headers } = await send(server, "GET", url);
        expect(headers).toMatchObject({
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
          "strict-transport-security": "max-age=31536000",
        });
      }
    });

    it("may be read by any origin, without credentials", async () => {
      const reply = await send(server, "GET", "/api/agents", {
        headers: { origin: "https://any.example", "x-unsafe-api-key": client.key },
      });
      expect(reply.status).toBe(200);
      expect(reply.headers["access-control-allow-origin"]).toBe("*");
      expect(reply.headers["access-control-expose-headers"]).toBe(
        "Location, Link, Retry-After, Total-Relation, X-Request-Id, Idempotent-Replayed, X-Service-Created-Tools, X-Ultravox-Created-Tools",
      );
      expect(reply.headers).not.toHaveProperty("access-control-allow-credentials");
    });

    it("may send X-API-Key from listed origins only", async () => {
      const allowedTo = async (origin: string): Promise<string> => {
        const reply = await send(server, "OPTIONS", "/api/agents", { headers: { origin } });
        return String(reply.headers["access-control-allow-headers"]);
      };
      expect(await allowedTo("https://console.example")).toContain("X-API-Key, ");
      expect(await allowedTo("https://other.example")).not.toMatch(/(^|, )X-API-Key/);
    });

    it("are logged without keys, bodies, queries and join tokens", async () => {
      await send(server, "GET", "/api/agents?search=private-words", { headers: { "x-api-key": client.key } });
      await client.post("/api/agents", { name: "private-name" });
      await send(server, "GET", "/calls/1/server_web_socket/private-token");
      await send(server, "GET", "/calls/1/server_web_socket/private-token/x");
      await send(server, "GET", "/calls/1/server_web_socket/private-%zz");
      expect(log.text()).not.toContain("private-");
      expect(log.text()).not.toContain(client.key);
      expect(log.text()).toContain("/calls/1/server_web_socket/***");
      expect(log.lines().some((line) => line["path"] === "/api/agents" && line["status"] === 201)).toBe(true);
    });

    it("are counted by route and status", async () => {
      const { text } = await send(server, "GET", "/metrics");
      expect(text).toMatch(
        /parley_http_request_duration_seconds_count\{method="POST",route="\/api\/agents",status="201"\} [1-9]/,
      );
      expect(text).toContain('route="unknown",status="404"');
    });

    it("that are no HTTP get a problem and the connection closed", async () => {
      const answer = await rawRequest(server.port, "NONSENSE\r\n\r\n");
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(answer).toContain("content-type: application/problem+json");
      expect(answer).toContain('"code":"validation_failed"');
    });

    it("offering another protocol are answered as they are", async () => {
      const answer = await rawRequest(
        server.port,
        "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n",
      );
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    });

    it("whose body ends early do no harm", async () => {
      const cut =
        "POST /api/agents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n";
      await rawRequest(server.port, `${cut}X-API-Key: ${client.key}\r\n\r\n{"na`, true);
      expect((await client.get("/healthz")).status).toBe(200);
    });
  });

  describe("pages", () => {
    it("lead from / to the reference, which needs nothing from outside", async () => {
      const root = await send(server, "GET", "/");
      expect([root.status, root.headers["location"]]).toEqual([302, "docs"]);
      const docs = await send(server, "GET", "/docs");
      expect(docs.status).toBe(200);
      expect(docs.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
      expect(docs.text).toContain(`curl -X POST &quot;${PUBLIC_URL}/api/agents&quot;`);
      expect(docs.text).not.toMatch(/(src|href)="(?!#|https:\/\/voice\.example\/)/);
      expect((await send(server, "GET", "/favicon.ico")).status).toBe(204);
    });

    it("describe the interface as JSON and as YAML, without a key", async () => {
      const accepts: [string, string][] = [
        ["", "application/json"],
        ["*/*", "application/json"],
        ["application/json, application/yaml", "application/json"],
        ["application/yaml", "application/yaml"],
        ["text/x-yaml", "application/yaml"],
        ["application/vnd.oai.openapi+yaml", "application/yaml"],
      ];
      for (const [accept, type] of accepts) {
        const reply = await send(server, "GET", "/api/schema", { headers: { accept } });
        expect([reply.status, reply.headers["content-type"]]).toEqual([200, type]);
      }
      const json = await send(server, "GET", "/api/schema/?format=json", {
        headers: { accept: "application/yaml" },
      });
      expect(json.json).toMatchObject({ openapi: "3.1.0", servers: [{ url: PUBLIC_URL }] });
      const yaml = await send(server, "GET", "/api/schema/?format=yaml");
      expect(yaml.text).toMatch(/^openapi: 3\.1\.0\n/);
      expect((await send(server, "GET", "/api/schema/?format=xml")).status).toBe(400);
    });

    it("answer HEAD like GET without a body", async () => {
      const head = await send(server, "HEAD", "/api/agents", { headers: { "x-api-key": client.key } });
      expect([head.status, head.text]).toEqual([200, ""]);
    });

    it("say whether the process lives and is ready", async () => {
      expect((await send(server, "GET", "/healthz")).json).toEqual({ status: "alive" });
      expect((await send(server, "GET", "/readyz")).json).toEqual({ status: "ready" });
      const degraded = ["the audio turn detector is gone: it crashed"];
      const limping = await buildServer(testDeps(current(), { degradedParts: () => degraded }));
      const shown = await send(limping, "GET", "/readyz");
      expect([shown.status, shown.json]).toEqual([200, { status: "ready", degraded }]);
      await limping.close();
      const waiting = await buildServer(
        testDeps(current(), {
          lostEngines: () => ["the offline recogniser is gone: it crashed"],
          store: { db: current().db, ping: () => Promise.reject(new Error("no route to 10.1.2.3")) },
        }),
      );
      const reply = await send(waiting, "GET", "/readyz");
      expect(reply.status).toBe(503);
      expect(reply.json["detail"]).toBe(
        "Not ready: the database does not answer, the offline recogniser is gone: it crashed.",
      );
      await waiting.close();
    });
  });

  it("makes its public URL from the address where none is given", async () => {
    const own = await buildServer(testDeps(current(), { publicUrl: null, host: "0.0.0.0" }));
    await own.listen();
    expect(own.port).toBeGreaterThan(0);
    expect(own.publicUrl).toBe(`http://127.0.0.1:${own.port}`);
    const answer = await fetch(`${own.publicUrl}/problems/gone`);
    expect(answer.status).toBe(200);
    expect(answer.headers.has("strict-transport-security")).toBe(false);
    await own.close();
    await expect(fetch(`${own.publicUrl}/healthz`)).rejects.toThrow("fetch failed");
  });
});

/** Sends bytes and reads until the other side closes; `cut` closes at once after sending. */
async function rawRequest(port: number, text: string, cut = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => {
      if (cut) socket.end(text);
      else socket.write(text);
    });
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
    socket.on("error", reject);
  });
}
