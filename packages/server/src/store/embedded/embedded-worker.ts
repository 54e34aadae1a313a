/**
 * Thread of the embedded database. It is never opened on the main thread, where it would stop all audio. What it has
 * acknowledged survives the end of the process, however sudden, but it never waits for the disk: a power cut may lose
 * the last commits.
 */

import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import type { FromWorker, ToWorker, WorkerInput } from "./protocol.ts";
import { Turns } from "./turns.ts";

if (parentPort === null) throw new Error("This file is the start of a worker thread.");
const port = parentPort;
const input = workerData as WorkerInput;

function tell(message: FromWorker): void {
  if (message.type === "answered" && message.bytes.buffer instanceof ArrayBuffer) {
    port.postMessage(message, [message.bytes.buffer]);
  } else port.postMessage(message);
}

const OWNER_ONLY = 0o700;

/** A database is made beside its place and moved there when it is whole, so that a crash leaves no half of one. */
async function openDatabase(databaseDir: string): Promise<PGlite> {
  if (!existsSync(databaseDir)) {
    const unfinishedDir = `${databaseDir}.new`;
    rmSync(unfinishedDir, { recursive: true, force: true });
    mkdirSync(unfinishedDir, { mode: OWNER_ONLY });
    const made = await PGlite.create(unfinishedDir);
    await made.close();
    renameSync(unfinishedDir, databaseDir);
  }
  // The files inside can be read and written by everybody: their folder is what keeps others out.
  chmodSync(databaseDir, OWNER_ONLY);
  return PGlite.create(databaseDir, { extensions: { pg_trgm } });
}

/**
 * The streaming form takes over the backend's output for good, and the other ones would parse every answer once more
 * and keep the result; after its first use the synchronous form gives its output there too.
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

/** In memory of its own: a pooled buffer would be copied to the main thread with all that lies around it. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}

/** The state of the backend is unknown after a failure outside SQL: nothing more is asked of it. */
function fail(error: unknown): void {
  tell({ type: "failed", error: error instanceof Error ? error.message : String(error) });
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
