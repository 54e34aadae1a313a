/** Starts the service as a separate program on a free port, as a user would, and stops it. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A new embedded database takes up to 6 s on a small machine; a busy one may need ten times as long. */
const READY_LIMIT_MS = 100_000;
/** After SIGTERM the service drains its calls; none is in progress here. */
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 50;

/** What the service prints when it listens. It chooses the port itself: one chosen here could be taken meanwhile. */
const ADDRESS = /^ {2}Service +(http:\S+)$/;

export interface ChildService {
  readonly baseUrl: string;
  /** From `env`, else a generated one; empty when the service was to create one. */
  readonly apiKey: string;
  readonly pid: number;
  /** From the start of the process to the first 200 of /readyz. */
  readonly readyMs: number;
  /** The code that the process ends with; null: a signal ended it. */
  readonly exited: Promise<number | null>;
  stop(): Promise<void>;
}

export interface ChildServiceOptions {
  /** Kept when given; otherwise a directory that is removed with the service. */
  readonly dataDir?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program that prints its address in the same way, for benchmarks with fake engines. */
  readonly program?: string;
  /** Options of Node itself, before the program. */
  readonly nodeArguments?: readonly string[];
  /** Absent: `READY_LIMIT_MS`. */
  readonly readyLimitMs?: number;
  /** Lines that the service prints. */
  onLine?(line: string): void;
}

/** @throws when the service exits or is not ready in time; the message carries its last lines. */
export async function startChildService(options: ChildServiceOptions = {}): Promise<ChildService> {
  const apiKey = options.env?.["API_KEY"] ?? `demo${randomText(4)}.${randomText(32)}`;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "parley-")));
  const program = options.program ?? fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...(options.nodeArguments ?? []), program], {
    env: {
      LOG_LEVEL: "warn",
      // Building it takes a core for some seconds.
      CONSOLE: "false",
      ...process.env,
      PORT: "0",
      HOST: "127.0.0.1",
      PUBLIC_URL: "",
      DATA_DIR: dataDir,
      API_KEY: apiKey,
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const { promise: address, resolve: listens } = Promise.withResolvers<string>();
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() === "") return;
      if (lines.push(line) > 40) lines.shift();
      const [, url] = ADDRESS.exec(line) ?? [];
      if (url !== undefined) listens(url);
      options.onLine?.(line);
    });
  }
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await exited;
    clearTimeout(killer);
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const baseUrl = await untilReady(address, exited, options.readyLimitMs ?? READY_LIMIT_MS);
    const readyMs = performance.now() - startedMs;
    return { baseUrl, apiKey, pid: child.pid ?? 0, readyMs, exited, stop };
  } catch (error) {
    await stop();
    throw new Error(`The service did not start: ${String(error)}\n${lines.join("\n")}`, { cause: error });
  }
}

/** @returns the address of the service, which answers there */
async function untilReady(
  address: Promise<string>,
  exited: Promise<number | null>,
  limitMs: number,
): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("it was not ready in time")), limitMs);
  });
  const gone = exited.then((code) => {
    throw new Error(`it exited with code ${String(code)}`);
  });
  try {
    const baseUrl = await Promise.race([address, gone, late]);
    for (;;) {
      const response = await Promise.race([fetch(`${baseUrl}/readyz`).catch(() => null), gone, late]);
      if (response?.ok === true) return baseUrl;
      await Promise.race([new Promise((resolve) => setTimeout(resolve, POLL_MS)), gone, late]);
    }
  } finally {
    clearTimeout(timer);
    gone.catch(() => undefined);
  }
}

function randomText(length: number): string {
  const alphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length] ?? "a").join("");
}

export interface Rest {
  <Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The recording of a call that has ended, as a WAV file. */
  recording(callId: string): Promise<Buffer>;
}

/** A recording is complete at the latest when the call's end is on record, which takes at most 5 s. */
const RECORDING_LIMIT_MS = 10_000;

/** @returns a function that calls the REST interface and throws with the problem's `detail`. */
export function restOf(service: Pick<ChildService, "baseUrl" | "apiKey">): Rest {
  const headers = { "X-API-Key": service.apiKey };
  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(service.baseUrl + path, {
      method,
      headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = response.status === 204 ? null : await response.json();
    if (!response.ok) {
      const detail = (answer as { detail?: string }).detail ?? "no detail";
      throw new Error(`${method} ${path}: ${String(response.status)} ${detail}`);
    }
    return answer as Answer;
  };
  const recording = async (callId: string): Promise<Buffer> => {
    const deadline = performance.now() + RECORDING_LIMIT_MS;
    for (;;) {
      const response = await fetch(`${service.baseUrl}/api/calls/${callId}/recording`, { headers });
      if (response.ok) return Buffer.from(await response.arrayBuffer());
      // 425: the call is just being closed.
      if (response.status !== 425 || performance.now() > deadline) {
        throw new Error(`The recording answered ${String(response.status)}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  return Object.assign(call, { recording });
}
