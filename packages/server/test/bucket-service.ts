/** The service as a program with recordings in a bucket and with summaries; bucket and model run on this machine. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { openCaller } from "../demo/caller.ts";
import { restOf, startChildService, type ChildService, type Rest } from "../demo/child-service.ts";
import { openReceiver, deliveryOf, type Receiver, type Delivery } from "../src/jobs/testing/receiver.ts";
import { openModelServer, type ModelServer } from "../src/ports/testing/model-server.ts";
import { openS3Peer, type S3Request, type S3Peer } from "../src/providers/s3/testing/s3-peer.ts";
import type { Db } from "../src/store/database/db.ts";
import { openStore } from "../src/store/opening/open-store.ts";
import { newDataDir } from "../src/store/testing/databases.ts";

const CREDENTIALS = { accessKeyId: "KEYID", secretAccessKey: "sec/ret+key", region: "eu-test-1" };
const BUCKET = "sounds";
const PREFIX = "kept/here";
const SAMPLE_RATE_HZ = 16_000;
/** Two polls of the folder, the longest wait for a silent store and two retries; the machine may be busy. */
const WAIT_LIMIT_MS = 50_000;
const LOOK_MS = 50;

export interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly ended: string | null;
  readonly endReason: string | null;
  readonly billingStatus: string;
  readonly summary: string | null;
  readonly shortSummary: string | null;
}

export interface RecordingAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly retryAfter: string | null;
  readonly bytes: Buffer;
}

/** What the caller sends: distinct from silence, and compared sample by sample. */
export const SAID: Int16Array = Int16Array.from({ length: SAMPLE_RATE_HZ / 4 }, (_, index) =>
  Math.round(6_000 * Math.sin(index / 7) + (index % 97)),
);

export class BucketService {
  readonly peer: S3Peer;
  readonly model: ModelServer;
  readonly receiver: Receiver;
  readonly dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #secretsKey = randomBytes(32);
  /** How the receiver of webhooks answers. */
  conduct: (delivery: Delivery) => number | Promise<number> = () => 204;
  #service: ChildService | null = null;

  constructor(parts: {
    peer: S3Peer;
    model: ModelServer;
    receiver: Receiver;
    dataDir: string;
    env: Readonly<Record<string, string>>;
  }) {
    this.peer = parts.peer;
    this.model = parts.model;
    this.receiver = parts.receiver;
    this.dataDir = parts.dataDir;
    this.#env = {
      API_KEY: "bucketTs.abcdefghijklmnopqrstuvwxyzABCDEF",
      SECRETS_KEY: this.#secretsKey.toString("base64"),
      ALLOW_PRIVATE_TARGETS: "127.0.0.1",
      // Nobody comes back to these calls.
      RESUME_TIMEOUT_MS: "0",
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_ACCOUNT: "0",
      DRAIN_TIMEOUT_MS: "0",
      LOG_LEVEL: "error",
      LLM_BASE_URL: parts.model.baseUrl,
      LLM_MODEL: "m",
      RECORDINGS_S3_BUCKET: BUCKET,
      RECORDINGS_S3_ENDPOINT: parts.peer.endpoint,
      RECORDINGS_S3_REGION: CREDENTIALS.region,
      RECORDINGS_S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      RECORDINGS_S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      RECORDINGS_S3_PREFIX: PREFIX,
      RECORDINGS_S3_REDIRECT: "true",
      ...parts.env,
    };
  }

  async start(): Promise<void> {
    const names = new URL("./loopback-names.ts", import.meta.url).href;
    const nodeArguments = ["--import", names];
    this.#service = await startChildService({ dataDir: this.dataDir, env: this.#env, nodeArguments });
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = null;
  }

  /** `kill -9`, and waits until it is gone. */
  async kill(): Promise<void> {
    if (this.#service !== null) process.kill(this.#service.pid, "SIGKILL");
    await this.stop();
  }

  async killAndStart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  get rest(): Rest {
    assert.ok(this.#service !== null, "the service runs");
    return restOf(this.#service);
  }

  async subscribe(): Promise<void> {
    const events = ["call.started", "call.joined", "call.ended", "call.billed"];
    await this.rest("POST", "/api/webhooks", { url: this.receiver.url, events });
  }

  /** A recorded call with speech and text, ended by a hang-up. */
  async call(settings: object = {}, words = "Do you have a table for two?"): Promise<string> {
    const { callId, joinUrl } = await this.rest<CallRecord>("POST", "/api/calls", {
      systemPrompt: "Answer briefly.",
      medium: { serverWebSocket: { inputSampleRate: SAMPLE_RATE_HZ } },
      initialOutputMedium: "MESSAGE_MEDIUM_TEXT",
      firstSpeakerSettings: { user: {} },
      recordingEnabled: true,
      ...settings,
    });
    const answered = Promise.withResolvers<void>();
    const caller = await openCaller({
      joinUrl,
      sampleRateHz: SAMPLE_RATE_HZ,
      onMessage: ({ type, role }) => {
        if (type === "transcript" && role === "agent") answered.resolve();
      },
    });
    await caller.say(SAID);
    caller.send({ type: "user_text_message", text: words });
    await answered.promise;
    caller.hangUp();
    await caller.closed;
    return callId;
  }

  record(callId: string): Promise<CallRecord> {
    return this.rest<CallRecord>("GET", `/api/calls/${callId}`);
  }

  async isDeleted(callId: string): Promise<boolean> {
    const { results } = await this.rest<{ results: { callId: string }[] }>("GET", "/api/deleted_calls");
    return results.some((deleted) => deleted.callId === callId);
  }

  billed(callId: string): Promise<CallRecord> {
    return until(
      () => this.record(callId),
      ({ billingStatus }) => billingStatus === "BILLING_STATUS_BILLED",
    );
  }

  async events(callId: string, type: string): Promise<readonly { readonly text: string }[]> {
    const page = await this.rest<{ results: { type: string; text: string }[] }>(
      "GET",
      `/api/calls/${callId}/events?pageSize=100`,
    );
    return page.results.filter((event) => event.type === type);
  }

  async metric(name: string): Promise<number> {
    assert.ok(this.#service !== null, "the service runs");
    const lines = (await (await fetch(`${this.#service.baseUrl}/metrics`)).text()).split("\n");
    return Number(
      lines
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")
        .pop() ?? 0,
    );
  }

  /** Without following a redirect. */
  async recording(callId: string): Promise<RecordingAnswer> {
    assert.ok(this.#service !== null, "the service runs");
    const { baseUrl, apiKey } = this.#service;
    const response = await fetch(`${baseUrl}/api/calls/${callId}/recording`, {
      headers: { "X-API-Key": apiKey },
      redirect: "manual",
    });
    return {
      status: response.status,
      location: response.headers.get("location"),
      retryAfter: response.headers.get("retry-after"),
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  }

  /** Reads from the bucket, by the URL that the service returns. */
  async uploaded(callId: string): Promise<Buffer> {
    const { location } = await until(
      () => this.recording(callId),
      ({ status }) => status === 302,
    );
    // It fetches as a client would, except for the host name, which not every machine resolves.
    const link = new URL(location ?? "");
    const { host } = link;
    link.hostname = "127.0.0.1";
    const answer = await askStore(link, host);
    assert.equal(answer.status, 200);
    return answer.bytes;
  }

  object(callId: string): Buffer | undefined {
    return this.peer.objects.get(keyOf(callId));
  }

  async files(): Promise<readonly string[]> {
    return (await readdir(join(this.dataDir, "recordings"))).filter((name) => name.endsWith(".wav"));
  }

  async gone(callId: string): Promise<void> {
    await until(
      async () => [this.object(callId) !== undefined, (await this.files()).includes(`${callId}.wav`)],
      ([inBucket, inFolder]) => inBucket === false && inFolder === false,
    );
  }

  /** Deliveries about a call that the receiver has acknowledged, in order. */
  deliveriesOf(callId: string): readonly Delivery[] {
    return this.receiver.received
      .map(({ body }) => deliveryOf(body))
      .filter(({ call }) => call.callId === callId);
  }

  allDeliveriesOf(callId: string): Promise<readonly Delivery[]> {
    return until(
      () => this.deliveriesOf(callId),
      (deliveries) => deliveries.some(({ event }) => event === "call.billed"),
    );
  }

  /** For use while the service does not run. */
  async withDatabase(work: (db: Db) => Promise<void>): Promise<void> {
    assert.equal(this.#service, null);
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const { dataDir } = this;
    const store = await openStore({ dataDir, databaseUrl: null, secretsKey: this.#secretsKey, log });
    try {
      await work(store.db);
    } finally {
      await store.close();
    }
  }

  async close(): Promise<void> {
    await this.kill();
    await Promise.all([this.peer.close(), this.model.close(), this.receiver.close()]);
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** @param env overrides the defaults of every such service; gets the address of the store */
export async function openBucketService(
  env: (endpoint: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<BucketService> {
  const peer = await openS3Peer(BUCKET, CREDENTIALS);
  const service: BucketService = new BucketService({
    peer,
    model: await openModelServer(),
    receiver: await openReceiver(async ({ body }) => service.conduct(deliveryOf(body))),
    dataDir: await newDataDir(),
    env: env(peer.endpoint),
  });
  try {
    await service.start();
  } catch (error) {
    await service.close();
    throw error;
  }
  return service;
}

export function keyOf(callId: string): string {
  return `${PREFIX}/${callId}.wav`;
}

export function isUploadOf(callId: string): (requested: S3Request) => boolean {
  return ({ method, key }) => method === "PUT" && key === keyOf(callId);
}

/** Polls until the answer is the expected one. */
export async function until<Answer>(
  ask: () => Answer | Promise<Answer>,
  holds: (answer: Answer) => boolean,
): Promise<Answer> {
  const endMs = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > endMs)
      throw new Error(`did not come; last: ${JSON.stringify(answer).slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function askStore(url: URL, host: string): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers: { host }, agent: false }, (response) => {
      const blocks: Buffer[] = [];
      response.on("data", (block: Buffer) => blocks.push(block));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(blocks) }));
    });
    request.on("error", reject);
    request.end();
  });
}
