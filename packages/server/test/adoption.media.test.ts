/** Calls whose process is killed in mid-conversation: the client opens its join URL again, and the call goes on. */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { describe, expect, test, vi, type TestContext } from "vitest";
import { createDatabase } from "../bench/jobs-store.ts";
import { restOf, startChildService, type ChildService, type Rest } from "../demo/child-service.ts";
import { readWav } from "../src/ports/testing/recordings-conformance.ts";
import { CallClient, taken, until, wait } from "../src/runner/testing/call-client.ts";
import { newDataDir } from "../src/store/testing/databases.ts";
import { openToolHost, type ToolHost } from "./tool-host.ts";
import { openPermits, WITH_PERMITS } from "./permits.ts";

const permit = openPermits();
const SECRETS_KEY = randomBytes(32).toString("base64");
const API_KEY = "adoption.abcdefghijklmnopqrstuvwxyzABCDEF";

interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly joined: string | null;
  readonly ended: string | null;
  readonly endReason: string | null;
}

interface Said {
  readonly role: string;
  readonly text: string;
  readonly callStageId?: string;
}

class World {
  readonly #context: TestContext;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running: ChildService[] = [];

  constructor(context: TestContext, env: Readonly<Record<string, string>>) {
    this.#context = context;
    this.#env = env;
    context.onTestFinished(async () => {
      for (const service of this.#running) await service.stop();
    });
  }

  async folder(): Promise<string> {
    const dataDir = await newDataDir();
    this.#context.onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    return dataDir;
  }

  async start(dataDir: string): Promise<ChildService> {
    const service = await startChildService({ dataDir, env: { SECRETS_KEY, API_KEY, ...this.#env } });
    this.#running.push(service);
    return service;
  }
}

async function kill(service: ChildService): Promise<void> {
  process.kill(service.pid, "SIGKILL");
  await service.exited;
}

/** As the client of the call: its join URL at the address of a service. */
function clientAt(service: ChildService, { joinUrl }: CallRecord): CallClient {
  return new CallClient(joinUrl.replace(/^ws:\/\/[^/]+/, service.baseUrl.replace("http", "ws")));
}

async function join(service: ChildService, call: CallRecord): Promise<CallClient> {
  const client = clientAt(service, call);
  await client.opened();
  client.start();
  return client;
}

/** Opens the URL until it is taken. */
function rejoin(service: ChildService, call: CallRecord): Promise<CallClient> {
  return taken(() => clientAt(service, call));
}

const messagesOf = async (rest: Rest, { callId }: CallRecord): Promise<readonly Said[]> =>
  (await rest<{ results: Said[] }>("GET", `/api/calls/${callId}/messages?pageSize=100`)).results;

async function eventsOf(rest: Rest, { callId }: CallRecord, type: string): Promise<number> {
  const { results } = await rest<{ results: { type: string }[] }>(
    "GET",
    `/api/calls/${callId}/events?pageSize=100`,
  );
  return results.filter((event) => event.type === type).length;
}

async function ended(rest: Rest, call: CallRecord): Promise<CallRecord> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const record = await rest<CallRecord>("GET", `/api/calls/${call.callId}`);
    if (record.ended !== null) return record;
    await wait(100);
  }
  throw new Error("the call does not end");
}

const agentTexts = (client: CallClient): string =>
  client
    .of("transcript")
    .filter(({ role, final }) => role === "agent" && final)
    .map(({ text }) => text ?? "")
    .join(" ");

const words = (client: CallClient): string =>
  client
    .of("transcript")
    .filter(({ role, final }) => role === "agent" && !final)
    .map(({ text, delta }) => text ?? delta ?? "")
    .join("");

const STORY =
  "My name is Ada. I can book rooms for you. The hotel has forty rooms. All of them look at the sea. " +
  "Breakfast is at eight. Dinner is at seven. The garden is open all day. How can I help?";

function makeCall(rest: Rest, settings: object = {}): Promise<CallRecord> {
  return rest<CallRecord>("POST", "/api/calls", {
    systemPrompt: "You are a concierge.",
    medium: { serverWebSocket: { inputSampleRate: 16_000, dataMessages: { callEvent: true } } },
    firstSpeakerSettings: { user: {} },
    ...settings,
  });
}

/**
 * Resolves when a snapshot of now or later is stored. Records are written one after the other, and of the snapshots that
 * wait the oldest keeps its place: what waited with the first of two messages is stored when the second one is.
 */
async function stored(rest: Rest, call: CallRecord, client: CallClient): Promise<void> {
  for (const text of ["A first remark.", "A second remark."]) {
    client.send({ type: "user_text_message", text, urgency: "later" });
    await vi.waitFor(
      async () =>
        expect((await messagesOf(rest, call)).map((message) => message.text).join()).toContain(text),
      { timeout: 60_000, interval: 100 },
    );
  }
}

/** A call that tells a long story, of which two sentences were heard. */
async function startStory(service: ChildService, settings: object = {}) {
  const rest = restOf(service);
  const call = await makeCall(rest, settings);
  const client = await join(service, call);
  client.send({ type: "forced_agent_message", content: STORY, urgency: "immediate" });
  await until(() => words(client).includes("I can book"), "the second sentence", LIMIT_MS);
  await stored(rest, call, client);
  return { call, client };
}

/** A machine that does other work speaks late. */
const LIMIT_MS = 120_000;

describe.concurrent("a call whose process is killed", WITH_PERMITS, () => {
  test("goes on where it was when the same node is started again", async (context) => {
    await permit(context);
    const world = new World(context, {});
    const dataDir = await world.folder();
    const service = await world.start(dataDir);
    const { call, client: before } = await startStory(service, { recordingEnabled: true });
    await kill(service);
    await before.closed;

    const again = await world.start(dataDir);
    const rest = restOf(again);
    const client = await rejoin(again, call);
    await until(() => agentTexts(client).includes("How can I help?"), "the rest of the story", LIMIT_MS);
    client.send({ type: "user_text_message", text: "Hello again." });
    const roles = async (): Promise<string[]> => (await messagesOf(rest, call)).map(({ role }) => role);
    await vi.waitFor(
      async () => expect((await roles()).slice(-2)).toEqual(["MESSAGE_ROLE_USER", "MESSAGE_ROLE_AGENT"]),
      { timeout: 60_000 },
    );
    const texts = (await messagesOf(rest, call)).map(({ text }) => text);
    expect(texts).toContain("A second remark.");
    expect(texts[0]).toMatch(/^My name is Ada\./);
    client.socket.close(1000);
    expect(await ended(rest, call)).toMatchObject({ endReason: "hangup" });
    expect(await eventsOf(rest, call, "call.joined")).toBe(1);
    expect(await eventsOf(rest, call, "call.resumed")).toBe(1);
    expect(await eventsOf(rest, call, "call.ended")).toBe(1);
    const { samples, sampleRateHz } = readWav(await rest.recording(call.callId));
    const isHeard = (part: Int16Array): boolean => part.some((sample) => Math.abs(sample) > 2_000);
    // The agent was heard at the beginning, by the first process, and at the end, by the second.
    expect(sampleRateHz).toBe(16_000);
    expect(isHeard(samples.slice(0, 16_000 * 2 * 10))).toBe(true);
    expect(isHeard(samples.slice(-16_000 * 2 * 10))).toBe(true);
  });

  test("sends no tool again, and keeps a stage that had begun", async (context) => {
    await permit(context);
    const host: ToolHost = await openToolHost(({ path }) =>
      path === "/next"
        ? {
            headers: { "x-service-response-type": "new-stage", "content-type": "application/json" },
            body: JSON.stringify({ systemPrompt: "You are the second stage.", toolResultText: "moved" }),
          }
        : { afterMs: 120_000 },
    );
    context.onTestFinished(() => host.close());
    const world = new World(context, { ALLOW_PRIVATE_TARGETS: "127.0.0.1" });
    const dataDir = await world.folder();
    const service = await world.start(dataDir);
    const tool = (name: string) => ({
      temporaryTool: {
        modelToolName: name,
        description: name,
        timeout: "20s",
        http: { baseUrlPattern: `${host.httpUrl}/${name}`, httpMethod: "POST" },
      },
    });
    const call = await makeCall(restOf(service), { selectedTools: [tool("next"), tool("book")] });
    const force = (from: CallClient, name: string): void => {
      const toolCalls = [{ name, arguments: {} }];
      from.send({ type: "forced_agent_message", content: "", toolCalls, urgency: "immediate" });
    };
    const asked = (): string[] => host.requests.map(({ path }) => path);
    const first = await join(service, call);
    await stored(restOf(service), call, first);
    force(first, "book");
    await until(() => asked().length === 1, "the tool to be asked", LIMIT_MS);
    await kill(service);
    await first.closed;

    const second = await world.start(dataDir);
    const client = await rejoin(second, call);
    await until(() => client.eventTypes().includes("call.resumed"), "the call again", LIMIT_MS);
    force(client, "next");
    await until(() => client.eventTypes().includes("stage.changed"), "the new stage", LIMIT_MS);
    await stored(restOf(second), call, client);
    await kill(second);
    await client.closed;

    const third = await world.start(dataDir);
    const rest = restOf(third);
    const last = await rejoin(third, call);
    await until(() => last.eventTypes().includes("call.resumed"), "the call once more", LIMIT_MS);
    expect(asked()).toEqual(["/book", "/next"]);
    const event = last.of("call_event").find(({ event: { type } }) => type === "call.resumed");
    const stages = await rest<{ results: { callStageId: string }[] }>(
      "GET",
      `/api/calls/${call.callId}/stages`,
    );
    expect(stages.results.map(({ callStageId }) => callStageId)).toContain(event?.event.callStageId);
    expect(stages.results).toHaveLength(2);
    last.socket.close(1000);
    expect(await ended(rest, call)).toMatchObject({ endReason: "hangup" });
    expect(await eventsOf(rest, call, "call.resumed")).toBe(2);
  });

  test("goes on at another node, which holds the client until the lease has lapsed", async (context) => {
    const database = await createDatabase().catch(() => null);
    if (database === null) {
      context.skip("no PostgreSQL answers, so two nodes cannot share a database");
      return;
    }
    await permit(context);
    context.onTestFinished(() => database.drop());
    const world = new World(context, { DATABASE_URL: database.url, NODE_ADDRESS: "http://127.0.0.1:0" });
    const [one, two] = await Promise.all([world.folder(), world.folder()]);
    const other = await world.start(two);
    const service = await world.start(one);
    const { call, client: before } = await startStory(service);
    await kill(service);
    await before.closed;
    const client = await rejoin(other, call);
    await until(() => agentTexts(client).includes("How can I help?"), "the rest of the story", LIMIT_MS);
    const rest = restOf(other);
    client.socket.close(1000);
    expect(await ended(rest, call)).toMatchObject({ endReason: "hangup" });
    expect(await eventsOf(rest, call, "call.resumed")).toBe(1);
    expect(await eventsOf(rest, call, "call.joined")).toBe(1);
  });
});
