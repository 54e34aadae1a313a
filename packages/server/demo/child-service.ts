/** Starts the service as a program of its own on a free port, as a user would, and stops it again. */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A new embedded database takes up to 6 s on a small machine; a minute means that something is wrong. */
const READY_LIMIT_MS = 60_000;
/** After SIGTERM the service drains its calls; none is under way here. */
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 50;

export interface ChildService {
  readonly baseUrl: string;
  /** As given in `env`, else one of its own; empty when the service was to make one. */
  readonly apiKey: string;
  readonly pid: number;
  /** From the start of the process to the first 200 of /readyz. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

export interface ChildServiceOptions {
  /** Kept when given; otherwise a directory that vanishes with the service. */
  readonly dataDir?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program with the same behaviour, for benchmarks with fake engines. */
  readonly program?: string;
  /** Of Node itself, before the program. */
  readonly nodeArguments?: readonly string[];
  /** Lines that the service prints. */
  onLine?(line: string): void;
}

/** @throws when the service exits or is not ready in time; the message carries its last lines. */
export async function startChildService(options: ChildServiceOptions = {}): Promise<ChildService> {
  const port = await freePort();
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
      PORT: String(port),
      HOST: "127.0.0.1",
      PUBLIC_URL: "",
      DATA_DIR: dataDir,
      API_KEY: apiKey,
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\n")) {
        if (line.trim() === "") continue;
        if (lines.push(line) > 40) lines.shift();
        options.onLine?.(line);
      }
    });
  }
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await exited;
    clearTimeout(killer);
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const baseUrl = `http://127.0.0.1:${String(port)}`;
  try {
    await untilReady(baseUrl, exited);
  } catch (error) {
    await stop();
    throw new Error(`The service did not start: ${String(error)}\n${lines.join("\n")}`, { cause: error });
  }
  return { baseUrl, apiKey, pid: child.pid ?? 0, readyMs: performance.now() - startedMs, stop };
}

async function untilReady(baseUrl: string, exited: Promise<number | null>): Promise<void> {
  let code: number | null | undefined;
  void exited.then((value) => (code = value));
  const deadline = performance.now() + READY_LIMIT_MS;
  while (performance.now() < deadline) {
    if (code !== undefined) throw new Error(`it exited with code ${String(code)}`);
    const response = await fetch(`${baseUrl}/readyz`).catch(() => null);
    if (response?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error("it was not ready in time");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === "object" ? resolve(address.port) : reject(),
      );
    });
  });
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
