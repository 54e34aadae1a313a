/** Services that are stopped in mid-conversation: their calls go on at another node, or after the restart. */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { RtcpRrPacket } from "werift";
import { describe, expect, test, vi, type TestContext } from "vitest";
import { createDatabase } from "../bench/jobs-store.ts";
import { restOf, startChildService, type ChildService, type Rest } from "../demo/child-service.ts";
import { CallClient, taken, until } from "../src/runner/testing/call-client.ts";
import { newDataDir } from "../src/store/testing/databases.ts";
import { loopbackClient } from "../src/transports/webrtc/testing/webrtc-caller.ts";
import { openPermits, WITH_PERMITS } from "./permits.ts";

const permit = openPermits();
const SECRETS_KEY = randomBytes(32).toString("base64");
const API_KEY = "handover.abcdefghijklmnopqrstuvwxyzABCDEF";
/** A machine that does other work speaks late. */
const LIMIT_MS = 120_000;

interface CallRecord {
  readonly callId: string;
  readonly joinUrl: string;
  readonly ended: string | null;
  readonly endReason: string | null;
}

const SENTENCES = [
  "My name is Ada.",
  "I can book rooms for you.",
  "The hotel has forty rooms.",
  "All of them look at the sea.",
  "Breakfast is at eight.",
  "How can I help?",
] as const;
const STORY = SENTENCES.join(" ");

interface TestWorld {
  readonly start: (dataDir: string) => Promise<ChildService>;
  readonly folder: () => Promise<string>;
}

function openWorld(context: TestContext, env: Readonly<Record<string, string>>): TestWorld {
  const running: ChildService[] = [];
  context.onTestFinished(async () => {
    for (const service of running) await service.stop();
  });
  return {
    async folder() {
      const dataDir = await newDataDir();
      context.onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
      return dataDir;
    },
    async start(dataDir) {
      const own = {
        SECRETS_KEY,
        API_KEY,
        DRAIN_TIMEOUT_MS: String(LIMIT_MS),
        RESUME_TIMEOUT_MS: String(LIMIT_MS),
      };
      const service = await startChildService({ dataDir, env: { ...own, ...env } });
      running.push(service);
      return service;
    },
  };
}

/** Two nodes, the first of which has the calls; null: there is no PostgreSQL. */
async function openNodes(context: TestContext): Promise<readonly [ChildService, ChildService] | null> {
  const database = await createDatabase().catch(() => null);
  if (database === null) {
    context.skip("no PostgreSQL answers, so two nodes cannot share a database");
    return null;
  }
  await permit(context);
  context.onTestFinished(() => database.drop());
  const world = openWorld(context, { DATABASE_URL: database.url, NODE_ADDRESS: "http://127.0.0.1:0" });
  const folders = await Promise.all([world.folder(), world.folder()]);
  const other = await world.start(folders[1]);
  return [await world.start(folders[0]), other];
}

const terminate = ({ pid }: ChildService): void => void process.kill(pid, "SIGTERM");

function clientAt(service: ChildService, { joinUrl }: CallRecord): CallClient {
  const url = joinUrl.replace(/^ws:\/\/[^/]+/, service.baseUrl.replace("http", "ws"));
  return new CallClient(`${url}?experimentalMessages=reconnect`);
}

/** Opens the URL until it is taken. */
function join(service: ChildService, call: CallRecord): Promise<CallClient> {
  return taken(() => clientAt(service, call));
}

function makeCall(rest: Rest, settings: object): Promise<CallRecord> {
  const firstSpeakerSettings = { user: {} };
  return rest<CallRecord>("POST", "/api/calls", {
    systemPrompt: "Be brief.",
    firstSpeakerSettings,
    ...settings,
  });
}

/** The agent's words as they were heard. */
const words = (client: CallClient): string =>
  client
    .of("transcript")
    .filter(({ role, final }) => role === "agent" && !final)
    .map(({ text, delta }) => text ?? delta ?? "")
    .join("");

async function ended(rest: Rest, { callId }: CallRecord): Promise<CallRecord> {
  return vi.waitFor(
    async () => {
      const record = await rest<CallRecord>("GET", `/api/calls/${callId}`);
      expect(record.ended).not.toBeNull();
      return record;
    },
    { timeout: LIMIT_MS, interval: 200 },
  );
}

const listOf = async <T>(rest: Rest, { callId }: CallRecord, what: string): Promise<readonly T[]> =>
  (await rest<{ results: T[] }>("GET", `/api/calls/${callId}/${what}?pageSize=100`)).results;

/** The rest of the story, a turn after it, and one end. */
async function finish(service: ChildService, call: CallRecord): Promise<string | null> {
  const rest = restOf(service);
  const client = await join(service, call);
  await until(() => words(client).includes("How can I help?"), "the rest of the story", LIMIT_MS);
  client.send({ type: "user_text_message", text: "Hello again." });
  const messages = () => listOf<{ role: string; text: string }>(rest, call, "messages");
  await vi.waitFor(
    async () =>
      expect((await messages()).slice(-2).map(({ role }) => role)).toEqual([
        "MESSAGE_ROLE_USER",
        "MESSAGE_ROLE_AGENT",
      ]),
    { timeout: LIMIT_MS, interval: 200 },
  );
  const told = (await messages()).map(({ text }) => text).join(" ");
  for (const sentence of SENTENCES) expect(told.split(sentence)).toHaveLength(2);
  client.socket.close(1000);
  const { endReason } = await ended(rest, call);
  const types = (await listOf<{ type: string }>(rest, call, "events")).map(({ type }) => type);
  for (const type of ["call.joined", "call.resumed", "call.ended"])
    expect(types.filter((one) => one === type)).toHaveLength(1);
  return endReason;
}

/** Stops the service in the middle of a sentence. */
async function stopInSentence(service: ChildService): Promise<CallRecord> {
  const medium = { serverWebSocket: { inputSampleRate: 16_000, dataMessages: { callEvent: true } } };
  const call = await makeCall(restOf(service), { medium });
  const client = await join(service, call);
  client.send({ type: "forced_agent_message", content: STORY, urgency: "immediate" });
  await until(() => words(client).includes("I can book"), "the second sentence", LIMIT_MS);
  const fromMs = performance.now();
  terminate(service);
  expect(await client.closed).toBe(1012);
  // At the end of the sentence, long before the limit.
  expect(performance.now() - fromMs).toBeLessThan(LIMIT_MS / 2);
  // The sentence was finished, and nothing of the next one was heard.
  expect(SENTENCES.map((_, at) => SENTENCES.slice(0, at + 1).join(" "))).toContain(words(client));
  return call;
}

describe.concurrent("a service that is stopped", WITH_PERMITS, () => {
  test("finishes the sentence, and the call goes on at another node", async (context) => {
    const nodes = await openNodes(context);
    if (nodes === null) return;
    const [service, other] = nodes;
    expect(await finish(other, await stopInSentence(service))).toBe("hangup");
  });

  test("finishes the sentence, and the call goes on after its restart", async (context) => {
    await permit(context);
    const world = openWorld(context, {});
    const dataDir = await world.folder();
    const service = await world.start(dataDir);
    const call = await stopInSentence(service);
    await service.exited;
    expect(await finish(await world.start(dataDir), call)).toBe("hangup");
  });

  test("tells clients of WebRTC to come back, which another node answers", async (context) => {
    const nodes = await openNodes(context);
    if (nodes === null) return;
    const [service, other] = nodes;
    const call = await makeCall(restOf(service), { medium: { webRtc: {} } });
    const before = await connectPeer(context, service, call);
    await until(() => before.types.includes("state"), "the join", LIMIT_MS);
    terminate(service);
    await until(() => before.types.includes("reconnect"), "the request to come back", LIMIT_MS);
    const after = await connectPeer(context, other, call);
    await until(() => after.types.includes("state"), "the second connection", LIMIT_MS);
    after.send({ type: "user_text_message", text: "Hello again." });
    await until(() => after.types.includes("transcript"), "an answer", LIMIT_MS);
    after.send({ type: "hang_up", message: "" });
    const rest = restOf(other);
    await ended(rest, call);
    const types = (await listOf<{ type: string }>(rest, call, "events")).map(({ type }) => type);
    expect(types.filter((type) => type === "call.joined")).toHaveLength(1);
    expect(types.filter((type) => type === "call.resumed")).toHaveLength(1);
  });
});

/** A peer of the service, and the types of the messages that it has received. */
async function connectPeer(context: TestContext, service: ChildService, { joinUrl }: CallRecord) {
  const types: string[] = [];
  const peer = loopbackClient();
  context.onTestFinished(() => peer.close());
  const { sender } = peer.addTransceiver("audio");
  const channel = peer.createDataChannel("messages");
  channel.onMessage.subscribe((data) => {
    types.push((JSON.parse(String(data)) as { type: string }).type);
  });
  await peer.setLocalDescription(await peer.createOffer());
  const url = `${service.baseUrl}${new URL(joinUrl).pathname}?experimentalMessages=reconnect`;
  const answer = await vi.waitFor(
    async () => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/sdp" },
        body: peer.localDescription?.sdp ?? "",
      });
      expect(response.status).toBe(201);
      return response.text();
    },
    { timeout: LIMIT_MS, interval: 500 },
  );
  await peer.setRemoteDescription({ type: "answer", sdp: answer });
  // A browser sends all the time.
  const sendReport = () => void peer.dtlsTransports[0]?.sendRtcp([new RtcpRrPacket({ ssrc: sender.ssrc })]);
  const alive = setInterval(() => channel.readyState !== "open" || sendReport(), 100);
  context.onTestFinished(() => clearInterval(alive));
  return { types, send: (message: object) => channel.send(JSON.stringify(message)) };
}
