/**
 * Worker thread of the embedded database, which would block all audio on the main thread. Acknowledged commits survive a
 * crash of the process, but are not flushed to disk: a power failure may lose the last ones.
 */

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { vector } from "@electric-sql/pglite-pgvector";
import type { FromWorker, ToWorker, WorkerInput } from "./protocol.ts";
import { Turns } from "./turns.ts";
import { messageOf } from "../../pacing/error-text.ts";

if (parentPort === null) throw new Error("This file is the start of a worker thread.");
const port = parentPort;
const input = workerData as WorkerInput;

function tell(message: FromWorker): void {
  if (message.type === "answered" && message.bytes.buffer instanceof ArrayBuffer) {
    port.postMessage(message, [message.bytes.buffer]);
  } else port.postMessage(message);
}

const OWNER_ONLY = 0o700;

/** A new database is created in another folder and renamed when it is complete, so that a crash leaves no partial one. */
async function openDatabase(databaseDir: string): Promise<PGlite> {
  if (!existsSync(databaseDir)) {
    const unfinishedDir = `${databaseDir}.new`;
    rmSync(unfinishedDir, { recursive: true, force: true });
    mkdirSync(unfinishedDir, { mode: OWNER_ONLY });
    const made = await PGlite.create(unfinishedDir);
    await made.close();
    renameSync(unfinishedDir, databaseDir);
  }
  // The files inside are readable and writable by all users, so the folder must restrict access.
  chmodSync(databaseDir, OWNER_ONLY);
  return PGlite.create(databaseDir, { extensions: { pg_trgm, vector } });
}

/**
 * The streaming call redirects the backend's output permanently; the other calls would parse every answer again and retain
 * the result. After its first use the synchronous call also writes to the redirected output.
 */
async function executeOn(database: PGlite): Promise<(bytes: Uint8Array) => Uint8Array> {
  let answers: Uint8Array[] = [];
  await database.execProtocolRawStream(syncMessage, {
    syncToFs: false,
    // A view of the backend's memory: copied before the next statement writes there.
    onRawData: (data) => answers.push(data.slice()),
  });
  return (bytes) => {
    answers = [];
    database.execProtocolRawSync(bytes);
    const [only] = answers;
    return answers.length === 1 && only !== undefined ? only : joined(answers);
  };
}

const syncMessage = new Uint8Array(["S".charCodeAt(0), 0, 0, 0, 4]);

/** In a separate buffer: a pooled one would be transferred to the main thread as a whole. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}

/** After a failure outside SQL the state of the backend is unknown, so it is not used any more. */
function fail(error: unknown): void {
  tell({ type: "failed", error: messageOf(error) });
  port.close();
}

try {
  const database = await openDatabase(input.databaseDir);
  const turns = new Turns({
    execute: await executeOn(database),
    answer: (connectionId, bytes) => tell({ type: "answered", connectionId, bytes }),
    end: (connectionId, reason) => tell({ type: "ended", connectionId, reason }),
    after: (delayMs, callback) => {
      const timer = setTimeout(() => guarded(callback), delayMs);
      return () => clearTimeout(timer);
    },
  });
  port.on("message", (message: ToWorker) => {
    guarded(() => {
      if (message.type === "stop") {
        stop(database).catch(fail);
        return;
      }
      if (message.type === "connected") turns.open(message.connectionId, message.foreign);
      else if (message.type === "closed") turns.close(message.connectionId);
      else for (const [connectionId, bytes] of message.chunks) turns.receive(connectionId, bytes);
      turns.run();
    });
  });
  tell({ type: "opened" });
} catch (error) {
  fail(error);
}

function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    fail(error);
  }
}

async function stop(database: PGlite): Promise<void> {
  await database.close();
  tell({ type: "stopped" });
  port.close();
}
