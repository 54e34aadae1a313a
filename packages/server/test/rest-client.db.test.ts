/** The typed client against the REST API, on both databases. */

import { createRestClient, ParleyError, type RestClient } from "@parley/client/rest";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type { HttpServer } from "../src/http/deps.ts";
import { newClient, openTestServer, PUBLIC_URL } from "../src/http/testing/http-fixture.ts";
import { injected } from "../src/http/testing/injected-fetch.ts";
import { describeOnBothDatabases } from "../src/store/testing/databases.ts";

describeOnBothDatabases("the REST client", (current) => {
  let server: HttpServer;
  let rest: RestClient;
  let apiKey = "";

  beforeAll(async () => {
    server = await openTestServer(current());
    apiKey = (await newClient(server, current().db)).key;
    rest = createRestClient({ baseUrl: PUBLIC_URL, apiKey, fetch: injected(server) });
  });
  afterAll(() => server.close());

  async function agentNamed(name: string): Promise<string> {
    return (await rest.fetch("POST", "/api/agents", { body: { name } })).agentId;
  }

  it("sends bodies, parameters and queries, and answers records by their types", async () => {
    const made = await rest.fetch("POST", "/api/agents", {
      body: { name: "Porter", callTemplate: { systemPrompt: "Be brief.", maxDuration: "60s" } },
    });
    expectTypeOf(made.publishedRevisionId).toEqualTypeOf<string | null>();
    const read = await rest.fetch("GET", "/api/agents/{agent_id}", { params: { agent_id: made.agentId } });
    expect(read).toEqual(made);
    expect(read.callTemplate?.maxDuration).toBe("60s");
    const found = await rest.fetch("GET", "/api/agents", { query: { search: "porter", sort: "-name" } });
    expect(found.results.map(({ agentId }) => agentId)).toEqual([made.agentId]);
  });

  it("answers undefined where there is nothing to say", async () => {
    const agent_id = await agentNamed("Gone");
    const answer = await rest.fetch("DELETE", "/api/agents/{agent_id}", { params: { agent_id } });
    expectTypeOf(answer).toEqualTypeOf<undefined>();
    expect(answer).toBeUndefined();
  });

  it("writes lists and maps of a query as the service reads them", async () => {
    const agent_id = await agentNamed("Caller");
    const call = { metadata: { color: "red & blue", "a.b": "1" } };
    const { callId } = await rest.fetch("POST", "/api/agents/{agent_id}/calls", {
      params: { agent_id },
      body: call,
    });
    const agentIds = [agent_id, "00000000-0000-4000-8000-000000000000"];
    const found = await rest.fetch("GET", "/api/calls", { query: { agentIds, metadata: call.metadata } });
    expect(found.results.map((one) => one.callId)).toEqual([callId]);
  });

  it("throws what the service says is wrong", async () => {
    const refused = await rest
      .fetch("PATCH", "/api/agents/{agent_id}", {
        params: { agent_id: await agentNamed("Warm") },
        body: { callTemplate: { temperature: 3 } },
      })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ParleyError);
    const { problem, status, message } = refused as ParleyError;
    expect(status).toBe(400);
    expect(problem.errors?.map(({ field }) => field)).toEqual(["callTemplate.temperature"]);
    expect(message).toMatch(/^validation_failed: callTemplate\.temperature/);
  });

  it("says when the answer came from something else", async () => {
    const page = () => Promise.resolve(new Response("<h1>Bad gateway</h1>", { status: 502 }));
    const behind = createRestClient({ baseUrl: PUBLIC_URL, apiKey, fetch: page });
    await expect(behind.fetch("GET", "/api/agents")).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining("Bad gateway") as string,
    });
  });

  it("tells how long to wait", async () => {
    const busy = () =>
      Promise.resolve(
        Response.json(
          { code: "rate_limited", detail: "x", status: 429 },
          { status: 429, headers: { "Retry-After": "3" } },
        ),
      );
    const limited = createRestClient({ baseUrl: PUBLIC_URL, apiKey, fetch: busy });
    await expect(limited.fetch("GET", "/api/agents")).rejects.toMatchObject({ retryAfterSeconds: 3 });
  });

  it("reads lists to their end, page by page", async () => {
    const own = createRestClient({
      baseUrl: PUBLIC_URL,
      apiKey: (await newClient(server, current().db)).key,
      fetch: injected(server),
    });
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) await own.fetch("POST", "/api/agents", { body: { name } });
    const read: string[] = [];
    for await (const agent of own.rows("/api/agents", { query: { pageSize: 2, sort: "name" } })) {
      read.push(agent.name);
    }
    expect(read).toEqual(names);
  });

  it("reads on below the path that the service is published under", async () => {
    const requested: string[] = [];
    const page = (url: string) => {
      requested.push(url);
      const next =
        requested.length === 1 ? "https://voice.example/parley/api/agents?cursor=c&sort=name" : null;
      return Promise.resolve(Response.json({ results: [{ name: "a" }], next, previous: null, total: 2 }));
    };
    const below = createRestClient({ baseUrl: "http://inside/parley", apiKey, fetch: page });
    const names = [];
    for await (const agent of below.rows("/api/agents", { query: { sort: "name" } })) names.push(agent.name);
    expect(names).toEqual(["a", "a"]);
    expect(requested).toEqual([
      "http://inside/parley/api/agents?sort=name",
      "http://inside/parley/api/agents?cursor=c&sort=name",
    ]);
  });

  it("hands files on as they come", async () => {
    const document = await rest.fetch("GET", "/api/schema/");
    expect(document["openapi"]).toBe("3.1.0");
    const response = new Response("RIFF", { headers: { "content-type": "audio/wav" } });
    const sound = createRestClient({ baseUrl: PUBLIC_URL, apiKey, fetch: () => Promise.resolve(response) });
    const params = { call_id: "00000000-0000-4000-8000-000000000000" };
    const recording = await sound.fetch("GET", "/api/calls/{call_id}/recording", { params });
    expectTypeOf(recording).toEqualTypeOf<Response>();
    expect(await recording.text()).toBe("RIFF");
  });

  it("ends when it is told to, and when it takes too long", async () => {
    const never = (_: string, init: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        const { signal } = init;
        if (signal?.aborted === true) reject(signal.reason as Error);
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const slow = createRestClient({ baseUrl: PUBLIC_URL, apiKey, fetch: never, timeoutMs: 1 });
    await expect(slow.fetch("GET", "/api/agents")).rejects.toMatchObject({ name: "TimeoutError" });
    const patient = createRestClient({ baseUrl: PUBLIC_URL, apiKey, fetch: never });
    const signal = AbortSignal.abort();
    const ended = patient.fetch("GET", "/api/agents", { signal });
    await expect(ended).rejects.toMatchObject({ name: "AbortError" });
  });

  describe("refuses by its types", () => {
    it("what an operation does not take", () => {
      type Input = Parameters<typeof rest.fetch<"GET", "/api/agents/{agent_id}">>;
      expectTypeOf<Input["length"]>().toEqualTypeOf<3>();
      expectTypeOf<Parameters<typeof rest.fetch<"GET", "/api/agents">>["length"]>().toEqualTypeOf<2 | 3>();
    });
  });
});
