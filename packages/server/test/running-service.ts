/**
 * The whole service in this process, on a free port and with a separate embedded database, accessed as by its users: by
 * REST and by websockets on 127.0.0.1.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import nodeProcess from "node:process";
import { pino } from "pino";
import { WebSocket } from "ws";
import type { TurnTakingSettings } from "../src/plan/turn-taking.ts";
import { loadConfig, type Config } from "../src/config/config.ts";
import type { Engines } from "../src/app/engines.ts";
import { openParley } from "../src/app/parley.ts";
import { CallClient, wait } from "../src/runner/testing/call-client.ts";
import type { StartLegThread } from "../src/transports/rtc/leg-thread.ts";
import { createAccount, ensureDefaultAccount } from "../src/store/accounts/accounts.ts";
import { setSipEnabled } from "../src/store/telephony/sip-accounts.ts";
import { createApiKey } from "../src/store/accounts/api-keys.ts";
import { openStore } from "../src/store/opening/open-store.ts";
import { newAccount, newDataDir } from "../src/store/testing/databases.ts";
import { openFaultyEngines } from "./faulty-engines.ts";

/** Time from a cause to its recorded end. */
export const END_LIMIT_MS = 30_000;
/** Reached only when something is wrong; the machine may be busy with other tests. */
const WAIT_LIMIT_MS = 60_000;
/** Longer than the second after which a service warms up its optional parts. */
const QUIET_MS = 1_500;
/** As pino writes it. */
const ERROR_LEVEL = 50;

const TEST_KEY = { name: "test", creator: null, expiryDate: null };

const QUICK_LIMITS: Partial<TurnTakingSettings> = {
  transcriptTimeoutMs: 500,
  replyTimeoutMs: 500,
  replyStallMs: 500,
  synthesisTimeoutMs: 500,
  engineRetryDelayMs: 100,
  engineFailureLimitMs: 1_500,
  reconnectGraceMs: 5_000,
  maximumReplyChars: 200,
};

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** The JSON body; undefined where it is none. */
  readonly body: Body;
}

export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

export interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly joined: string | null;
  readonly ended: string | null;
  readonly endReason: string | null;
}

export interface MessageRecord {
  readonly role: string;
  readonly text: string;
  readonly medium: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface EventRecord {
  readonly type: string;
  readonly severity: string;
  readonly text: string;
  readonly extras: unknown;
}

interface Page<Row> {
  readonly results: readonly Row[];
  readonly total: number;
}

/** Resources that calls may leak. */
export interface Leftovers {
  readonly liveCalls: number;
  /** Calls that were made, less the ends that were counted. */
  readonly callsWithoutOneEnd: number;
  /** Kinds of timers, sockets and the like of which the process has more than before the first call. */
  readonly resources: readonly string[];
  /** Lines of severity error and above. */
  readonly errorsLogged: readonly string[];
}

export const NOTHING: Leftovers = { liveCalls: 0, callsWithoutOneEnd: 0, resources: [], errorsLogged: [] };

/** A call and its caller. */
export interface TestCall {
  readonly callId: string;
  readonly joinUrl: string;
  readonly client: CallClient;
}

const SERVER_WEB_SOCKET = { inputSampleRate: 16_000, dataMessages: { callEvent: true } };
export const USER_FIRST = { firstSpeakerSettings: { user: {} } };

/** Settings of a serverWebSocket call; `medium` is added to the defaults of every call here. */
export function callSettings(settings: object = {}, medium: object = {}): object {
  return { medium: { serverWebSocket: { ...SERVER_WEB_SOCKET, ...medium } }, ...settings };
}

/** The same join URL with another token. */
export function withWrongToken(joinUrl: string): string {
  return joinUrl.slice(0, -1) + (joinUrl.endsWith("A") ? "B" : "A");
}

export class RunningService {
  readonly url: string;
  readonly key: string;
  /** A key of an empty account. */
  readonly otherKey: string;
  /** Keys of the requested accounts, by the accounts' names. */
  readonly keys: ReadonlyMap<string, string>;
  /** All lines of the log, from the severity info. */
  readonly linesLogged: readonly string[];
  readonly #errorsLogged: readonly string[];
  readonly #close: () => Promise<void>;
  readonly #clients: CallClient[] = [];
  /** What keeps the process alive without calls. */
  readonly #idle: Readonly<Record<string, number>>;
  #calls = 0;

  constructor(options: {
    url: string;
    key: string;
    otherKey: string;
    keys: ReadonlyMap<string, string>;
    linesLogged: readonly string[];
    errorsLogged: readonly string[];
    close: () => Promise<void>;
    idle: Readonly<Record<string, number>>;
  }) {
    this.url = options.url;
    this.key = options.key;
    this.otherKey = options.otherKey;
    this.keys = options.keys;
    this.linesLogged = options.linesLogged;
    this.#errorsLogged = options.errorsLogged;
    this.#close = options.close;
    this.#idle = options.idle;
  }

  /** Sends one request on a separate connection, so that none stays open. */
  ask<Body = Problem>(method: string, path: string, body?: unknown, key = this.key): Promise<Answer<Body>> {
    return ask(this.url + path, method, body, key);
  }

  async get<Body>(path: string): Promise<Body> {
    const answer = await this.ask<Body>("GET", path);
    assert.equal(answer.status, 200, `GET ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async makeCall(settings: object = callSettings()): Promise<CallRecord> {
    const answer = await this.ask<CallRecord>("POST", "/api/calls", settings);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    this.countCall();
    return answer.body;
  }

  /** For calls that were not made by `makeCall`. */
  countCall(): void {
    this.#calls += 1;
  }

  connect(joinUrl: string, sampleRateHz?: number): CallClient {
    const client = new CallClient(joinUrl, sampleRateHz);
    this.#clients.push(client);
    return client;
  }

  /** Creates a call and joins it; the caller sends silence in real time. */
  async call(settings: object = {}, medium: object = {}): Promise<TestCall> {
    const { callId, joinUrl } = await this.makeCall(callSettings(settings, medium));
    const client = this.connect(joinUrl);
    await client.opened();
    client.start();
    return { callId, joinUrl, client };
  }

  record(callId: string): Promise<CallRecord> {
    return this.get<CallRecord>(`/api/calls/${callId}`);
  }

  async events(callId: string): Promise<readonly EventRecord[]> {
    return (await this.get<Page<EventRecord>>(`/api/calls/${callId}/events?pageSize=100`)).results;
  }

  async messages(callId: string): Promise<readonly MessageRecord[]> {
    return (await this.get<Page<MessageRecord>>(`/api/calls/${callId}/messages?pageSize=100`)).results;
  }

  /** Waits for the recorded end; fails when there is not exactly one. */
  async ended(callId: string, limitMs = WAIT_LIMIT_MS): Promise<CallRecord> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const record = await this.record(callId);
      if (record.ended !== null) {
        const ends = (await this.events(callId)).filter(({ type }) => type === "call.ended");
        assert.equal(ends.length, 1, "a call has one end");
        return record;
      }
      if (performance.now() > endMs) throw new Error("the call did not end");
      await wait(50);
    }
  }

  /** The end, which must be recorded within five seconds from now. */
  async endedSoon(callId: string): Promise<CallRecord> {
    const fromMs = Date.now();
    const record = await this.ended(callId);
    const tookMs = Date.parse(record.ended ?? "") - fromMs;
    assert.ok(tookMs < END_LIMIT_MS, `the end took ${String(tookMs)} ms`);
    return record;
  }

  async metric(line: RegExp): Promise<number> {
    const { bytes } = await this.ask("GET", "/metrics");
    const lines = bytes.toString("utf8").split("\n");
    return lines
      .filter((text) => line.test(text))
      .reduce((sum, text) => sum + Number(text.split(" ").pop()), 0);
  }

  /** Hangs up every client and returns the resources that calls have leaked; compare them with `NOTHING`. */
  async leftovers(): Promise<Leftovers> {
    for (const client of this.#clients) {
      client.stop();
      client.socket.terminate();
    }
    const look = async (): Promise<Leftovers> => {
      const liveCalls = await this.metric(/^parley_live_calls /);
      const ends = await this.metric(/^parley_calls_ended_total\{/);
      // The connections of these two requests are closed by then.
      await wait(100);
      const more = Object.entries(resources()).filter(([name, count]) => count > (this.#idle[name] ?? 0));
      return {
        liveCalls,
        callsWithoutOneEnd: this.#calls - ends,
        resources: more.map(([name]) => name),
        errorsLogged: this.#errorsLogged,
      };
    };
    const endMs = performance.now() + WAIT_LIMIT_MS;
    let left = await look();
    while ((left.liveCalls > 0 || left.resources.length > 0) && performance.now() < endMs) {
      await wait(50);
      left = await look();
    }
    return left;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of nodeProcess.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The service continues loading for a second after it listens: threads, and the timers of job workers. */
async function resourcesAtRest(): Promise<Record<string, number>> {
  const most = resources();
  const endMs = performance.now() + WAIT_LIMIT_MS;
  let quietFromMs = performance.now();
  while (performance.now() - quietFromMs < QUIET_MS) {
    if (performance.now() > endMs) throw new Error("the service did not come to rest");
    await wait(50);
    for (const [name, count] of Object.entries(resources())) {
      if (count <= (most[name] ?? 0)) continue;
      most[name] = count;
      quietFromMs = performance.now();
    }
  }
  return most;
}

/**
 * @param changes override the quick limits of tests; with `sip` the first account may use SIP
 * @param accounts names of more accounts, each with a key
 * @param startLegThread threads of WebRTC connections in which a test causes faults
 * @param sipAccounts those of `accounts` that may use SIP
 */
export async function openRunningService(
  changes: Partial<Config> = {},
  engines: Engines = openFaultyEngines(),
  accounts: readonly string[] = [],
  startLegThread?: StartLegThread,
  sipAccounts: readonly string[] = [],
): Promise<RunningService> {
  const dataDir = await newDataDir();
  const secretsKey = randomBytes(32);
  const errorsLogged: string[] = [];
  const linesLogged: string[] = [];
  const write = (line: string): void => {
    linesLogged.push(line);
    if ((JSON.parse(line) as { level: number }).level >= ERROR_LEVEL) errorsLogged.push(line);
  };
  const logger = pino({ level: "info" }, { write });
  const store = await openStore({ dataDir, databaseUrl: null, secretsKey, log: logger });
  const otherAccount = await newAccount(store.db);
  const other = await createApiKey(store.db, otherAccount, { ...TEST_KEY, name: "other" });
  const keys = new Map<string, string>();
  for (const name of accounts) {
    const { accountId } = await createAccount(store.db, name);
    const { secret } = await createApiKey(store.db, accountId, TEST_KEY);
    keys.set(name, secret);
    if (sipAccounts.includes(name)) await setSipEnabled(store.db, accountId, true);
  }
  if (changes.sip) await setSipEnabled(store.db, (await ensureDefaultAccount(store.db)).accountId, true);
  await store.close();
  const key = `testtest.${randomBytes(16).toString("hex")}`;
  const config = loadConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    SECRETS_KEY: secretsKey.toString("base64"),
    API_KEY: key,
    CONSOLE: "false",
    RATE_LIMIT_PER_KEY: "0",
    RATE_LIMIT_PER_ACCOUNT: "0",
    DRAIN_TIMEOUT_MS: "0",
  });
  const turnTaking = { ...config.turnTaking, ...QUICK_LIMITS };
  const options = startLegThread === undefined ? {} : { startLegThread };
  const parley = await openParley({ ...config, turnTaking, ...changes }, engines, logger, options);
  const close = async (): Promise<void> => {
    await parley.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return new RunningService({
    url: parley.publicUrl,
    key,
    otherKey: other.secret,
    keys,
    linesLogged,
    errorsLogged,
    close,
    idle: await resourcesAtRest(),
  });
}

function ask<Body>(url: string, method: string, body: unknown, key: string): Promise<Answer<Body>> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const headers = {
      "X-API-Key": key,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const request = httpRequest(url, { method, agent, headers }, (response) => {
      const blocks: Buffer[] = [];
      response.on("data", (block: Buffer) => blocks.push(block));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(blocks);
        const isJson = /[/+]json/.test(response.headers["content-type"] ?? "");
        const read = (isJson ? JSON.parse(bytes.toString("utf8")) : undefined) as Body;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, body: read });
      });
    });
    request.on("error", reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** How an attempt to join ends: the HTTP status of a refusal, or the close code after an upgrade. */
export function refusalOf(joinUrl: string): Promise<{ status: number } | { code: number }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(joinUrl);
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0 });
      socket.terminate();
    });
    socket.on("close", (code) => {
      resolve({ code });
    });
    socket.on("error", () => {
      // `unexpected-response` or `close` says what matters.
    });
  });
}
