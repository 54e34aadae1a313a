/** The service as a program: started, killed, restarted and stopped as its operator would. */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, type TestContext } from "vitest";
import { openCaller, type Caller, type CallerMessage } from "../demo/caller.ts";
import { restOf, startChildService, type ChildService } from "../demo/child-service.ts";
import { newDataDir } from "../src/store/testing/databases.ts";
import { openPermits, WITH_PERMITS } from "./permits.ts";

const permit = openPermits();

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const AGENT = {
  name: "Concierge",
  callTemplate: {
    medium: { serverWebSocket: { inputSampleRate: 16_000 } },
    firstSpeakerSettings: {
      agent: { text: "Good evening. This is a long greeting, so that there is time to be cut off." },
    },
    recordingEnabled: true,
  },
};

/** Replaces the key file, which a data folder with a database must have had from its first start. */
const SECRETS_KEY = randomBytes(32).toString("base64");

interface Folder {
  readonly dataDir: string;
  /** Starts the service in the folder. It is stopped after the test. */
  readonly start: (env?: Record<string, string>, onLine?: (line: string) => void) => Promise<ChildService>;
}

async function newFolder(context: TestContext): Promise<Folder> {
  await permit(context);
  const dataDir = await newDataDir();
  const running: ChildService[] = [];
  context.onTestFinished(async () => {
    for (const service of running) await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    dataDir,
    start: async (env = {}, onLine) => {
      const given = { SECRETS_KEY, ...env };
      const service = await startChildService({
        dataDir,
        env: given,
        ...(onLine === undefined ? {} : { onLine }),
      });
      running.push(service);
      return service;
    },
  };
}

interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly joined: string | null;
  readonly ended: string | null;
  readonly endReason: string | null;
}

async function makeCall(service: ChildService, settings: object = {}): Promise<CallRecord> {
  const rest = restOf(service);
  const agent = await rest<{ agentId: string }>("POST", "/api/agents", AGENT);
  return rest<CallRecord>("POST", `/api/agents/${agent.agentId}/calls`, settings);
}

async function joinAndHear(call: CallRecord): Promise<Caller> {
  let heard: () => void;
  const speaking = new Promise<void>((resolve) => (heard = resolve));
  const caller = await openCaller({
    joinUrl: call.joinUrl,
    sampleRateHz: 16_000,
    onMessage: (message: CallerMessage) => {
      if (message.type === "transcript") heard();
    },
  });
  await speaking;
  return caller;
}

/** Runs the program to its end and returns its output. */
function runToEnd(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => (said += text.toString()));
    child.once("exit", (code) => resolve({ code, said }));
  });
}

// They wait for starting programs and for sound most of their time.
describe.concurrent("the program", WITH_PERMITS, () => {
  test("prints a key on the first start only, and the key works", async (context) => {
    const { dataDir, start } = await newFolder(context);
    // Only the folder exists: the database and the secrets key are created as well.
    await rm(dataDir, { recursive: true });
    await mkdir(dataDir);
    const first: string[] = [];
    const service = await start({ API_KEY: "", SECRETS_KEY: "" }, (line) => first.push(line));
    const key = /API key\s+([a-zA-Z0-9]{8}\.[a-zA-Z0-9]{32})/.exec(first.join("\n"))?.[1] ?? "";
    expect(key).not.toBe("");
    expect(first.join("\n")).toContain(`Reference  ${service.baseUrl}/docs`);
    const page = await restOf({ baseUrl: service.baseUrl, apiKey: key })<{ total: number }>(
      "GET",
      "/api/agents",
    );
    expect(page.total).toBe(0);
    await service.stop();
    const second: string[] = [];
    const again = await start({ API_KEY: "", SECRETS_KEY: "" }, (line) => second.push(line));
    expect(second.join("\n")).not.toContain("API key");
    expect(
      (await restOf({ baseUrl: again.baseUrl, apiKey: key })<{ total: number }>("GET", "/api/agents")).total,
    ).toBe(0);
  });

  test("refuses a second process in the same directory with a sentence", async (context) => {
    const { dataDir, start } = await newFolder(context);
    const service = await start();
    const second = await runToEnd({ DATA_DIR: dataDir, SECRETS_KEY, PORT: "0", LOG_LEVEL: "warn" });
    expect(second.code).toBe(1);
    expect(second.said).toContain(String(service.pid));
    expect(second.said).toContain(dataDir);
  });

  test("stops with a sentence that names a wrong variable", async (context) => {
    const { dataDir } = await newFolder(context);
    const run = await runToEnd({ DATA_DIR: dataDir, PORT: "many" });
    expect(run).toEqual({ code: 1, said: "Parley cannot start. PORT must be a whole number.\n" });
  });

  test("ends a call that a crash cut off, and keeps all that it had acknowledged", async (context) => {
    const { dataDir, start } = await newFolder(context);
    const service = await start({ RESUME_TIMEOUT_MS: "0" });
    const call = await makeCall(service);
    const caller = await joinAndHear(call);
    caller.send({ type: "user_text_message", text: "Stop here, please." });
    const rest = restOf(service);
    const messages = await until(
      () => rest<{ results: { role: string; text: string }[] }>("GET", `/api/calls/${call.callId}/messages`),
      (page) => page.results.some((message) => message.role === "MESSAGE_ROLE_USER"),
    );
    const recordingFile = join(dataDir, "recordings", `${call.callId}.wav`);
    await until(
      () => stat(recordingFile),
      ({ size }) => size > 44,
    );
    process.kill(service.pid, "SIGKILL");
    await caller.closed;

    const again = restOf(await start({ API_KEY: service.apiKey, RESUME_TIMEOUT_MS: "0" }));
    const record = await again<CallRecord>("GET", `/api/calls/${call.callId}`);
    expect(record.endReason).toBe("system_error");
    expect(record.ended).not.toBeNull();
    const events = await again<{ results: { type: string }[] }>("GET", `/api/calls/${call.callId}/events`);
    expect(events.results.filter(({ type }) => type === "call.ended")).toHaveLength(1);
    const kept = await again<{ results: { text: string }[] }>("GET", `/api/calls/${call.callId}/messages`);
    for (const message of messages.results) {
      expect(kept.results.map((row) => row.text)).toContain(message.text);
    }
    const recording = await again.recording(call.callId);
    expect(recording.toString("latin1", 0, 4)).toBe("RIFF");
    expect(recording.readUInt32LE(40)).toBe(recording.length - 44);
    expect(recording.length).toBeGreaterThan(44);
  });

  test("keeps a call that was not joined yet through a restart", async (context) => {
    const { start } = await newFolder(context);
    const service = await start();
    const call = await makeCall(service, { joinTimeout: "120s" });
    await service.stop();
    const again = await start({ API_KEY: service.apiKey });
    const joinUrl = call.joinUrl.replace(/^ws:\/\/[^/]+/, again.baseUrl.replace("http", "ws"));
    const caller = await joinAndHear({ ...call, joinUrl });
    caller.hangUp();
    await caller.closed;
    const record = await until(
      () => restOf(again)<CallRecord>("GET", `/api/calls/${call.callId}`),
      (row) => row.ended !== null,
    );
    expect(record.endReason).toBe("hangup");
  });

  test("ends live calls cleanly when it is stopped and they do not end in time", async (context) => {
    const { start } = await newFolder(context);
    const service = await start({ DRAIN_TIMEOUT_MS: "500" });
    const call = await makeCall(service);
    const caller = await joinAndHear(call);
    const stopped = service.stop();
    expect([1001, 1011, 1012]).toContain(await caller.closed);
    await stopped;
    const again = await start({ API_KEY: service.apiKey });
    const record = await restOf(again)<CallRecord>("GET", `/api/calls/${call.callId}`);
    expect(record.ended).not.toBeNull();
    expect(record.endReason).not.toBeNull();
  });
});

/** Polls until the answer is the expected one; 200 times at most. */
async function until<Answer>(
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
): Promise<Answer> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("What was waited for did not come.");
}
