import type { ToolOutcome } from "@parley/schema";
import { afterEach, describe, expect, it } from "vitest";
import { readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { openLocalServer, type LocalHandler } from "../../ports/testing/local-server.ts";
import { describeToolInvokerConformance } from "../../ports/testing/tool-invoker-conformance.ts";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import type { ToolTest } from "../../ports/tool-test.ts";
import type { HttpTarget } from "./tool-request.ts";
import { createToolTester } from "./tool-tester.ts";
import { openHttpTools } from "./tools-http.ts";

const client = openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") });
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(handler: LocalHandler) {
  const server = await openLocalServer(handler);
  closing.push(() => server.close());
  return server;
}

function callOf(
  urlPattern: string,
  fields: Partial<ToolInvocation> = {},
  target: Partial<HttpTarget> = {},
): ToolInvocation {
  return {
    invocationId: "inv-1",
    callId: "c",
    accountId: "a",
    toolName: "t",
    implementation: { kind: "http", method: "POST", urlPattern, credentials: [], callToken: null, ...target },
    values: [],
    timeoutMs: 10_000,
    ...fields,
  };
}

const never = () => new AbortController().signal;

function invoke(call: ToolInvocation): Promise<ToolOutcome> {
  return openHttpTools(client).invoke(call, never());
}

const TEST_TOOLS: LocalHandler = ({ path, body }, response) => {
  if (path.endsWith("/hang")) return;
  if (path.endsWith("/break")) response.writeHead(500).end("on purpose");
  else response.setHeader("content-type", "text/plain");
  if (path.endsWith("/flood")) response.end("a".repeat(2_000_000));
  if (path.endsWith("/echo")) response.end((JSON.parse(body) as { text: string }).text);
};

describeToolInvokerConformance("HTTP", async () => {
  const server = await openLocalServer(TEST_TOOLS);
  return {
    invoker: openHttpTools(client),
    call: (tool, { invocationId, text }) =>
      callOf(`${server.baseUrl}/${tool}`, {
        invocationId,
        values: [{ name: "text", location: "body", value: text }],
      }),
    runs: () => server.requests.length,
    begun: () => server.requested(),
    close: () => server.close(),
  };
});

describe("an http tool", () => {
  it("sends values, credentials and ids to their places, once", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(204).end();
    });
    const values = [
      { name: "city", location: "path", value: "Zürich/Ost" },
      { name: "days", location: "query", value: [1, 2] },
      { name: "X-Lang", location: "header", value: "de" },
      { name: "seats", location: "body", value: 4 },
    ] as const;
    const credentials = [
      { place: "query", name: "key", value: "k" },
      { place: "header", name: "Authorization", value: "Bearer t" },
    ] as const;
    const call = callOf(`${server.baseUrl}/{city}`, { values }, { credentials, callToken: "token" });
    expect(await invoke(call)).toMatchObject({ kind: "completed", result: "OK" });
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/v1/Z%C3%BCrich%2FOst?days=1&days=2&key=k",
        body: '{"seats":4}',
        headers: {
          "x-lang": "de",
          authorization: "Bearer t",
          "x-service-call-token": "token",
          "x-service-invocation-id": "inv-1",
          "content-type": "application/json",
        },
      },
    ]);
  });

  it.each(["GET", "HEAD", "DELETE", "OPTIONS", "PATCH"])("uses the method %s", async (method) => {
    const server = await serve((_request, response) => {
      response.setHeader("content-type", "text/plain");
      response.end("done");
    });
    const answer = await invoke(callOf(server.baseUrl, {}, { method }));
    expect(answer).toMatchObject({ kind: "completed", result: method === "HEAD" ? "OK" : "done" });
    expect(server.requests.map((request) => request.method)).toEqual([method]);
  });

  it("fails by its time when the answer is slow to end", async () => {
    const server = await serve((_request, response) => {
      const drip = setInterval(() => response.write("a"), 20);
      response.once("close", () => {
        clearInterval(drip);
      });
    });
    const answer = await invoke(callOf(server.baseUrl, { timeoutMs: 250 }));
    expect(answer).toMatchObject({
      kind: "failed",
      cause: "timeout",
      text: "The tool failed: timeout after 0.25s",
    });
  });

  it("does not send again when the connection breaks, before or within the answer", async () => {
    const server = await serve(({ path }, response) => {
      if (path === "/v1/within") response.writeHead(200, { "content-length": "100" }).write("part");
      setTimeout(() => response.destroy(), 20);
    });
    for (const place of ["before", "within"]) {
      const answer = await invoke(callOf(`${server.baseUrl}/${place}`));
      expect(answer).toMatchObject({
        kind: "failed",
        cause: "error",
        text: "The tool failed: connection failed",
      });
    }
    expect(server.requests).toHaveLength(2);
  });

  it("fails when nobody listens", async () => {
    const server = await openLocalServer(() => undefined);
    await server.close();
    const answer = await invoke(callOf(server.baseUrl));
    expect(answer).toMatchObject({ kind: "failed", text: "The tool failed: connection failed" });
  });

  it("is refused where the target is not allowed, at first and after a redirect", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
    });
    const errorDetails = expect.stringContaining("ALLOW_PRIVATE_TARGETS") as string;
    const refused = { cause: "error", text: "The tool failed: address not allowed", errorDetails };
    expect(await invoke(callOf("http://10.0.0.1/"))).toMatchObject(refused);
    expect(await invoke(callOf("http://[::ffff:10.0.0.1]/"))).toMatchObject(refused);
    expect(await invoke(callOf(server.baseUrl, {}, { method: "GET" }))).toMatchObject(refused);
  });

  it("follows no redirect of a POST", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await invoke(callOf(server.baseUrl))).toMatchObject({ text: "The tool failed: HTTP 307" });
    expect(server.requests).toHaveLength(1);
  });

  it("keeps credentials from another origin and carries the invocation there", async () => {
    const there = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end("there");
    });
    const here = await serve((_request, response) => {
      response.writeHead(302, { location: there.baseUrl }).end();
    });
    const credentials = [{ place: "header", name: "X-Key", value: "secret-key" }] as const;
    const call = callOf(here.baseUrl, {}, { method: "GET", credentials, callToken: "secret-token" });
    expect(await invoke(call)).toMatchObject({ result: "there" });
    const headers = there.requests[0]?.headers ?? {};
    expect(JSON.stringify(headers)).not.toContain("secret");
    expect(headers["x-service-invocation-id"]).toBe("inv-1");
  });

  it("fails without a request when a value cannot be sent", async () => {
    const server = await serve(() => undefined);
    const answer = await invoke(callOf(`${server.baseUrl}/{id}`));
    expect(answer).toMatchObject({ kind: "failed", text: "The tool failed: the parameter id is missing" });
    expect(server.requests).toEqual([]);
  });

  it("keeps what it was sent out of the record of a failure", async () => {
    const server = await serve(({ headers, path }, response) => {
      response.writeHead(403, { "content-type": "text/plain", "x-echo": headers.authorization });
      const token = headers["x-service-call-token"];
      response.end(`${path} ${String(headers.authorization)} ${String(token)}`);
    });
    const credentials = [
      { place: "query", name: "key", value: "p/ss word" },
      { place: "header", name: "Authorization", value: "Bearer tok-123" },
    ] as const;
    const answer = await invoke(callOf(server.baseUrl, {}, { credentials, callToken: "call-tok" }));
    expect(answer.kind).toBe("failed");
    expect(JSON.stringify(answer)).not.toMatch(/tok-123|p%2Fss|p\/ss|call-tok/);
  });

  it("keeps fixed headers out of it too, and leaves short ones and ids readable", async () => {
    const server = await serve(({ headers }, response) => {
      const said = ["x-key", "authorization", "x-switch", "x-call", "x-number"].map((name) => headers[name]);
      response.writeHead(403, { "content-type": "text/plain", "x-echo": headers["x-key"] });
      response.end(said.join(" "));
    });
    const header = (name: string, value: unknown) => ({ name, location: "header", value }) as const;
    const values = [
      header("X-Key", "fixed-key-1"),
      header("Authorization", "Bearer fixed-key-2"),
      header("X-Switch", "true"),
      header("X-Call", "the-call-id"),
      header("X-Number", 1_234_567_890),
    ];
    const answer = await invoke(callOf(server.baseUrl, { values, callId: "the-call-id" }));
    expect(answer).toMatchObject({
      text: "The tool failed: HTTP 403\n[secret] [secret] true the-call-id [secret]",
    });
    expect(JSON.stringify(answer)).not.toMatch(/fixed-key|1234567890/);
  });

  it.each<[string, (text: string) => string, Record<string, string>]>([
    ["a result", (text) => text, {}],
    ["last words", (text) => JSON.stringify({ message: text }), { "x-service-response-type": "hang-up" }],
  ])("keeps what it was sent out of %s", async (_what, bodyOf, headersOf) => {
    const server = await serve(({ headers, path }, response) => {
      const names = [
        "authorization",
        "x-service-call-token",
        "x-key",
        "x-city",
        "accept-language",
        "x-short",
      ];
      response.writeHead(200, { "content-type": "text/plain", ...headersOf });
      response.end(bodyOf([path, ...names.map((name) => String(headers[name]))].join(" ")));
    });
    const fixed = (name: string, value: string) =>
      ({ name, location: "header", value, fixed: true }) as const;
    const values = [
      fixed("X-Key", 'fixed"key-2'),
      fixed("X-Short", "1234567"),
      fixed("Accept-Language", "en-GB,en;q=0.9"),
      { name: "X-City", location: "header", value: "Amsterdam" },
    ] as const;
    const credentials = [
      { place: "query", name: "key", value: "p/ss word" },
      { place: "header", name: "Authorization", value: "Bearer token-123" },
    ] as const;
    const call = callOf(server.baseUrl, { values }, { credentials, callToken: "call-token" });
    const answer = await invoke(call);
    if (answer.kind !== "completed") throw new Error(answer.text);
    const shown = "[secret] [secret] [secret] Amsterdam en-GB,en;q=0.9 1234567";
    expect(answer.result).toBe(bodyOf(`/v1?key=[secret] ${shown}`));
  });

  it("leaves good results whole where fixed headers are words and numbers of them", async () => {
    const result =
      '{"hotel":"Hotel Bellevue","note":"Bellevue has free rooms","status":"confirmed","room":12345678}';
    const server = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(result);
    });
    const fixed = (name: string, value: unknown) =>
      ({ name, location: "header", value, fixed: true }) as const;
    const values = [
      fixed("X-Tenant", "Hotel Bellevue"),
      fixed("X-Want", "confirmed"),
      fixed("X-Room", 12_345_678),
      fixed("X-Api-Key", "12345678"),
    ];
    expect(await invoke(callOf(server.baseUrl, { values }))).toMatchObject({ kind: "completed", result });
  });

  it("leaves the document of a new stage as it is: its tools may need the same key", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { "x-service-response-type": "new-stage" });
      response.end('{"selectedTools":[{"toolName":"a","authTokens":{"k":"token-123"}}]}');
    });
    const credentials = [{ place: "header", name: "X-Key", value: "token-123" }] as const;
    const answer = await invoke(callOf(server.baseUrl, {}, { credentials }));
    expect(answer).toMatchObject({ result: expect.stringContaining("token-123") as string });
  });

  it.each(["query", "header"] as const)("fails for a token in the %s that is no text", async (place) => {
    const server = await serve(() => undefined);
    const credentials = [{ place, name: "key", value: "hidden-key\ud800" }];
    const answer = await invoke(callOf(server.baseUrl, {}, { credentials }));
    expect(answer).toMatchObject({
      kind: "failed",
      cause: "error",
      text: "The tool failed: a credential is not a text",
    });
    expect(JSON.stringify(answer)).not.toContain("hidden-key");
    expect(server.requests).toEqual([]);
  });
});

describe("the test of a tool", () => {
  const tester = createToolTester(client, () => "inv-test");
  const testOf = (urlPattern: string, changes: Partial<ToolTest> = {}): ToolTest => ({
    target: { kind: "http", method: "POST", urlPattern, credentials: [], callToken: null },
    values: [{ name: "seats", location: "body", value: 4 }],
    timeoutMs: 2_500,
    ...changes,
  });

  it("passes on what the tool answers, whatever its status", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(418, { "content-type": "text/x-tea" }).end("short and stout");
    });
    expect(await tester(testOf(server.baseUrl))).toEqual({
      kind: "answered",
      status: 418,
      contentType: "text/x-tea",
      body: Buffer.from("short and stout"),
      truncated: false,
    });
    const headers = { "x-service-invocation-id": "inv-test" };
    expect(server.requests).toMatchObject([{ method: "POST", body: '{"seats":4}', headers }]);
  });

  it.each([
    ["an address that is not allowed", "http://192.168.0.1/", "address not allowed"],
    ["nobody there", "http://127.0.0.1:9/", "connection failed"],
    ["a path without its value", "http://127.0.0.1:9/{room}", "the parameter room is missing"],
  ])("says why nothing came of %s", async (_what, url, reason) => {
    expect(await tester(testOf(url))).toEqual({ kind: "failed", reason });
  });

  it("keeps to the timeout of the tool", async () => {
    const server = await serve(() => undefined);
    const outcome = await tester(testOf(server.baseUrl, { timeoutMs: 200 }));
    expect(outcome).toEqual({ kind: "failed", reason: "timeout after 0.2s" });
  });
});
