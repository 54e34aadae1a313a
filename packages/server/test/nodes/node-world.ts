/** Several nodes of a deployment in this process, on one PostgreSQL database, reached by REST and websockets. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Config } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openParley, type Parley } from "../../src/app/parley.ts";
import { CallClient, wait } from "../../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "../faulty-engines.ts";

const LIMIT_MS = 60_000;
/** Reached only when something is wrong: a busy machine may not renew a lease for some seconds. */
const LEASE_MS = 600_000;

export interface Answered<Body = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body; null where it is none. */
  readonly body: Body;
}

export interface NodeCall {
  readonly callId: string;
  /** At the node that has made it. */
  readonly joinUrl: string;
}

export interface WorldPlace {
  readonly databaseUrl: string;
  readonly secretsKey: Uint8Array;
}

/** One node. */
export class WorldNode {
  readonly parley: Parley;
  readonly #key: string;
  readonly #close: () => Promise<void>;
  readonly errorsLogged: readonly string[];

  constructor(parley: Parley, key: string, errorsLogged: readonly string[], close: () => Promise<void>) {
    this.parley = parley;
    this.#key = key;
    this.errorsLogged = errorsLogged;
    this.#close = close;
  }

  async ask<Body = Readonly<Record<string, unknown>>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered<Body>> {
    const isText = typeof body === "string";
    const response = await fetch(this.parley.publicUrl + path, {
      method,
      headers: {
        "x-api-key": this.#key,
        ...(body === undefined || isText ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const text = await response.text();
    const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : null) as Body,
    };
  }

  async makeCall(settings: object = {}): Promise<NodeCall> {
    const medium = { serverWebSocket: { inputSampleRate: 16_000 } };
    const made = await this.ask<NodeCall>("POST", "/api/calls", { medium, ...settings });
    assert.equal(made.status, 201, made.text);
    return made.body;
  }

  /** The join URL of a call at this node. */
  urlOf({ joinUrl }: NodeCall): string {
    return joinUrl.replace(/^ws:\/\/[^/]+/, this.parley.publicUrl.replace(/^http/, "ws"));
  }

  connect(call: NodeCall): CallClient {
    return new CallClient(this.urlOf(call));
  }

  /** How a join here ends at first: connected, or the status of the refusal with its headers and body. */
  async join(call: NodeCall): Promise<CallClient> {
    const client = this.connect(call);
    await client.opened();
    client.start();
    return client;
  }

  async record(callId: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.ask("GET", `/api/calls/${callId}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  /** Waits until the record of the call has this member set. */
  async until(callId: string, member: "joined" | "ended"): Promise<Readonly<Record<string, unknown>>> {
    const untilMs = performance.now() + LIMIT_MS;
    for (;;) {
      const record = await this.record(callId);
      if (record[member] !== null) return record;
      assert.ok(performance.now() < untilMs, `the call was not ${member}`);
      await wait(50);
    }
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.#close();
  }
}

/** @param changes of this node's configuration */
export async function openWorldNode(
  place: WorldPlace,
  key: string,
  changes: Partial<Config> = {},
): Promise<WorldNode> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-node-"));
  const errors: string[] = [];
  const write = (line: string): void => {
    if ((JSON.parse(line) as { level: number }).level >= 50) errors.push(line);
  };
  const config = loadConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    DATABASE_URL: place.databaseUrl,
    SECRETS_KEY: Buffer.from(place.secretsKey).toString("base64"),
    NODE_ADDRESS: "http://127.0.0.1:0",
    API_KEY: key,
    CONSOLE: "false",
    RATE_LIMIT_PER_KEY: "0",
    RATE_LIMIT_PER_ACCOUNT: "0",
    DRAIN_TIMEOUT_MS: "0",
  });
  const logger = pino({ level: "info" }, { write });
  let closing: Promise<void> | null = null;
  try {
    const parley = await openParley({ ...config, ...changes }, openFaultyEngines(), logger, {
      nodeLeaseMs: LEASE_MS,
    });
    const close = (): Promise<void> =>
      (closing ??= parley.close().then(() => rm(dataDir, { recursive: true, force: true })));
    return new WorldNode(parley, key, errors, close);
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

export function newKey(): string {
  return `testtest.${randomBytes(16).toString("hex")}`;
}
