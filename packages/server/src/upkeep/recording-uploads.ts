/**
 * Uploads the recordings of this node to the store that all nodes share, and removes their files. The queue is the
 * node's folder: a crash loses none of it, and no other node could do it.
 */

import type { Logger } from "pino";
import type { S3Recordings } from "../providers/recordings/s3-recordings.ts";
import { repeat, type Loop } from "../pacing/repeat.ts";
import type { Db } from "../store/database/db.ts";
import { markRecordingShared, stateOfRecordings } from "../store/calls/shared-recordings.ts";
import { backoffMs, type Backoff } from "../pacing/backoff.ts";

export interface RecordingUploads {
  start(): void;
  /** Stops running uploads: they restart at the next start. Idempotent. */
  close(): Promise<void>;
}

export interface UploadDeps {
  readonly db: Db;
  /** This node. */
  readonly nodeId: string;
  readonly recordings: Pick<S3Recordings, "finished" | "upload" | "forgetFile" | "remove">;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** For tests. */
  readonly intervalMs?: number;
}

/** Interval of the polls of the folder: a recording is in the bucket some seconds after its call. */
const INTERVAL_MS = 5_000;
/** Concurrent uploads; each holds one part of 8 MiB in memory. */
const UPLOADS_AT_ONCE = 2;
/** Files in one query of the database. */
const FILES_PER_QUESTION = 200;
/** Backoff: a store that is down for days gets one attempt per recording every ten minutes. */
const RETRIES: Backoff = { firstMs: 10_000, longestMs: 600_000 };

interface Failure {
  readonly failures: number;
  readonly dueAtMs: number;
}

export function openRecordingUploads(deps: UploadDeps): RecordingUploads {
  const { recordings, logger, nowMs, intervalMs = INTERVAL_MS } = deps;
  const failed = new Map<string, Failure>();
  const closing = new AbortController();
  let loop: Loop | null = null;

  async function one(callId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      failed.delete(callId);
    } catch (error) {
      if (closing.signal.aborted) return;
      const failures = (failed.get(callId)?.failures ?? 0) + 1;
      failed.set(callId, { failures, dueAtMs: nowMs() + backoffMs(RETRIES, failures - 1) });
      logger.warn({ callId, failures, error: String(error) }, "a recording is not in the bucket yet");
    }
  }

  async function look(): Promise<void> {
    const files = await recordings.finished();
    const there = new Set(files);
    for (const callId of failed.keys()) if (!there.has(callId)) failed.delete(callId);
    const due = files.filter((callId) => (failed.get(callId)?.dueAtMs ?? 0) <= nowMs());
    for (let from = 0; from < due.length && !closing.signal.aborted; from += FILES_PER_QUESTION) {
      await bring(deps, due.slice(from, from + FILES_PER_QUESTION), closing.signal, one);
    }
  }

  return {
    start() {
      loop ??= repeat(
        look,
        () => intervalMs,
        intervalMs,
        (error) => logger.error({ error: String(error) }, "the search for recordings failed and is retried"),
      );
    },
    async close() {
      closing.abort(new Error("the service is stopping"));
      await loop?.stop();
    },
  };
}

async function bring(
  { db, nodeId, recordings }: UploadDeps,
  callIds: readonly string[],
  signal: AbortSignal,
  one: (callId: string, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const states = await stateOfRecordings(db, nodeId, callIds);
  const left = callIds.filter((callId) => states.get(callId) !== "waits");
  const worker = async (): Promise<void> => {
    for (let callId = left.shift(); callId !== undefined; callId = left.shift()) {
      if (signal.aborted) return;
      const id = callId;
      const isErased = states.get(id) === "erased";
      await one(id, () => (isErased ? recordings.remove(id) : bringOne({ db, recordings }, id, signal)));
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, worker));
}

async function bringOne(
  { db, recordings }: Pick<UploadDeps, "db" | "recordings">,
  callId: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await recordings.upload(callId, signal))) return;
  // Before the file is removed: after a crash in between, the file and its object in the bucket are found again.
  if (await markRecordingShared(db, callId)) await recordings.forgetFile(callId);
  else await recordings.remove(callId);
}
