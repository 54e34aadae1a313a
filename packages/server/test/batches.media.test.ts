/** Running batches in the whole service: calls are created, reported, and can be joined. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openReceiver, deliveryOf, type Receiver } from "../src/jobs/testing/receiver.ts";
import { readAllowedTargets } from "../src/net/address-filter.ts";
import { openRunningService, type CallRecord, type RunningService } from "./running-service.ts";

interface BatchRecord {
  readonly batchId: string;
  readonly completedCount: number;
  readonly endedAt: string | null;
  readonly paused: boolean;
}

interface ScheduledCallRecord {
  readonly status: string;
  readonly callId: string | null;
  readonly error: string | null;
}

const LIMIT = { timeout: 60_000, interval: 25 };
const medium = { serverWebSocket: { inputSampleRate: 16_000 } };

describe("batches of the whole service", () => {
  let service: RunningService;
  let receiver: Receiver;
  let conduct: (path: string) => number = () => 204;

  beforeAll(async () => {
    receiver = await openReceiver(({ path }) => conduct(path));
    service = await openRunningService({ allowPrivateTargets: readAllowedTargets("127.0.0.1") });
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  const make = async <Body>(path: string, body: object): Promise<Body> => {
    const answer = await service.ask<Body>("POST", path, body);
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const newBatch = async (
    calls: readonly object[],
    settings: object,
    callTemplate: object = { medium, systemPrompt: "Greet {{guest}}." },
  ): Promise<string> => {
    const { agentId } = await make<{ agentId: string }>("/api/agents", { callTemplate });
    const batches = `/api/agents/${agentId}/scheduled_batches`;
    return `${batches}/${(await make<BatchRecord>(batches, { calls, ...settings })).batchId}`;
  };
  const guests = (count: number): object[] =>
    Array.from({ length: count }, (_, n) => ({ templateContext: { guest: `guest ${n}` } }));
  const ended = async (batch: string): Promise<BatchRecord> => {
    await expect
      .poll(async () => (await service.get<BatchRecord>(batch)).endedAt, LIMIT)
      .toEqual(expect.any(String));
    return service.get<BatchRecord>(batch);
  };
  const callsOf = async (batch: string): Promise<readonly ScheduledCallRecord[]> =>
    (await service.get<{ results: ScheduledCallRecord[] }>(`${batch}/scheduled_calls?pageSize=100`)).results;
  const callsAt = (path: string) =>
    receiver.received.filter((one) => one.path === path).map(({ body }) => deliveryOf(body).call);

  test("create their calls, tell the receiver, and the calls can be joined", async () => {
    const batch = await newBatch(guests(5), { webhookUrl: `${receiver.url}good` });
    expect(await ended(batch)).toMatchObject({ completedCount: 5, totalCount: 5 });
    const calls = await callsOf(batch);
    expect(calls.map(({ status, error }) => [status, error])).toEqual(calls.map(() => ["SUCCESS", null]));
    const good = callsAt("/good");
    expect(new Set(good.map(({ callId }) => callId))).toEqual(new Set(calls.map(({ callId }) => callId)));
    expect(good).toHaveLength(5);
    const created = await service.get<{ results: CallRecord[] }>(`${batch}/created_calls`);
    expect(created.results).toHaveLength(5);
    const [first] = good;
    const record = await service.record(first?.callId ?? "");
    expect(record.joinUrl).toBe(first?.["joinUrl"]);
    const client = service.connect(record.joinUrl);
    await client.opened();
    client.stop();
    client.socket.close();
    expect((await service.ended(record.callId)).endReason).toBe("hangup");
    expect(await service.metric(/^parley_scheduled_calls_total\{outcome="success"\}/)).toBeGreaterThanOrEqual(
      5,
    );
  });

  test("end a call as unjoined if its webhook could not be called", async () => {
    conduct = (path) => (path === "/bad" ? 503 : 204);
    const batch = await newBatch(guests(1), { webhookUrl: `${receiver.url}bad` });
    await ended(batch);
    const [call] = await callsOf(batch);
    expect(call).toMatchObject({ status: "ERROR", error: "webhook: HTTP 503" });
    expect((await service.ended(call?.callId ?? "")).endReason).toBe("unjoined");
  });

  test("go as quickly as their throttle lets them, and each call is made once", async () => {
    // Long enough that a busy machine tries a third call within it.
    const rules = [{ maxCalls: 2, windowSeconds: 4 }];
    const { throttleId } = await make<{ throttleId: string }>("/api/call_throttles", {
      name: "two",
      rules,
    });
    const batch = await newBatch(guests(4), { webhookUrl: `${receiver.url}slow`, throttle: throttleId });
    await ended(batch);
    const calls = await callsOf(batch);
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set(["SUCCESS"]));
    expect(callsAt("/slow")).toHaveLength(4);
    expect(await service.metric(/^parley_scheduled_calls_total\{outcome="later"\}/)).toBeGreaterThan(0);
  });

  test("say what is wrong with a call whose agent has changed since", async () => {
    const batch = await newBatch(guests(1), { webhookUrl: `${receiver.url}changed`, paused: true });
    const [agent] = batch.split("/scheduled_batches");
    const callTemplate = { medium, systemPrompt: "Greet {{guest}} of {{room}}." };
    expect((await service.ask("PATCH", agent ?? "", { callTemplate })).status).toBe(200);
    expect((await service.ask("PATCH", batch, { paused: false })).status).toBe(200);
    await ended(batch);
    const [call] = await callsOf(batch);
    expect(call?.status).toBe("ERROR");
    expect(call?.error).toContain("room");
    expect(callsAt("/changed")).toEqual([]);
  });
});
