/** Recovery of a recording and a summary after the process is killed while making them. */

import { appendFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelFault } from "../src/ports/testing/model-server.ts";
import { readWav } from "../src/ports/testing/recordings-conformance.ts";
import type { S3Request, Fault } from "../src/providers/s3/testing/s3-peer.ts";
import { PART_BYTES } from "../src/providers/recordings/s3-upload.ts";
import { isUploadOf, keyOf, openBucketService, until, type BucketService } from "./bucket-service.ts";

/** Two starts, and up to half a minute until an interrupted job is resumed. */
const SLOW = { timeout: 240_000 };

let service: BucketService;
beforeAll(async () => {
  service = await openBucketService();
  await service.subscribe();
});
afterAll(async () => service.close());
beforeEach(() => {
  service.peer.fault = () => null;
  service.peer.objects.clear();
});

/** Kills the service when the store gets this request, and restarts it; the request itself gets no answer. */
async function killedAt(when: (requested: S3Request) => boolean, during: () => Promise<void>): Promise<void> {
  const killed = Promise.withResolvers<void>();
  let isKilled = false;
  service.peer.fault = async (requested): Promise<Fault | null> => {
    if (isKilled || !when(requested)) return null;
    isKilled = true;
    await service.kill();
    killed.resolve();
    return "silence";
  };
  await during();
  await killed.promise;
  await service.start();
}

/** One object, which plays; an empty folder; no partial upload in the bucket; one notification. */
async function expectOneRecording(callId: string): Promise<Buffer> {
  const bytes = await service.uploaded(callId);
  const wav = readWav(bytes);
  expect(wav).toMatchObject({ riff: "RIFF", channels: 2, sampleRateHz: 16_000 });
  expect(wav.dataBytes).toBe(bytes.byteLength - 44);
  expect(wav.samples.some((sample) => sample !== 0)).toBe(true);
  await until(
    () => service.files(),
    (files) => files.length === 0,
  );
  expect([...service.peer.objects.keys()]).toEqual([keyOf(callId)]);
  expect(service.peer.uploads.size).toBe(0);
  await service.allDeliveriesOf(callId);
  const deliveries = service.deliveriesOf(callId).map(({ event, deliveryId }) => `${event} ${deliveryId}`);
  expect(new Set(deliveries).size).toBe(4);
  return bytes;
}

describe("a process that is killed", () => {
  test("while it uploads a recording, uploads it after its start", SLOW, async () => {
    let callId = "";
    await killedAt(
      ({ method, key }) => method === "PUT" && key === keyOf(callId),
      async () => {
        callId = await service.call();
      },
    );
    expect(service.object(callId)).toBeUndefined();
    await expectOneRecording(callId);
  });

  test("between an upload and the word that it is done, uploads nothing twice", SLOW, async () => {
    let callId = "";
    let uploads = 0;
    await killedAt(
      (requested) => {
        if (isUploadOf(callId)(requested)) uploads += 1;
        // It checks that the bucket has the whole recording.
        return requested.method === "HEAD" && uploads === 1;
      },
      async () => {
        callId = await service.call();
      },
    );
    const first = service.object(callId);
    expect(first).toBeDefined();
    const requested = service.peer.requested.length;
    expect((await expectOneRecording(callId)).equals(first ?? Buffer.of())).toBe(true);
    expect(service.peer.requested.slice(requested).filter(isUploadOf(callId))).toEqual([]);
  });

  test("between two parts of a long recording, leaves none of them behind", SLOW, async () => {
    service.peer.fault = ({ method }) => (method === "PUT" ? "503" : null);
    const callId = await service.call();
    await service.allDeliveriesOf(callId);
    await service.kill();
    const file = join(service.dataDir, "recordings", `${callId}.wav`);
    await appendFile(file, Buffer.alloc(2 * PART_BYTES, 1));
    await killedAt(
      ({ query }) => query.get("partNumber") === "2",
      () => service.start(),
    );
    expect([service.peer.uploads.size, service.object(callId)]).toEqual([1, undefined]);
    expect((await stat(file)).size).toBeGreaterThan(2 * PART_BYTES);
    expect((await expectOneRecording(callId)).byteLength).toBeGreaterThan(2 * PART_BYTES);
  });

  test(
    "after a deletion that the store did not answer, removes the object after its start",
    SLOW,
    async () => {
      const callId = await service.call();
      await service.uploaded(callId);
      await killedAt(
        ({ method }) => method === "DELETE",
        async () => {
          // Its answer is lost with the process.
          await service.rest("DELETE", `/api/calls/${callId}`).catch(() => undefined);
        },
      );
      expect(await service.isDeleted(callId)).toBe(true);
      await service.gone(callId);
    },
  );

  test("while the model writes a summary, has it written once and the call billed once", SLOW, async () => {
    const killed = Promise.withResolvers<void>();
    const requested = service.model.transcripts.length;
    service.model.fault = async (): Promise<ModelFault> => {
      service.model.fault = () => null;
      await service.kill();
      killed.resolve();
      return "hang";
    };
    const callId = await service.call();
    await killed.promise;
    expect(service.deliveriesOf(callId).map(({ event }) => event)).not.toContain("call.billed");
    await service.start();
    expect(await service.billed(callId)).toMatchObject({ shortSummary: "A question." });
    await expectOneRecording(callId);
    expect(service.model.transcripts.length - requested).toBe(2);
    const billed = service.deliveriesOf(callId).filter(({ event }) => event === "call.billed");
    expect(billed).toHaveLength(1);
    expect(billed[0]?.call).toMatchObject({ shortSummary: "A question." });
    expect(await service.events(callId, "summary.failed")).toEqual([]);
  });
});
