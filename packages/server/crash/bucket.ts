/** Records calls into a bucket and summarises them while services are killed, and checks them afterwards. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openCaller } from "../demo/caller.ts";
import type { ChildService, restOf } from "../demo/child-service.ts";
import { openModelServer, type ModelServer } from "../src/ports/testing/model-server.ts";
import { openS3Peer, type S3Request, type Fault, type S3Peer } from "../src/providers/s3/testing/s3-peer.ts";
import type { Draw } from "../sim/draw.ts";

type Rest = ReturnType<typeof restOf>;

const CREDENTIALS = { accessKeyId: "CRASH", secretAccessKey: "crash", region: "eu-crash-1" };
const BUCKET = "crash";
const SAMPLE_RATE_HZ = 16_000;
/** Share of requests that the store and the model fail while services are killed. */
const FAULT_SHARE = 0.1;
/** Share of recorded calls that are deleted. */
const DELETED_SHARE = 0.2;
const WAV_HEADER_BYTES = 44;
const CALL_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

interface SummarizedCall {
  readonly callId: string;
  readonly joined: string | null;
  readonly recordingEnabled?: boolean;
  readonly summary: string | null;
}

export class CrashBucket {
  readonly #peer: S3Peer;
  readonly #model: ModelServer;
  readonly #draw: Draw;
  #isFaulty = true;
  /** Objects whose removal was refused once: the next tries are minutes apart. */
  readonly #refused = new Set<string>();
  /** Calls that the model has summarised. */
  readonly #answered = new Set<string>();
  /** Recordings that were fetched and are whole. */
  readonly #whole = new Set<string>();
  #summaries = 0;
  #without = 0;

  constructor(peer: S3Peer, model: ModelServer, draw: Draw) {
    this.#peer = peer;
    this.#model = model;
    this.#draw = draw;
    peer.fault = (request) => this.#faultOf(request);
    model.fault = (transcript) => {
      if (this.#isFaulty && draw.chance(FAULT_SHARE)) return draw.one(["500", "cut", "malformed"]);
      const callId = CALL_ID.exec(transcript)?.[0];
      if (callId !== undefined) this.#answered.add(callId);
      return null;
    };
  }

  get env(): Readonly<Record<string, string>> {
    return {
      LLM_BASE_URL: this.#model.baseUrl,
      LLM_MODEL: "crash",
      RECORDINGS_S3_BUCKET: BUCKET,
      RECORDINGS_S3_ENDPOINT: this.#peer.endpoint,
      RECORDINGS_S3_REGION: CREDENTIALS.region,
      RECORDINGS_S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      RECORDINGS_S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      RECORDINGS_S3_REDIRECT: "true",
    };
  }

  settings(): object {
    return {
      recordingEnabled: true,
      initialOutputMedium: "MESSAGE_MEDIUM_TEXT",
      retentionPolicy: this.#draw.chance(DELETED_SHARE) ? "auto_delete" : "retain",
    };
  }

  /** The caller is silent, except for one message. */
  async join({ callId, joinUrl }: { readonly callId: string; readonly joinUrl: string }): Promise<void> {
    const caller = await openCaller({ joinUrl, sampleRateHz: SAMPLE_RATE_HZ });
    caller.send({ type: "user_text_message", text: `My number is ${callId}.` });
    await caller.closed;
  }

  /** From now on store and model work. */
  settle(): void {
    this.#isFaulty = false;
  }

  /**
   * Empty when every recording is only in the bucket and plays, none is left of other calls, and every summary exists.
   */
  async faults(
    service: Pick<ChildService, "baseUrl" | "apiKey">,
    rest: Rest,
    calls: readonly SummarizedCall[],
    dirs: readonly string[],
  ): Promise<string[]> {
    const faults: string[] = [];
    const known = new Set(calls.map(({ callId }) => callId));
    for (const key of this.#peer.objects.keys()) {
      const callId = CALL_ID.exec(key)?.[0] ?? "";
      if (!known.has(callId)) faults.push(`the bucket has ${key} of no call`);
    }
    for (const [uploadId] of this.#peer.uploads) faults.push(`the bucket has parts of upload ${uploadId}`);
    for (const dir of dirs) {
      for (const file of await readdir(join(dir, "recordings"))) faults.push(`${file} was not uploaded`);
    }
    this.#summaries = 0;
    this.#without = 0;
    for (const call of calls) {
      if (call.joined === null || call.recordingEnabled !== true) continue;
      try {
        const recording = await this.#recordingFault(service, call.callId);
        if (recording !== null) faults.push(recording);
        const summary = await this.#summaryFault(rest, call);
        if (summary !== null) faults.push(summary);
      } catch (error) {
        // It may have deleted itself since it was listed: the next poll shows it.
        faults.push(`${call.callId} cannot be looked at: ${String(error)}`);
      }
    }
    return faults;
  }

  async #summaryFault(rest: Rest, { callId, summary }: SummarizedCall): Promise<string | null> {
    if (summary !== null) this.#summaries += 1;
    else if (await isExcused(rest, callId)) this.#without += 1;
    else {
      const reason = this.#answered.has(callId) ? "though the model answered" : "and no reason";
      return `${callId} has no summary, ${reason}`;
    }
    return null;
  }

  summary(): string {
    return `${String(this.#whole.size)} recordings, ${String(this.#summaries)} summaries (${String(this.#without)} calls have a reason to have none)`;
  }

  async close(): Promise<void> {
    await Promise.all([this.#peer.close(), this.#model.close()]);
  }

  #faultOf({ method, key }: S3Request): Fault | null {
    if (!this.#isFaulty || !this.#draw.chance(FAULT_SHARE)) return null;
    if (method === "DELETE" && this.#refused.has(key)) return null;
    if (method === "DELETE") this.#refused.add(key);
    return this.#draw.one(["500", "503", "cut"]);
  }

  async #recordingFault(
    { baseUrl, apiKey }: Pick<ChildService, "baseUrl" | "apiKey">,
    callId: string,
  ): Promise<string | null> {
    if (this.#whole.has(callId)) return null;
    const url = `${baseUrl}/api/calls/${callId}/recording`;
    const response = await fetch(url, { headers: { "X-API-Key": apiKey } });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) return `the recording of ${callId} answers ${String(response.status)}`;
    const isWhole =
      bytes.toString("latin1", 0, 4) === "RIFF" &&
      bytes.byteLength >= WAV_HEADER_BYTES &&
      bytes.readUInt32LE(WAV_HEADER_BYTES - 4) === bytes.byteLength - WAV_HEADER_BYTES;
    if (!isWhole) return `the recording of ${callId} is not whole`;
    this.#whole.add(callId);
    return null;
  }
}

/** Nothing was said, or the reason for a missing summary is recorded. */
async function isExcused(rest: Rest, callId: string): Promise<boolean> {
  const events = await rest<{ total: number }>(
    "GET",
    `/api/calls/${callId}/events?minimum_severity=warning&type=summary.failed`,
  );
  if (events.total > 0) return true;
  const messages = await rest<{ results: readonly { role: string }[] }>(
    "GET",
    `/api/calls/${callId}/messages`,
  );
  return !messages.results.some(({ role }) => role === "MESSAGE_ROLE_USER");
}

export async function openCrashBucket(draw: Draw): Promise<CrashBucket> {
  return new CrashBucket(await openS3Peer(BUCKET, CREDENTIALS), await openModelServer(), draw);
}
