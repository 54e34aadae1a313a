import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../../store/testing/databases.ts";
import {
  at,
  type BatchesApi,
  type BatchJson,
  dialled,
  errorsOf,
  joined,
  MADE_SECRET,
  nowMs,
  openBatches,
} from "../../testing/batches.ts";
import type { Client } from "../../testing/http-fixture.ts";

describeOnBothDatabases("changes of batches", (current) => {
  let client: Client;
  let url: string;
  let create: BatchesApi["create"];

  beforeEach(async () => {
    ({ client, url, create } = await openBatches(current()));
  });

  it("are changed in what they are given, and in nothing else", async () => {
    const batch = await create({ ...joined, windowEnd: at("13:00:00"), webhookSecret: "own" });
    const one = `${url}/${batch.batchId}`;
    expect((await client.patch(one, {})).json).toEqual(batch);
    expect((await client.patch(one, batch)).json).toEqual(batch);
    const change = {
      windowStart: at("12:30:00"),
      windowEnd: at("14:00:00"),
      webhookUrl: "https://other.example",
      webhookSecret: "new",
      paused: true,
      name: "Second try",
      retryPolicy: { maxAttempts: 2, wait: "60s", on: ["failed"] },
      respectDoNotCall: false,
      pauseOnFailureRate: 1,
    };
    const changed = await client.patch(one, change);
    expect(changed.json).toEqual({ ...batch, ...change });
    expect((await client.get(one)).json).toEqual({ ...batch, ...change });
    const cleared = await client.patch<BatchJson>(one, {
      windowStart: null,
      windowEnd: null,
      webhookSecret: null,
      paused: null,
      name: null,
      retryPolicy: null,
      respectDoNotCall: null,
      pauseOnFailureRate: null,
    });
    expect(cleared.json).toEqual({
      ...batch,
      windowEnd: null,
      webhookUrl: "https://other.example",
      webhookSecret: expect.stringMatching(MADE_SECRET) as string,
    });
  });

  it.each([
    [{ windowEnd: at("12:00:00") }, ["windowEnd: must not be in the past"]],
    [{ windowStart: at("13:00:00") }, ["windowEnd: must be after windowStart"]],
    [{ throttle: "slow" }, ["throttle: is not a call throttle of this account"]],
    [{ webhookUrl: null }, ["webhookUrl: is required, because not every call has an outgoing medium"]],
    [{ webhookUrl: "http://127.0.0.1" }, ["webhookUrl: is not allowed: address not allowed"]],
    [{ calls: [{}] }, ["calls: cannot be changed; delete the batch and create another one"]],
    [{ colour: 1 }, ["colour: is not a known field"]],
  ])("are not changed to %j", async (change, problems) => {
    const batch = await create({ ...joined, windowEnd: at("13:00:00") });
    const one = `${url}/${batch.batchId}`;
    const reply = await client.patch(one, change);
    expect([reply.status, errorsOf(reply)]).toEqual([400, problems]);
    expect((await client.get(one)).json).toEqual(batch);
  });

  it("may be changed after their window, but not after their end", async () => {
    const { db } = current();
    const { batchId } = await create({ ...dialled, windowEnd: at("13:00:00") });
    const one = `${url}/${batchId}`;
    await sql`update scheduled_batches set window_end_at = ${new Date(nowMs - 1000)} where id = ${batchId}`.execute(
      db.query,
    );
    const present = (await client.get(one)).json;
    expect((await client.patch(one, { ...present, paused: true })).status).toBe(200);
    expect((await client.patch(one, { windowEnd: at("13:00:00") })).status).toBe(200);
    await sql`update scheduled_batches set ended_at = ${new Date(nowMs)}, completed_count = 2
      where id = ${batchId}`.execute(db.query);
    for (const change of [{}, { windowEnd: at("14:00:00") }, { paused: false }]) {
      const reply = await client.patch(one, change);
      expect([reply.status, reply.json["code"]]).toEqual([409, "conflict"]);
    }
    expect((await client.get(one)).json).toMatchObject({ endedAt: at("12:00:00"), completedCount: 2 });
    expect((await client.delete(one)).status).toBe(204);
  });
});
