import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedTestStore } from "../../store/testing/databases.ts";
import type { HttpServer, InjectRequest } from "../deps.ts";
import type {
  JoinLookup,
  WebRtcAnswer,
  WebRtcConnection,
  WebRtcOffer,
  WebRtcPatched,
} from "../../joins/api.ts";
import { buildServer } from "../server.ts";
import { PUBLIC_URL, testDeps, testLog } from "../testing/http-fixture.ts";

const callId = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";
const otherCallId = "7f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a12";
const connectionId = "0b9cfb52-5a06-4a3c-8f0a-1c8a4f1d2e3f";
const joinPath = `/calls/${callId}/web_rtc/secret-token`;
const location = `${joinPath}/${connectionId}`;

describe("joins by WebRTC", () => {
  const log = testLog();
  let store: Awaited<ReturnType<typeof openEmbeddedTestStore>>;
  let server: HttpServer;
  let lookup: JoinLookup;
  let answer: WebRtcAnswer;
  /** Offers of the first call are not answered before this resolves. */
  let answering: Promise<void>;
  let patched: WebRtcPatched;
  let isThere: boolean;
  let offers: WebRtcOffer[];
  let sent: [WebRtcConnection, string][];

  beforeAll(async () => {
    store = await openEmbeddedTestStore();
    server = await buildServer(
      testDeps(store, {
        logger: log.logger,
        findJoin: ({ callId: id, medium, token }) =>
          Promise.resolve(
            [callId, otherCallId].includes(id) && medium === "web_rtc" && token === "secret-token"
              ? lookup
              : "not_found",
          ),
        webRtc: {
          iceServerLinks: ['<stun:a.example>; rel="ice-server"', '<stun:b.example>; rel="ice-server"'],
          offer: async (input) => {
            offers.push(input);
            if (input.callId === callId) await answering;
            return answer;
          },
          patch: (connection, text) => {
            sent.push([connection, text]);
            return Promise.resolve(patched);
          },
          renegotiate: () => Promise.resolve({ kind: "unknown" }),
          hangUp: (connection) => {
            sent.push([connection, "hang up"]);
            return Promise.resolve(isThere ? "done" : "unknown");
          },
        },
      }),
    );
  });
  afterAll(async () => {
    await server.close();
    await store.remove();
  });
  beforeEach(() => {
    lookup = "ok";
    answer = { kind: "answered", sdp: "v=0\r\n", connectionId };
    patched = { kind: "taken", fragment: null };
    answering = Promise.resolve();
    isThere = true;
    offers = [];
    sent = [];
  });

  const ask = (request: Partial<InjectRequest> = {}, type = "application/sdp") =>
    server.inject({
      method: "POST",
      url: joinPath,
      body: "v=0",
      ...request,
      headers: { "content-type": type, ...request.headers },
    });
  const codeOf = ({ body, status }: { body: string; status: number }) => [
    status,
    (JSON.parse(body) as { code: string }).code,
  ];

  it("answers an offer with where the connection is and the servers that there are", async () => {
    const given = await ask({ url: `${joinPath}?clientVersion=web_1&experimentalMessages=debug` });
    expect([given.status, given.body]).toEqual([201, "v=0\r\n"]);
    expect(given.headers).toMatchObject({
      "content-type": "application/sdp",
      location: `${PUBLIC_URL}${location}`,
      link: '<stun:a.example>; rel="ice-server", <stun:b.example>; rel="ice-server"',
    });
    const query = { clientVersion: "web_1", apiVersion: null, experimentalMessages: ["debug"] };
    expect(offers).toEqual([{ callId, sdp: "v=0", query }]);
  });

  it.each<[Partial<InjectRequest>, string | undefined, number, string]>([
    [{ url: joinPath.replace("secret", "other") }, undefined, 404, "not_found"],
    [{ url: joinPath.replace("6f0c", "8f0c") }, undefined, 404, "not_found"],
    [{ url: "/calls/x/web_rtc/secret-token" }, undefined, 404, "not_found"],
    [{}, "application/json", 415, "unsupported_media_type"],
    [{}, "text/plain", 415, "unsupported_media_type"],
    [{ body: "a".repeat(64 * 1024 + 1) }, undefined, 413, "payload_too_large"],
    [{ body: Buffer.of(0xff, 0xfe) }, undefined, 400, "validation_failed"],
    [{ method: "PUT" }, undefined, 405, "method_not_allowed"],
    [{ method: "PATCH", url: location }, "application/sdp", 415, "unsupported_media_type"],
    [{ method: "POST", url: location }, undefined, 405, "method_not_allowed"],
    [{ method: "GET" }, undefined, 400, "validation_failed"],
  ])("refuses %o of type %s with %d", async (request, type, status, code) => {
    expect(codeOf(await ask(request, type))).toEqual([status, code]);
    expect(offers).toEqual([]);
  });

  it.each<[WebRtcAnswer, number, string]>([
    [{ kind: "joined" }, 409, "conflict"],
    [{ kind: "pending" }, 409, "conflict"],
    [{ kind: "too_many", waitMs: 12_001 }, 429, "rate_limited"],
    [{ kind: "gone" }, 410, "gone"],
    [{ kind: "no_capacity" }, 503, "no_capacity"],
    [{ kind: "elsewhere" }, 503, "call_elsewhere"],
    [{ kind: "refused", reason: "must have Opus" }, 400, "validation_failed"],
  ])("says that an offer was %o by %d", async (kind, status, code) => {
    answer = kind;
    const given = await ask();
    expect(codeOf(given)).toEqual([status, code]);
    const waits: Record<string, string> = { rate_limited: "13", no_capacity: "2", call_elsewhere: "1" };
    expect(given.headers["retry-after"]).toBe(waits[code]);
  });

  it("passes the offer of a call of another node on, and no other one that is refused", async () => {
    lookup = "elsewhere";
    expect((await ask()).status).toBe(201);
    expect(offers).toHaveLength(1);
    for (const found of ["orphaned", "full", "draining"] as const) {
      lookup = found;
      expect((await ask()).status).toBe(503);
    }
    expect(offers).toHaveLength(1);
  });

  it("answers one offer of a call at a time, and the others of one take no place of other calls", async () => {
    const settled = Promise.withResolvers<void>();
    answering = settled.promise;
    const first = ask();
    await expect.poll(() => offers.length).toBe(1);
    const more = await Promise.all(Array.from({ length: 100 }, () => ask()));
    expect(new Set(more.map((refused) => codeOf(refused).join(" ")))).toEqual(new Set(["409 conflict"]));
    // A stranger who does not know the token neither blocks the call nor learns of it.
    expect(codeOf(await ask({ url: joinPath.replace("secret", "other") }))).toEqual([404, "not_found"]);
    expect((await ask({ url: joinPath.replace(callId, otherCallId) })).status).toBe(201);
    expect(offers.filter((offer) => offer.callId === callId)).toHaveLength(1);
    settled.resolve();
    expect((await first).status).toBe(201);
    expect((await ask()).status).toBe(201);
  });

  it("says that a call is over by 410", async () => {
    lookup = "gone";
    expect(codeOf(await ask())).toEqual([410, "gone"]);
    expect(offers).toEqual([]);
  });

  it("takes candidates and restarts, and hangs up once", async () => {
    const type = "application/trickle-ice-sdpfrag";
    const patch = { method: "PATCH", url: location, body: "a=x" };
    expect(await ask(patch, type)).toMatchObject({ status: 204, body: "" });
    patched = { kind: "taken", fragment: "a=ice-ufrag:x" };
    const restarted = await ask(patch, `${type}; charset=utf-8`);
    expect(restarted).toMatchObject({ status: 200, body: "a=ice-ufrag:x" });
    expect(restarted.headers["content-type"]).toBe(type);
    patched = { kind: "refused", reason: "is no fragment" };
    expect(codeOf(await ask(patch, type))).toEqual([400, "validation_failed"]);
    patched = { kind: "too_many", waitMs: 1_000 };
    const refused = await ask(patch, type);
    expect(codeOf(refused)).toEqual([429, "rate_limited"]);
    expect(refused.headers["retry-after"]).toBe("1");
    patched = { kind: "elsewhere" };
    expect(codeOf(await ask(patch, type))).toEqual([503, "call_elsewhere"]);
    patched = { kind: "unknown" };
    expect(codeOf(await ask(patch, type))).toEqual([404, "not_found"]);
    expect(sent.at(0)).toEqual([{ callId, connectionId }, "a=x"]);

    const hangUp = { method: "DELETE", url: location };
    expect(await server.inject(hangUp)).toMatchObject({ status: 200, body: "" });
    isThere = false;
    lookup = "gone";
    expect(codeOf(await server.inject(hangUp))).toEqual([404, "not_found"]);
    const other = { method: "DELETE", url: location.replace("secret", "other") };
    const before = sent.length;
    expect(codeOf(await server.inject(other))).toEqual([404, "not_found"]);
    expect(sent.length).toBe(before);
  });

  it("takes them from any origin, without credentials", async () => {
    const headers = { origin: "https://page.example", "access-control-request-method": "POST" };
    for (const [url, methods] of [
      [joinPath, ["POST"]],
      [location, ["PATCH", "DELETE"]],
    ] as const) {
      const preflight = await server.inject({ method: "OPTIONS", url, headers });
      expect(preflight.status).toBe(204);
      expect(preflight.headers["access-control-allow-origin"]).toBe("*");
      expect(preflight.headers["access-control-allow-credentials"]).toBeUndefined();
      expect(preflight.headers["access-control-allow-headers"]).toContain("Content-Type");
      for (const method of methods) {
        expect(preflight.headers["access-control-allow-methods"]).toContain(method);
      }
    }
    const given = await ask({ headers: { origin: "https://page.example" } });
    expect(given.headers["access-control-expose-headers"]).toMatch(/Location, Link/);
  });

  it("keeps tokens out of the log, and takes no new calls while draining", async () => {
    expect(log.text()).toContain(`/calls/${callId}/web_rtc/***`);
    expect(log.text()).not.toContain("secret-token");
    server.drain();
    expect(codeOf(await ask())).toEqual([503, "no_capacity"]);
  });
});
