import { randomUUID } from "node:crypto";
import { ApiError, type RouteName, routeOf, ROUTE_NAMES } from "@parley/schema";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inTransaction } from "../../store/database/db.ts";
import { eraseAnswersAbout } from "../../store/accounts/idempotent-answers.ts";
import type { Sealer } from "../../store/database/sealer.ts";
import { StoreBusyError } from "../../store/database/store-errors.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { CreateCallInput } from "../../lifecycle/api.ts";
import type { HttpServer } from "../deps.ts";
import { answerOnce, KEEP_LIMIT_MS, KEEP_WAITS_MS } from "./idempotency.ts";
import { problemAnswer } from "./problems.ts";
import {
  type Client,
  newClient,
  openTestServer,
  type Reply,
  send,
  storeCall,
  testLog,
} from "../testing/http-fixture.ts";

const medium = { serverWebSocket: { inputSampleRate: 8000 } };
const CREATING: readonly RouteName[] = ["createAgent", "createCall", "createAgentCall"];

describeOnBothDatabases("repeated requests", (current) => {
  let server: HttpServer;
  let otherNode: HttpServer;
  let client: Client;
  let beforeCall: (input: CreateCallInput) => Promise<void>;

  beforeAll(async () => {
    const createCall = async (input: CreateCallInput) => {
      await beforeCall(input);
      return storeCall(current().db)(input);
    };
    server = await openTestServer(current(), { createCall });
    otherNode = await openTestServer(current(), { createCall });
  });
  beforeEach(async () => {
    beforeCall = () => Promise.resolve();
    client = await newClient(server, current().db);
  });
  afterAll(async () => {
    await server.close();
    await otherNode.close();
  });

  interface Sent {
    readonly key?: string;
    readonly node?: HttpServer;
    readonly by?: Client;
  }

  async function post(url: string, body: unknown, { key, node = server, by = client }: Sent): Promise<Reply> {
    const headers: Record<string, string> = { "x-api-key": by.key };
    if (key !== undefined) headers["idempotency-key"] = key;
    return send(node, "POST", url, { headers, body });
  }

  const total = async (list: string): Promise<unknown> => (await client.get(list)).json["total"];

  function expectReplay(again: Reply, first: Reply): void {
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers["location"]).toBe(first.headers["location"]);
    expect(again.headers["content-type"]).toBe(first.headers["content-type"]);
    expect([first.headers["idempotent-replayed"], again.headers["idempotent-replayed"]]).toEqual([
      undefined,
      "true",
    ]);
    expect(again.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
  }

  it("get the first answer again, from any node, and create nothing", async () => {
    const { json } = await client.post("/api/agents", { name: "A", callTemplate: { medium } });
    const calls = `/api/agents/${String(json["agentId"])}/calls`;
    for (const [url, body] of [
      ["/api/calls", { medium }],
      ["/api/agents", { name: "B" }],
      [calls, {}],
    ] as const) {
      const key = randomUUID();
      const first = await post(url, body, { key });
      expect(first.status).toBe(201);
      const before = await total(url);
      expectReplay(await post(url, body, { key }), first);
      expectReplay(await post(url, body, { key, node: otherNode }), first);
      expect(await total(url)).toBe(before);
      expect((await post(url, body, { key: `${key}x` })).text).not.toBe(first.text);
      expect((await post(url, body, {})).text).not.toBe(first.text);
    }
  });

  it("are refused with another body, query or path under a key that was used", async () => {
    const key = "k".repeat(255);
    expect((await post("/api/calls?enableGreetingPrompt=true", { medium }, { key })).status).toBe(201);
    for (const [url, body] of [
      ["/api/calls?enableGreetingPrompt=true", { medium, temperature: 1 }],
      ["/api/calls?enableGreetingPrompt=false", { medium }],
      ["/api/calls", { medium }],
      ["/api/agents", { name: "B" }],
    ] as const) {
      const clash = await post(url, body, { key });
      expect([clash.status, clash.json["code"]]).toEqual([409, "conflict"]);
      expect(clash.headers["idempotent-replayed"]).toBeUndefined();
    }
    expect(await total("/api/calls")).toBe(1);
    const by = await newClient(server, current().db);
    expect((await post("/api/agents", { name: "B" }, { key, by })).status).toBe(201);
  });

  it("are refused while the first is under way, and create one thing however many come at once", async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
    beforeCall = () => {
      begins();
      return held;
    };
    const first = post("/api/calls", { medium }, { key: "once" });
    await begun;
    const meanwhile = await Promise.all(
      [server, otherNode].map((node) => post("/api/calls", { medium }, { key: "once", node })),
    );
    for (const reply of meanwhile) {
      expect([reply.status, reply.json["code"]]).toEqual([409, "conflict"]);
      expect(reply.headers["retry-after"]).toBe("1");
    }
    letGo();
    expect((await first).status).toBe(201);
    expectReplay(await post("/api/calls", { medium }, { key: "once" }), await first);
    expect(await total("/api/calls")).toBe(1);
  });

  it("get a refusal again that would not change", async () => {
    for (const [url, body, status] of [
      ["/api/calls", { medium, temperature: 9 }, 400],
      [`/api/agents/${randomUUID()}/calls`, {}, 404],
      ["/api/agents", "[", 400],
    ] as const) {
      const key = randomUUID();
      const first = await post(url, body, { key });
      expect(first.status).toBe(status);
      expectReplay(await post(url, body, { key }), first);
      const id = first.json["requestId"];
      expect([id, first.headers["x-request-id"]]).toEqual([id, id]);
    }
  });

  it.each([
    new ApiError("rate_limited", "Too many.", { retryAfterSeconds: 3 }),
    new ApiError("no_capacity", "Full."),
    new ApiError("not_available", "Not yet."),
    new Error("broken"),
  ])("are carried out again after %s", async (failure) => {
    beforeCall = () => Promise.reject(failure);
    const failed = await post("/api/calls", { medium }, { key: "k" });
    expect(failed.status).toBe(failure instanceof ApiError ? failure.status : 500);
    beforeCall = () => Promise.resolve();
    const carriedOut = await post("/api/calls", { medium }, { key: "k" });
    expect([carriedOut.status, carriedOut.headers["idempotent-replayed"]]).toEqual([201, undefined]);
  });

  it("are not remembered for a key that does not work", async () => {
    const stranger = { ...client, key: `ABCDEFGH.${"a".repeat(32)}` };
    expect((await post("/api/agents", {}, { key: "k", by: stranger })).status).toBe(401);
    expect((await post("/api/agents", {}, { key: "k" })).status).toBe(201);
  });

  it.each(["", "k".repeat(256)])("are refused with a key of the wrong length (%#)", async (key) => {
    const reply = await post("/api/agents", {}, { key });
    expect([reply.status, reply.json["errors"]]).toEqual([
      400,
      [{ field: "Idempotency-Key", message: "must have 1 to 255 characters" }],
    ]);
    expect(await total("/api/agents")).toBe(0);
  });

  it("of other operations are carried out each time, and no key of theirs is looked at", async () => {
    const rules = [{ maxCalls: 1, windowSeconds: 1 }];
    for (const key of ["k", "k", "x".repeat(300)]) {
      expect((await post("/api/call_throttles", { name: "t", rules }, { key })).status).toBe(201);
    }
    expect(await total("/api/call_throttles")).toBe(3);
  });

  describe("whose answer cannot be kept at first", () => {
    const route = routeOf("createAgent");
    const request = { params: {}, rawQuery: "", body: null };
    const given = { status: 201, headers: { location: `https://x/${randomUUID()}` }, body: "{}" };

    /** Carries out one request while the first `failures` attempts to store its answer fail. */
    async function once(failures: number) {
      const { db } = current();
      const log = testLog();
      const waits: number[] = [];
      let tries = 0;
      const seal: Sealer["seal"] = (...sealed) => {
        tries += 1;
        if (tries <= failures) throw new StoreBusyError("Too much waits for the database.");
        return db.sealer.seal(...sealed);
      };
      const deps = {
        db: { ...db, sealer: { ...db.sealer, seal } },
        logger: log.logger,
        problem: (error: ApiError) => problemAnswer(error, "https://x", "r", "neutral"),
        wait: (ms: number) => Promise.resolve(waits.push(ms)),
      };
      const input = { route, accountId: client.accountId, key: randomUUID(), request };
      expect(await answerOnce(input, () => Promise.resolve(given), deps)).toEqual(given);
      return { waits, warnings: log.lines().length, again: () => answerOnce(input, secondTime, deps) };
    }

    const secondTime = () => Promise.reject(new Error("was carried out twice"));

    it.each([1, KEEP_WAITS_MS.length])("get it all the same after %i failures", async (failures) => {
      const { again, waits, warnings } = await once(failures);
      expect(await again()).toMatchObject({ ...given, headers: { "idempotent-replayed": "true" } });
      expect([waits, warnings]).toEqual([KEEP_WAITS_MS.slice(0, failures), 0]);
    });

    it("wait for the lease when it never can, and the log tells", async () => {
      const { again, waits, warnings } = await once(Infinity);
      expect([waits, warnings]).toEqual([KEEP_WAITS_MS, 1]);
      await expect(again()).rejects.toMatchObject({ code: "conflict" });
      const longestMs = KEEP_WAITS_MS.reduce((sum, ms) => sum + ms, 0);
      expect(longestMs).toBeLessThan(KEEP_LIMIT_MS);
    });
  });

  it("do not bring a deleted call back, neither its join URL nor a new one", async () => {
    const first = await post("/api/calls", { medium }, { key: "k" });
    const callId = String(first.json["callId"]);
    await inTransaction(current().db, (tx) => eraseAnswersAbout(tx, client.accountId, callId));
    const again = await post("/api/calls", { medium }, { key: "k" });
    expect([again.status, again.json["code"]]).toEqual([409, "conflict"]);
    expect(again.text).not.toContain(callId);
    expect(await total("/api/calls")).toBe(1);
  });

  it("do not bring deleted agents and batches back, nor what they held", async () => {
    const agent = { name: "A", callTemplate: { systemPrompt: "a-prompt-of-old" } };
    const batch = { calls: [{}], webhookUrl: "https://hooks.example/join", webhookSecret: "a-secret-of-old" };
    const created = async (url: string, body: unknown, key: string): Promise<string> => {
      const { status, headers } = await post(url, body, { key });
      expect(status).toBe(201);
      return new URL(String(headers["location"])).pathname;
    };
    const expectGone = async (url: string, body: unknown, key: string): Promise<void> => {
      const again = await post(url, body, { key });
      expect([again.status, again.json["code"]]).toEqual([409, "conflict"]);
      expect(again.text).not.toMatch(/of-old/);
    };
    const agentPath = await created("/api/agents", agent, "agent");
    const batches = `${agentPath}/scheduled_batches`;
    const [alone] = await Promise.all(["alone", "b1", "b2"].map((key) => created(batches, batch, key)));
    expect((await client.delete(alone ?? "")).status).toBe(204);
    await expectGone(batches, batch, "alone");
    expect((await post(batches, batch, { key: "b1" })).headers["idempotent-replayed"]).toBe("true");
    expect((await client.delete(agentPath)).status).toBe(204);
    await expectGone("/api/agents", agent, "agent");
    for (const key of ["b1", "b2"]) await expectGone(batches, batch, key);
    expect(await total("/api/agents")).toBe(0);
  });

  it("are described in the document, where they are supported", async () => {
    const document = (await client.get("/api/schema/")).json as {
      paths: Record<string, Record<string, { parameters: { name: string }[]; responses: object }>>;
    };
    for (const name of ROUTE_NAMES) {
      const { path, method, idempotent } = routeOf(name);
      const operation = document.paths[path]?.[method.toLowerCase()];
      const named = operation?.parameters.some((parameter) => parameter.name === "Idempotency-Key");
      expect([name, named]).toEqual([name, idempotent]);
    }
    for (const name of CREATING) {
      const { path, method, idempotent } = routeOf(name);
      expect(idempotent).toBe(true);
      expect(Object.keys(document.paths[path]?.[method.toLowerCase()]?.responses ?? {})).toContain("409");
    }
  });
});
