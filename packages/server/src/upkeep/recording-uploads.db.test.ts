import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openFileRemoval } from "./file-removal.ts";
import type { Recordings } from "../ports/recordings.ts";
import { openFileRecordings } from "../providers/recordings/file-recordings.ts";
import { openS3Recordings, type S3Recordings } from "../providers/recordings/s3-recordings.ts";
import { openS3Peer, type S3Peer } from "../providers/s3/testing/s3-peer.ts";
import { openRecordingsStore } from "../app/recordings-store.ts";
import { openRecordingUploads } from "./recording-uploads.ts";
import { noteOldRecordings } from "../store/calls/age-limits.ts";
import { insertCall } from "../store/calls/calls.ts";
import { deleteCall } from "../store/calls/deleted-calls.ts";
import { getFilesToRemove } from "../store/calls/files-to-remove.ts";
import { fixedTime, type SqlTime } from "../store/database/database-time.ts";
import { markEnded, newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";

const LIMIT = { timeout: 30_000, interval: 10 };
const DAY_MS = 86_400_000;
const credentials = { accessKeyId: "ID", secretAccessKey: "secret", region: "eu-1" };

interface Node {
  readonly nodeId: string;
  readonly recordings: S3Recordings;
  readonly files: () => Promise<readonly string[]>;
}

describeOnBothDatabases("recordings on their way to the bucket", (current) => {
  let dir = "";
  let peer: S3Peer;
  let a: Node;
  let b: Node;
  const clock = { aheadMs: 0 };
  const nowMs = (): number => Date.now() + clock.aheadMs;
  const logged: object[] = [];
  const note = (fields: object): void => void logged.push(fields);
  const logger = { info: () => undefined, warn: note, error: note };

  async function openNode(nodeId: string): Promise<Node> {
    const local = await openFileRecordings(path.join(dir, nodeId));
    const place = {
      endpoint: peer.endpoint,
      bucket: "sounds",
      prefix: "",
      pathStyle: true,
      redirects: false,
    };
    return {
      nodeId,
      recordings: openS3Recordings(local, { ...credentials, ...place }),
      files: () => local.list(),
    };
  }

  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "recordings-"));
    peer = await openS3Peer("sounds", credentials);
    a = await openNode("a");
    b = await openNode("b");
    clock.aheadMs = 0;
    logged.length = 0;
  });

  afterEach(async () => {
    await peer.close();
    await rm(dir, { recursive: true });
  });

  async function recordedCall({ nodeId, recordings }: Node) {
    const { db } = current();
    const accountId = await newAccount(db);
    const { callId, ...call } = newCall({ nodeId, settings: { recordingEnabled: true } });
    await insertCall(db, accountId, { callId, ...call });
    const writer = await recordings.create(callId, 8_000);
    writer.write(Int16Array.of(1, 2, 3, 4));
    await writer.close();
    const end = async (): Promise<void> => {
      const ended = { endReason: "hangup", endedAtMs: Date.now() } as const;
      await markEnded(db, accountId, callId, ended);
    };
    return { accountId, callId, end };
  }

  async function uploading(node: Node, work: () => Promise<void>): Promise<void> {
    const { nodeId, recordings } = node;
    const { db } = current();
    const uploads = openRecordingUploads({ db, nodeId, recordings, logger, nowMs, intervalMs: 10 });
    uploads.start();
    try {
      await work();
    } finally {
      await uploads.close();
      await uploads.close();
    }
  }

  function removal({ nodeId }: Node, recordings: Pick<Recordings, "remove" | "isShared">) {
    const time = (): SqlTime => fixedTime(nowMs());
    return openFileRemoval({ db: current().db, nodeId, recordings, logger, nowMs, time });
  }

  async function isRead({ recordings }: Node, callId: string): Promise<boolean> {
    const opened = await recordings.open(callId);
    await opened?.stream.cancel();
    return opened !== null;
  }

  it("are uploaded after their calls, and then every node has them", async () => {
    const over = await recordedCall(a);
    const running = await recordedCall(a);
    await over.end();
    expect([await isRead(a, over.callId), await isRead(b, over.callId)]).toEqual([true, false]);
    await uploading(a, async () => {
      await expect.poll(a.files, LIMIT).toEqual([running.callId]);
      await running.end();
      await expect.poll(a.files, LIMIT).toEqual([]);
    });
    expect([...peer.objects.keys()].toSorted()).toEqual(
      [over.callId, running.callId].map((id) => `${id}.wav`).toSorted(),
    );
    expect([await isRead(a, over.callId), await isRead(b, over.callId)]).toEqual([true, true]);
    expect(logged).toEqual([]);
  });

  it("are tried again where the store fails, later and later, and are served meanwhile", async () => {
    const { callId, end } = await recordedCall(a);
    await end();
    let tries = 0;
    peer.fault = ({ method }) => {
      if (method !== "PUT") return null;
      tries += 1;
      return tries <= 2 ? "500" : null;
    };
    await uploading(a, async () => {
      await expect.poll(() => logged, LIMIT).toMatchObject([{ callId, failures: 1 }]);
      expect(await isRead(a, callId)).toBe(true);
      clock.aheadMs += 10_000;
      await expect.poll(() => logged, LIMIT).toMatchObject([{ failures: 1 }, { callId, failures: 2 }]);
      clock.aheadMs += 20_000;
      await expect.poll(a.files, LIMIT).toEqual([]);
    });
    expect(tries).toBe(3);
  });

  it("continue where a process stopped between the upload and the removal of the file", async () => {
    const { accountId, callId, end } = await recordedCall(a);
    await end();
    await a.recordings.upload(callId, new AbortController().signal);
    // The state at a start.
    a = await openNode("a");
    await uploading(a, async () => {
      await expect.poll(a.files, LIMIT).toEqual([]);
    });
    expect(peer.requested.filter(({ method }) => method === "PUT")).toHaveLength(1);
    expect(await deleteCall(current().db, accountId, callId)).toBe("deleted");
    // Its own node may no longer exist.
    await removal(b, b.recordings).removeNow(callId);
    expect([peer.objects.size, await isRead(a, callId)]).toEqual([0, false]);
  });

  it("are not left behind where the call is deleted on the way", async () => {
    const { db } = current();
    const { accountId, callId, end } = await recordedCall(a);
    await end();
    // Before the bucket has answered, so before the database records that it has it.
    const deletions: string[] = [];
    peer.fault = async ({ method }) => {
      if (method === "PUT") deletions.push(await deleteCall(db, accountId, callId));
      return null;
    };
    await uploading(a, async () => {
      await expect.poll(a.files, LIMIT).toEqual([]);
      await expect.poll(() => peer.objects.size, LIMIT).toBe(0);
    });
    expect(deletions).toEqual(["deleted"]);
    // The removal of the call's files finds nothing, which is fine.
    await removal(a, a.recordings).removeNow(callId);
    const remover = { nodeId: "a", reachesShared: true };
    expect(await getFilesToRemove(db, remover, callId)).toBeNull();
  });

  it("are not uploaded where they are too old to be kept, nor of calls that nobody knows", async () => {
    const { db } = current();
    const old = await recordedCall(a);
    const { callId } = newCall();
    await (await a.recordings.create(callId, 8_000)).close();
    await old.end();
    await noteOldRecordings(db, 1, fixedTime(Date.now() + 2 * DAY_MS));
    await uploading(a, async () => {
      await expect.poll(a.files, LIMIT).toEqual([callId]);
    });
    expect(peer.requested.filter(({ method }) => method === "PUT")).toEqual([]);
    await db.query.deleteFrom("calls").where("id", "=", old.callId).execute();
  });

  it("are removed by the node that has the file where the call goes before them", async () => {
    const { db } = current();
    const { accountId, callId, end } = await recordedCall(a);
    await end();
    await deleteCall(db, accountId, callId);
    await removal(b, b.recordings).removeNow(callId);
    expect(await a.files()).toEqual([callId]);
    await removal(a, a.recordings).removeNow(callId);
    expect(await a.files()).toEqual([]);
  });

  it("stay in DATA_DIR where no bucket is named", async () => {
    const { db } = current();
    const log = pino({ enabled: false });
    const stay = await openRecordingsStore(
      { dataDir: dir, recordingsBucket: null, worker: null },
      db,
      "n",
      log,
    );
    expect([stay.recordings.isShared, stay.uploads]).toEqual([false, null]);
    const place = {
      endpoint: peer.endpoint,
      bucket: "sounds",
      prefix: "p/",
      pathStyle: true,
      redirects: false,
    };
    const recordingsBucket = { ...credentials, ...place };
    const go = await openRecordingsStore({ dataDir: dir, recordingsBucket, worker: null }, db, "n", log);
    expect(go.recordings.isShared).toBe(true);
    expect(await go.recordings.open("none")).toBeNull();
    expect(peer.requested.map(({ key }) => key)).toEqual(["p/none.wav"]);
    expect(peer.refused).toEqual(["NoSuchKey"]);
    await go.uploads?.close();
  });
});
