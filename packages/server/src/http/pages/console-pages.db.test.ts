import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEmbeddedTestStore } from "../../store/testing/databases.ts";
import type { ConsoleState, HttpServer } from "../deps.ts";
import { openTestServer, send } from "../testing/http-fixture.ts";

/** The built page without its files: the placeholders that the service fills in are those of the real page. */
const PAGE = readFileSync(new URL("../../../../console/index.html", import.meta.url), "utf8");
const READY: ConsoleState = {
  kind: "ready",
  html: PAGE,
  assets: new Map([
    [
      "a-1.js",
      {
        contentType: "text/javascript; charset=utf-8",
        bytes: Buffer.from("plain"),
        br: Buffer.from("small"),
        gzip: Buffer.from("zipped"),
      },
    ],
    ["f-1.woff2", { contentType: "font/woff2", bytes: Buffer.from("font"), br: null, gzip: null }],
  ]),
};
const PERSON = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the console", () => {
  let state: ConsoleState = READY;
  let store: Awaited<ReturnType<typeof openEmbeddedTestStore>>;
  let server: HttpServer;
  let below: HttpServer;
  beforeAll(async () => {
    store = await openEmbeddedTestStore();
    const console = { state: () => Promise.resolve(state) };
    server = await openTestServer(store, { console });
    below = await openTestServer(store, { console, publicUrl: "https://voice.example/par<l>ey" });
  });
  afterAll(async () => {
    await server.close();
    await below.close();
    await store.remove();
  });

  const get = (url: string, headers: Record<string, string> = {}) => send(server, "GET", url, { headers });

  it("is one page at / that may run its own files only, with a nonce of its own each time", async () => {
    const [first, second] = [await get("/"), await get("/")];
    expect(first.status).toBe(200);
    expect(first.headers["cache-control"]).toBe("no-cache");
    expect(first.headers["permissions-policy"]).toContain("microphone=(self)");
    const policy = String(first.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    expect(policy).toContain("connect-src 'self' blob: https://voice.example wss://voice.example");
    expect(policy).not.toContain("unsafe");
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "none";
    expect(first.text).toContain(`<meta property="csp-nonce" nonce="${nonce}" />`);
    expect(second.text).not.toContain(nonce);
  });

  it("is told the path under which a proxy has put it, escaped", async () => {
    const page = await send(below, "GET", "/", {});
    expect(page.text).toContain('<base href="/par%3Cl%3Eey/" />');
  });

  it.each(["/agents", "/agents/0b9c", "/calls/1", "/calls/1?view=events", "/nothing/at/all/of/it"])(
    "is what a person finds at %s",
    async (path) => {
      expect((await get(path, PERSON)).text).toContain("<base");
      expect((await send(server, "HEAD", path, { headers: PERSON })).status).toBe(200);
    },
  );

  it.each([
    ["GET", "/api/nothing", PERSON, 404],
    ["GET", "/api", PERSON, 404],
    ["GET", "/docs/nothing", PERSON, 404],
    ["GET", "/problems/nothing", PERSON, 404],
    ["GET", "/assets/nothing.js", PERSON, 404],
    ["GET", "/healthz/x", PERSON, 404],
    ["GET", "//api/agents", PERSON, 404],
    ["GET", "/agents", { accept: "application/json" }, 404],
    ["GET", "/agents", {}, 404],
    ["POST", "/agents", PERSON, 404],
    ["GET", "/calls/1/server_web_socket/t", PERSON, 400],
  ])("leaves %s %s of %j a problem (%i)", async (method, path, headers, status) => {
    const reply = await send(server, method, path, { headers });
    expect([reply.status, reply.headers["content-type"]]).toEqual([status, "application/problem+json"]);
  });

  it("has files that never change under their name, as small as the browser takes them", async () => {
    const small = await get("/assets/a-1.js", { "accept-encoding": "gzip, br" });
    expect([small.text, small.headers["content-encoding"], small.headers["vary"]]).toEqual([
      "small",
      "br",
      "Accept-Encoding",
    ]);
    expect(small.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const zipped = await get("/assets/a-1.js", { "accept-encoding": "gzip, br;q=0" });
    expect([zipped.text, zipped.headers["content-encoding"]]).toEqual(["zipped", "gzip"]);
    const plain = await get("/assets/a-1.js");
    expect([plain.text, plain.headers["content-encoding"]]).toEqual(["plain", undefined]);
    const font = await get("/assets/f-1.woff2", { "accept-encoding": "gzip, br" });
    expect([font.text, font.headers["content-type"]]).toEqual(["font", "font/woff2"]);
  });

  it("says while it is being built, and what kept it from being built", async () => {
    state = { kind: "building" };
    const building = await get("/agents", PERSON);
    expect([building.status, building.headers["refresh"]]).toEqual([503, "2"]);
    state = { kind: "failed", reason: "The build ended with 1. <oops>" };
    const failed = await get("/");
    expect(failed.status).toBe(503);
    expect(failed.text).toContain("The build ended with 1. &lt;oops&gt;");
    state = READY;
  });

  it("gives way to the reference where the operator does without it", async () => {
    state = { kind: "off" };
    const root = await get("/");
    expect([root.status, root.headers["location"]]).toEqual([302, "docs"]);
    expect((await get("/agents", PERSON)).status).toBe(404);
    expect((await get("/assets/a-1.js")).status).toBe(404);
    state = READY;
  });
});
