/** Recordings in a bucket, with the whole service as a program: over its interface, and with a store that fails. */

import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readWav } from "../src/ports/testing/recordings-conformance.ts";
import type { S3Request, Fault } from "../src/providers/s3/testing/s3-peer.ts";
import { isUploadOf, keyOf, openBucketService, SAID, until, type BucketService } from "./bucket-service.ts";

/** The longest wait for a silent store, and the first retry. */
const SLOW = { timeout: 240_000 };

let service: BucketService;
beforeAll(async () => {
  service = await openBucketService();
});
afterAll(async () => service.close());
beforeEach(() => {
  service.peer.fault = () => null;
  service.peer.objects.clear();
  service.peer.refused.length = 0;
});

/** All requests except the first of every upload, which checks whether the bucket has the recording already. */
function refusals({ peer }: BucketService): readonly string[] {
  return peer.refused.filter((code) => code !== "NoSuchKey");
}

/** What the caller said is in the left channel, sample by sample. */
function expectRecording(bytes: Buffer): void {
  const wav = readWav(bytes);
  expect(wav).toMatchObject({ riff: "RIFF", channels: 2, sampleRateHz: 16_000 });
  expect(wav.dataBytes).toBe(bytes.byteLength - 44);
  expect(wav.riffBytes).toBe(bytes.byteLength - 8);
  const left = wav.samples.filter((_, index) => index % 2 === 0);
  const heard = Buffer.from(left.buffer);
  expect(heard.includes(Buffer.from(SAID.buffer))).toBe(true);
}

describe("a recording in a bucket", () => {
  test("is uploaded after its call, and fetched by the address that the service leads to", async () => {
    // The bucket accepts none until the file has been read from the service itself.
    const { promise: mayGo, resolve: go } = Promise.withResolvers<null>();
    service.peer.fault = ({ method }) => (method === "PUT" ? mayGo : null);
    const callId = await service.call();
    expect(await service.billed(callId)).toMatchObject({ endReason: "hangup" });
    const local = await service.recording(callId);
    expect(local.status).toBe(200);
    expectRecording(local.bytes);
    go(null);
    expect((await service.uploaded(callId)).equals(local.bytes)).toBe(true);
    await until(
      () => service.files(),
      (files) => files.length === 0,
    );
    expect([...service.peer.objects.keys()]).toEqual([keyOf(callId)]);
    expect(refusals(service)).toEqual([]);
    await service.rest("DELETE", `/api/calls/${callId}`);
    expect(service.object(callId)).toBeUndefined();
  });

  test("is found in front of the host where the store wants the bucket there", async () => {
    const other = await openBucketService((endpoint) => ({
      RECORDINGS_S3_ENDPOINT: `http://store.localhost:${new URL(endpoint).port}`,
      RECORDINGS_S3_PATH_STYLE: "false",
    }));
    try {
      const callId = await other.call();
      expectRecording(await other.uploaded(callId));
      const { location } = await other.recording(callId);
      expect(new URL(location ?? "").hostname).toBe("sounds.store.localhost");
      expect(new URL(location ?? "").pathname).toBe(`/${keyOf(callId)}`);
      await other.rest("DELETE", `/api/calls/${callId}`);
      expect(other.peer.objects.size).toBe(0);
      const hosts = new Set(other.peer.requested.map(({ host }) => host));
      expect(hosts).toEqual(new Set(["sounds.store.localhost"]));
      expect(refusals(other)).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test("stays where it was made while the store fails, and is uploaded later", SLOW, async () => {
    const when: [Fault, (requested: S3Request, callId: string) => boolean][] = [
      ["403", (requested, callId) => isUploadOf(callId)(requested)],
      ["500", (requested, callId) => isUploadOf(callId)(requested)],
      ["cut", (requested, callId) => isUploadOf(callId)(requested)],
      ["short", (requested, callId) => isUploadOf(callId)(requested)],
      ["silence", ({ method, key }, callId) => method === "HEAD" && key === keyOf(callId)],
    ];
    let isDown = true;
    service.peer.fault = () => (isDown ? "500" : null);
    const callIds = await Promise.all(when.map(() => service.call()));
    const calls = await Promise.all(callIds.map((callId) => service.billed(callId)));
    expect(calls.map(({ endReason }) => endReason)).toEqual(when.map(() => "hangup"));
    const files = await Promise.all(callIds.map((callId) => service.recording(callId)));
    expect(files.map(({ status }) => status)).toEqual(when.map(() => 200));
    expect((await service.files()).length).toBe(when.length);
    const met = new Set<Fault>();
    service.peer.fault = (requested) => {
      const found = when.find(
        ([fault, holds], index) => !met.has(fault) && holds(requested, callIds[index] ?? ""),
      );
      if (found !== undefined) met.add(found[0]);
      return found?.[0] ?? null;
    };
    isDown = false;
    // Failed attempts wait for their retry time; a restart retries at once.
    await service.killAndStart();
    for (const [index, callId] of callIds.entries()) {
      expect((await service.uploaded(callId)).equals(files[index]?.bytes ?? Buffer.of())).toBe(true);
    }
    expect(met.size).toBe(when.length);
    await until(
      () => service.files(),
      (left) => left.length === 0,
    );
    expect([...service.peer.objects.keys()].toSorted()).toEqual(callIds.map(keyOf).toSorted());
  });

  test("cannot be had while the store is out of order, which is said", async () => {
    const callId = await service.call();
    const bytes = await service.uploaded(callId);
    for (const fault of ["500", "403", "cut"] as const) {
      service.peer.fault = () => fault;
      const answer = await service.recording(callId);
      expect([answer.status, answer.retryAfter]).toEqual([503, "10"]);
      expect(JSON.parse(answer.bytes.toString())).toMatchObject({ code: "no_capacity" });
    }
    service.peer.fault = () => null;
    expect((await service.uploaded(callId)).equals(bytes)).toBe(true);
  });
});

describe("the recording of a call that is deleted", () => {
  test("goes with the call that deletes itself, wherever it was", async () => {
    const callId = await service.call({ retentionPolicy: "auto_delete" });
    await until(
      () => service.isDeleted(callId),
      (isDeleted) => isDeleted,
    );
    await service.gone(callId);
    // A call whose webhooks are delivered only after its upload.
    let refuse = true;
    const { promise: mayBeTold, resolve: tell } = Promise.withResolvers<number>();
    service.conduct = ({ event }) => (refuse && event === "call.billed" ? mayBeTold : 204);
    await service.subscribe();
    const second = await service.call({ retentionPolicy: "auto_delete" });
    await service.uploaded(second);
    expect(service.object(second)).toBeDefined();
    refuse = false;
    tell(204);
    await service.gone(second);
    expect(await service.isDeleted(second)).toBe(true);
    expect(service.peer.objects.size).toBe(0);
  });

  test("is removed later where the store was out of order at that moment", async () => {
    const callId = await service.call();
    await service.uploaded(callId);
    service.peer.fault = () => "503";
    // The call is deleted at once.
    expect(await service.rest("DELETE", `/api/calls/${callId}`)).toBeNull();
    expect(await service.isDeleted(callId)).toBe(true);
    expect(service.object(callId)).toBeDefined();
    await service.kill();
    await service.withDatabase(async (db) => {
      // A minute later.
      const moved = await sql`update files_to_remove set due_at = now() - interval '1 second'`.execute(
        db.query,
      );
      expect(moved.numAffectedRows).toBe(1n);
    });
    service.peer.fault = () => null;
    await service.start();
    await service.gone(callId);
  });

  test("does not hold up the deletion where the store says nothing", async () => {
    const [first, second] = [await service.call(), await service.call()];
    await Promise.all([service.uploaded(first), service.uploaded(second)]);
    const requested: string[] = [];
    service.peer.fault = ({ method, key }) => {
      requested.push(`${method} ${key}`);
      return "silence";
    };
    await service.rest("DELETE", `/api/calls/${first}`);
    await service.rest("DELETE", `/api/calls/${second}`);
    // It timed out on the first, and deferred the second without a request.
    expect(requested).toEqual([`DELETE ${keyOf(first)}`]);
    expect(await Promise.all([service.isDeleted(first), service.isDeleted(second)])).toEqual([true, true]);
  });
});
