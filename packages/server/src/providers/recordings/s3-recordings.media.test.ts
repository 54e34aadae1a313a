import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bytesOfSamples } from "../../media/pcm.ts";
import { wavHeader } from "../../media/wav.ts";
import type { RecordingWriter } from "../../ports/recordings.ts";
import { describeRecordingsConformance, readWav } from "../../ports/testing/recordings-conformance.ts";
import { openFileRecordings } from "./file-recordings.ts";
import { S3Error } from "../s3/s3-objects.ts";
import { openS3Recordings, type S3Recordings, type S3Settings } from "./s3-recordings.ts";
import { PART_BYTES } from "./s3-upload.ts";
import { openS3Peer, type S3Request, type Fault, type S3Peer } from "../s3/testing/s3-peer.ts";

const credentials = { accessKeyId: "KEYID", secretAccessKey: "sec/ret+key", region: "eu-test-1" };
const never = new AbortController().signal;

function settingsOf(peer: S3Peer, changes: Partial<S3Settings> = {}): S3Settings {
  const { endpoint } = peer;
  const place = { endpoint, bucket: "sounds", prefix: "a/b.c/", pathStyle: true, redirects: true };
  return { ...credentials, ...place, ...changes };
}

const keyOf = (callId: string): string => `a/b.c/${callId}.wav`;

// While they are written, and before they are uploaded.
describeRecordingsConformance("bucket, still in the folder", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "recordings-"));
  const peer = await openS3Peer("sounds", credentials);
  return {
    recordings: openS3Recordings(await openFileRecordings(dir), settingsOf(peer)),
    close: async () => {
      await peer.close();
      await rm(dir, { recursive: true });
    },
  };
});

// Whatever is finished is in the bucket alone, and read from there by another node.
describeRecordingsConformance("bucket, uploaded", async () => {
  const [dir, other] = [
    await mkdtemp(path.join(tmpdir(), "rec-")),
    await mkdtemp(path.join(tmpdir(), "rec-")),
  ];
  const peer = await openS3Peer("sounds", credentials);
  const writing = openS3Recordings(await openFileRecordings(dir), settingsOf(peer));
  const reading = openS3Recordings(await openFileRecordings(other), settingsOf(peer));
  const live = new Set<string>();
  const finished = new Set<string>();
  /** Recordings are uploaded once their call is over: here, when they are read. */
  const of = async (callId: string): Promise<S3Recordings> => {
    if (finished.delete(callId)) {
      expect(await writing.upload(callId, never)).toBe(true);
      await writing.forgetFile(callId);
      live.delete(callId);
    }
    return live.has(callId) ? writing : reading;
  };
  const uploaded = (callId: string, writer: RecordingWriter): RecordingWriter => {
    live.add(callId);
    finished.delete(callId);
    const close = async (): Promise<void> => {
      await writer.close();
      finished.add(callId);
    };
    return { write: (samples) => writer.write(samples), close };
  };
  return {
    recordings: {
      isShared: true,
      create: async (callId, rate) => uploaded(callId, await writing.create(callId, rate)),
      resume: async (callId, rate, startMs) => uploaded(callId, await writing.resume(callId, rate, startMs)),
      open: async (callId) => (await of(callId)).open(callId),
      openPart: async (callId, startMs, endMs) => (await of(callId)).openPart(callId, startMs, endMs),
      link: async (callId) => (await of(callId)).link(callId),
      remove: async (callId) => {
        await of(callId);
        await reading.remove(callId);
      },
    },
    close: async () => {
      await peer.close();
      await rm(dir, { recursive: true });
      await rm(other, { recursive: true });
    },
  };
});

let dir = "";
let peer: S3Peer;
let recordings: S3Recordings;

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "recordings-"));
  peer = await openS3Peer("sounds", credentials);
  recordings = await open();
});

afterEach(async () => {
  await peer.close();
  await rm(dir, { recursive: true });
});

async function open(changes: Partial<S3Settings> = {}): Promise<S3Recordings> {
  return openS3Recordings(await openFileRecordings(dir), settingsOf(peer, changes));
}

const SHORT_PAIRS = 8_000;
/** Two whole parts and something. */
const LONG_PAIRS = (2 * PART_BYTES + 1_000_000) / 4;

function samplesOf(pairs: number): Int16Array {
  return Int16Array.from({ length: pairs * 2 }, (_, index) => (index * 7919) % 32_000);
}

/** As its node leaves it after the call. */
async function record(callId: string, pairs = SHORT_PAIRS): Promise<Buffer> {
  const sound = bytesOfSamples(samplesOf(pairs));
  const header = wavHeader({ sampleRateHz: 8_000, channels: 2 }, sound.byteLength);
  const file = Buffer.concat([header, sound]);
  await writeFile(path.join(dir, `${callId}.wav`), file);
  return file;
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of stream) blocks.push(block);
  return Buffer.concat(blocks);
}

/** What happens to the first requests that `when` holds for. */
function faults(fault: Fault, times: number, when: (requested: S3Request) => boolean = () => true): void {
  let left = times;
  peer.fault = (requested) => {
    if (left === 0 || !when(requested)) return null;
    left -= 1;
    return fault;
  };
}

test.each([
  ["in one request", SHORT_PAIRS, 0],
  ["in parts where it is long", LONG_PAIRS, 3],
])("is uploaded %s, and nothing is left behind", async (_, pairs, parts) => {
  const file = await record("call", pairs);
  expect(await recordings.upload("call", never)).toBe(true);
  expect(peer.objects.get(keyOf("call"))?.equals(file)).toBe(true);
  expect(peer.requested.filter(({ query }) => query.has("partNumber"))).toHaveLength(parts);
  expect([peer.uploads.size, peer.refused]).toEqual([0, ["NoSuchKey"]]);
  const written = peer.requested.filter(({ method }) => method === "PUT").length;
  // A crash came before the file was forgotten: nothing is sent twice.
  expect(await recordings.upload("call", never)).toBe(true);
  expect(peer.requested.filter(({ method }) => method === "PUT")).toHaveLength(written);
  expect(await recordings.finished()).toEqual(["call"]);
  await recordings.forgetFile("call");
  expect(await recordings.finished()).toEqual([]);
  expect(await recordings.upload("call", never)).toBe(false);
});

test("a part of a long one is read by its range alone", async () => {
  await record("call", LONG_PAIRS);
  await recordings.upload("call", never);
  await recordings.forgetFile("call");
  const part = await recordings.openPart("call", 60_000, 60_500);
  const wav = readWav(await bytesOf(part?.stream ?? new ReadableStream()));
  expect(wav).toMatchObject({ sampleRateHz: 8_000, dataBytes: 16_000 });
  expect(wav.samples).toEqual(samplesOf(LONG_PAIRS).subarray(960_000, 968_000));
});

test.each([0, 20])("of which a crash left %i bytes, and so no sound, is no recording", async (bytes) => {
  await writeFile(path.join(dir, "call.wav"), Buffer.alloc(bytes));
  expect(await recordings.finished()).toEqual(["call"]);
  expect(await recordings.upload("call", never)).toBe(false);
  expect([await recordings.finished(), peer.objects.size]).toEqual([[], 0]);
});

test("is not uploaded while it is written", async () => {
  const writer = await recordings.create("call", 8_000);
  expect([await recordings.finished(), await recordings.upload("call", never)]).toEqual([[], false]);
  await writer.close();
  expect([await recordings.finished(), await recordings.upload("call", never)]).toEqual([["call"], true]);
});

test.each<[Fault, string]>([
  ["500", "500 InternalError"],
  ["503", "503 SlowDown"],
  ["cut", "fetch failed"],
])("a store that answers with %s is reported, and a later attempt succeeds", async (fault, message) => {
  const file = await record("call", LONG_PAIRS);
  const wants = [
    ({ method }: S3Request) => method === "HEAD",
    ({ query }: S3Request) => query.get("partNumber") === "2",
    ({ method, query }: S3Request) => method === "POST" && query.has("uploadId"),
  ];
  // HEAD has no body, so no code.
  for (const [index, want] of wants.entries()) {
    faults(fault, 1, want);
    await expect(recordings.upload("call", never)).rejects.toThrow(index === 0 ? undefined : message);
    expect(peer.objects.size).toBe(0);
    // The file is there, and served.
    expect(
      (await bytesOf((await recordings.open("call"))?.stream ?? new ReadableStream())).equals(file),
    ).toBe(true);
  }
  expect(peer.uploads.size).toBe(0);
  await recordings.upload("call", never);
  expect(peer.objects.get(keyOf("call"))?.equals(file)).toBe(true);
});

test("what a crash left of an upload is dropped by the next one", async () => {
  await record("call", LONG_PAIRS);
  faults("500", 2, ({ query, method }) => query.get("partNumber") === "2" || method === "DELETE");
  await expect(recordings.upload("call", never)).rejects.toThrow(S3Error);
  expect(peer.uploads.size).toBe(1);
  await recordings.upload("call", never);
  expect(peer.uploads.size).toBe(0);
});

test("a store that keeps less than it was given is found out", async () => {
  await record("call");
  faults("short", 1, ({ method }) => method === "PUT");
  await expect(recordings.upload("call", never)).rejects.toThrow(/has \d+ of \d+ bytes/);
  expect(await recordings.finished()).toEqual(["call"]);
});

test("an upload to a store that does not respond ends when it is aborted", async () => {
  await record("call");
  const stopping = new AbortController();
  peer.fault = ({ method }) => {
    if (method !== "PUT") return null;
    stopping.abort(new Error("the service is stopping"));
    return "silence";
  };
  const uploading = recordings.upload("call", stopping.signal);
  await expect(uploading).rejects.toThrow("the service is stopping");
  peer.fault = () => null;
  await recordings.upload("call", never);
  expect(peer.objects.size).toBe(1);
});

test.each<[string, Partial<S3Settings>, string]>([
  ["secret", { secretAccessKey: "another" }, "SignatureDoesNotMatch"],
  ["key", { accessKeyId: "ANOTHER" }, "InvalidAccessKeyId"],
  ["region", { region: "us-east-1" }, "AuthorizationHeaderMalformed"],
  ["bucket", { bucket: "nothing" }, "NoSuchBucket"],
])("a wrong %s is reported, and nothing counts as missing", async (_, changes, code) => {
  await record("call");
  const wrong = await open(changes);
  await expect(wrong.upload("call", never)).rejects.toThrow(S3Error);
  expect(peer.refused).toContain(code);
  const elsewhere = await open({ ...changes });
  await elsewhere.forgetFile("call");
  await expect(elsewhere.open("call")).rejects.toThrow(code);
  await expect(elsewhere.openPart("call", 0, 1)).rejects.toThrow(code);
  await expect(elsewhere.remove("call")).rejects.toThrow(code);
});

test("a reader hears of an answer that is cut off", async () => {
  await record("call");
  await recordings.upload("call", never);
  await recordings.forgetFile("call");
  faults("cut answer", 1);
  const opened = await recordings.open("call");
  await expect(bytesOf(opened?.stream ?? new ReadableStream())).rejects.toThrow(/terminated/);
});

test("a link is there once it is uploaded, holds for minutes, and needs no key", async () => {
  const file = await record("call");
  await recordings.upload("call", never);
  expect(await recordings.link("call")).toBeNull();
  await recordings.forgetFile("call");
  expect(await (await open({ redirects: false })).link("call")).toBeNull();
  const link = (await recordings.link("call")) ?? "";
  expect(new URL(link).searchParams.get("X-Amz-Expires")).toBe("300");
  const answer = await fetch(link);
  expect(answer.headers.get("content-disposition")).toBe('inline; filename="call.wav"');
  expect(Buffer.from(await answer.arrayBuffer()).equals(file)).toBe(true);
  const forged = await fetch(link.replace("call.wav?", "other.wav?"));
  expect(forged.status).toBe(403);
  expect((await fetch(link, { method: "DELETE" })).status).toBe(403);
  expect(await recordings.link("none")).toBeNull();
});

test("removal stops an upload that is under way, and leaves nothing", async () => {
  await record("call", LONG_PAIRS);
  const removing = Promise.withResolvers<void>();
  peer.fault = ({ query }) => {
    if (query.get("partNumber") === "2") recordings.remove("call").then(removing.resolve, removing.reject);
    return query.get("partNumber") === "2" ? "silence" : null;
  };
  await expect(recordings.upload("call", never)).rejects.toThrow("the recording is removed");
  await removing.promise;
  expect([peer.objects.size, peer.uploads.size, await recordings.finished()]).toEqual([0, 0, []]);
  await recordings.remove("call");
});
