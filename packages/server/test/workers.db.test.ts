/** A service with two workers, as its users and supervisors see it: one port, one signal, and lost workers come back. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { type ChildService, restOf, startChildService } from "../demo/child-service.ts";
import { openEmbeddedTestStore, openServerTestStore } from "../src/store/testing/databases.ts";
import { CallClient } from "../src/runner/testing/call-client.ts";

/** A worker starts in seconds, also on a busy machine. */
const WAIT = { timeout: 100_000, interval: 100 };

const server = inject("testServer");
if (server === null)
  process.stderr.write("skipped: a service with two workers, because no PostgreSQL answers\n");

interface Sample {
  readonly labels: string;
  readonly value: number;
}

/** Of one metric. */
async function samplesOf({ baseUrl }: ChildService, metric: string): Promise<readonly Sample[]> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .map((line) => ({
      labels: line.slice(metric.length, line.lastIndexOf(" ")),
      value: Number(line.split(" ").pop()),
    }));
}

/** Processes of workers below one process; it may have other children. */
async function workersOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${String(pid)}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${String(pid)}/task/${thread}/children`, "utf8").catch(() => "")),
  );
  const children = lists.flatMap((list) => list.split(" ").filter((text) => text !== ""));
  const commands = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, "utf8").catch(() => "")),
  );
  return children.filter((_, index) => commands[index]?.includes("--worker=") === true).map(Number);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(server === null)("a service with two workers", () => {
  let service: ChildService;
  let database: Awaited<ReturnType<typeof openServerTestStore>>;
  const lines: string[] = [];

  beforeAll(async () => {
    if (server === null) throw new Error("A skipped test must not open its database.");
    database = await openServerTestStore(server);
    const env = {
      WORKERS: "2",
      DATABASE_URL: database.databaseUrl ?? "",
      SECRETS_KEY: Buffer.from(database.secretsKey).toString("base64"),
      LOG_LEVEL: "info",
      // The caller does not hang up.
      DRAIN_TIMEOUT_MS: "1000",
      WEBRTC_PORT_RANGE: "",
      RTP_PORT_RANGE: "",
    };
    // The folder of the test's own store is locked by it.
    service = await startChildService({
      env,
      dataDir: join(database.dataDir, "service"),
      onLine: (line) => lines.push(line),
    });
  });

  afterAll(async () => {
    await service.stop();
    await database.remove();
  });

  /** Of the requests for calls. */
  const takers = (): readonly number[] =>
    lines
      .filter((line) => line.includes('"path":"/api/calls"'))
      .map((line) => (JSON.parse(line) as { readonly worker: number }).worker);

  const workerLabels = ['{worker="1"}', '{worker="2"}'];
  const liveCalls = () => samplesOf(service, "parley_live_calls");

  it("answers at one address, printed once, with the metrics of both", async () => {
    expect(lines.filter((line) => line.includes("Parley is ready.")).length).toBe(1);
    expect((await liveCalls()).map(({ labels }) => labels)).toEqual(workerLabels);
    expect(await samplesOf(service, "parley_workers_ready")).toEqual([{ labels: "", value: 2 }]);
    const nodes = await database.db.query.selectFrom("nodes").select("id").execute();
    expect(nodes.length).toBe(2);
    expect(await readdir(join(database.dataDir, "service", "workers"))).toEqual(["2"]);
  });

  it("spreads connections over both, and each worker says which one it is", async () => {
    // Each request has a connection of its own, and the kernel gives it to either of them.
    await vi.waitFor(async () => {
      await fetch(`${service.baseUrl}/api/calls`, {
        headers: { "X-API-Key": service.apiKey, Connection: "close" },
      });
      expect(new Set(takers())).toEqual(new Set([1, 2]));
    }, WAIT);
  });

  it("starts a killed worker again, while the other one serves", async () => {
    const before = await workersOf(service.pid);
    expect(before.length).toBe(2);
    const [first = 0] = before;
    process.kill(first, "SIGKILL");
    await vi.waitFor(() => expect(isRunning(first)).toBe(false), WAIT);
    const rest = restOf(service);
    for (let count = 0; count < 5; count += 1) await rest("GET", "/api/agents");
    await vi.waitFor(async () => {
      expect(await samplesOf(service, "parley_workers_ready")).toEqual([{ labels: "", value: 2 }]);
      expect(await samplesOf(service, "parley_worker_restarts_total")).toEqual([{ labels: "", value: 1 }]);
    }, WAIT);
    expect((await liveCalls()).map(({ labels }) => labels)).toEqual(workerLabels);
    expect(lines.filter((line) => line.includes("a worker has ended and is started again")).length).toBe(1);
  });

  it("lets a call end in order when the one process that its supervisor knows gets a signal, and leaves nothing", async () => {
    const medium = { serverWebSocket: { inputSampleRate: 16_000 } };
    const { callId, joinUrl } = await restOf(service)<{ callId: string; joinUrl: string }>(
      "POST",
      "/api/calls",
      { medium },
    );
    // The call is live in one of them; the other one does not take its join yet.
    let client: CallClient | null = null;
    await vi.waitFor(async () => {
      client?.socket.terminate();
      client = new CallClient(joinUrl);
      await client.opened();
    }, WAIT);
    const workers = await workersOf(service.pid);
    process.kill(service.pid, "SIGTERM");
    expect(await service.exited).toBe(0);
    expect(workers.filter(isRunning)).toEqual([]);
    const call = await database.db.query
      .selectFrom("calls")
      .selectAll()
      .where("id", "=", callId)
      .executeTakeFirst();
    expect(call?.ended_at).not.toBeNull();
    expect(call?.joined_at).not.toBeNull();
  });
});

it("stays one process with the embedded database, and says so", async () => {
  const { remove, store, dataDir, secretsKey } = await openEmbeddedTestStore();
  await store.close();
  const lines: string[] = [];
  const env = { WORKERS: "2", DATABASE_URL: "", SECRETS_KEY: Buffer.from(secretsKey).toString("base64") };
  const service = await startChildService({ env, dataDir, onLine: (line) => lines.push(line) });
  try {
    expect(await workersOf(service.pid)).toEqual([]);
    expect(lines.join("\n")).toContain("workers: one process, because the embedded database belongs to one");
  } finally {
    await service.stop();
    await remove();
  }
});

it("does not start at all where one of the workers cannot", async () => {
  const refused = startChildService({
    env: {
      WORKERS: "2",
      DATABASE_URL: "postgres://postgres@127.0.0.1:1/none",
      SECRETS_KEY: Buffer.alloc(32).toString("base64"),
    },
  });
  await expect(refused).rejects.toThrow(
    /exited with code 1[^]*Parley cannot start. The database none on 127.0.0.1/,
  );
});
