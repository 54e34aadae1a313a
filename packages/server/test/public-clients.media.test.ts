/** Clients that were written for the public service, unchanged: what they send, and what they wait for. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { LlmEngine } from "../src/ports/llm.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { NOTHING, openRunningService, type RunningService, USER_FIRST } from "./running-service.ts";

let service: RunningService;

/** Calls the tool that a call has for what the user said, and otherwise speaks. */
function openCallingLlm(llm: LlmEngine): LlmEngine {
  return {
    ...llm,
    async *generate(request, signal) {
      const [tool] = request.tools;
      if (tool === undefined || request.messages.at(-1)?.role !== "user") {
        yield* llm.generate(request, signal);
        return;
      }
      yield { type: "tool-call", call: { id: "m1", name: tool.name, arguments: {} } };
      yield { type: "finish", reason: "tool-calls", inputTokens: 1, outputTokens: 1 };
    },
  };
}

beforeAll(async () => {
  const engines = openFaultyEngines();
  const aliases = {
    voices: [
      { name: "Mark", target: "quick" },
      { name: "*", target: "default" },
    ],
    models: [{ name: "fixie-ai/slow", target: "hangs" }],
  };
  service = await openRunningService(
    { apiNames: "vendor", aliases },
    { ...engines, llm: openCallingLlm(engines.llm) },
  );
});

afterAll(() => service.close());

async function nameWarnings(callId: string) {
  return (await service.events(callId)).filter(({ type }) => /^(?:voice|model)\./.test(type));
}

test("a voice of the public service is echoed as sent, replaced, and the call is warned of it", async () => {
  const voiceOverrides = { elevenLabs: { speed: 1.1 } };
  const { callId, client } = await service.call({ voice: "Jessica", voiceOverrides });
  await until(() => client.of("transcript").some(({ role }) => role === "agent"), "the greeting");
  client.socket.close(1000);
  await service.endedSoon(callId);
  expect(await service.record(callId)).toMatchObject({ voice: "Jessica", voiceOverrides });
  const warned = await nameWarnings(callId);
  expect(warned.map(({ type, severity }) => [type, severity])).toEqual([
    ["voice.replaced", "warning"],
    ["voice.overrides_ignored", "warning"],
  ]);
  expect(warned[0]?.text).toBe("there is no voice Jessica here; VOICE_ALIASES replaces it by default");
});

test("a named alias speaks with its voice, also for an agent, without a warning", async () => {
  const agent = await service.ask<{ agentId: string; callTemplate: object }>("POST", "/api/agents", {
    name: "a",
    callTemplate: { voice: "Mark", model: "ultravox/ultravox-v0.6" },
  });
  expect(agent.body.callTemplate).toMatchObject({ voice: "Mark", model: "ultravox/ultravox-v0.6" });
  const path = `/api/agents/${agent.body.agentId}/calls`;
  const medium = { serverWebSocket: { inputSampleRate: 16_000 } };
  const answer = await service.ask<{ callId: string; joinUrl: string }>("POST", path, { medium });
  expect(answer).toMatchObject({ status: 201, body: { voice: "Mark", model: "ultravox/ultravox-v0.6" } });
  service.countCall();
  const { callId, joinUrl } = answer.body;
  const client = service.connect(joinUrl);
  await client.opened();
  client.start();
  await until(() => client.of("transcript").some(({ final }) => final), "the greeting to end");
  client.socket.close(1000);
  await service.endedSoon(callId);
  expect(await nameWarnings(callId)).toEqual([]);
});

test("names of models that are aliases are listed", async () => {
  const { results } = await service.get<{ results: { name: string }[] }>("/api/models?pageSize=100");
  expect(results.map(({ name }) => name)).toContain("fixie-ai/slow");
  expect(results.map(({ name }) => name)).not.toContain("*");
});

/** Fifteen sentences of five words; the voice of these tests says a word in 200 ms. */
const TALE = Array.from({ length: 15 }, (_, at) => `Sentence ${String(at)} has five words.`).join(" ");
const WORD_MS = 200;
/** Between what the client has played and what the service takes it to have played, on a busy machine. */
const CLOCKS_DIFFER_MS = 1_500;

test("a client that holds half a minute of audio has heard what it played when it is interrupted", async () => {
  const { callId, client } = await service.call(
    { firstSpeakerSettings: { agent: { text: TALE } } },
    { clientBufferSizeMs: 30_000 },
  );
  // Three sentences are sent at once; the service counts the first words as they are played.
  await until(() => client.of("transcript").filter(({ role }) => role === "agent").length > 2, "some words");
  await client.say(1_500);
  await until(() => client.of("playback_clear_buffer").length > 0, "the buffer to be cleared");
  const cleared = client.messages.find(({ message }) => message.type === "playback_clear_buffer");
  const playedMs = (cleared?.atMs ?? 0) - (client.frames[0]?.atMs ?? 0);
  await until(() => client.of("transcript").some(({ role, final }) => role === "agent" && final), "the cut");
  client.socket.close(1000);
  await service.endedSoon(callId);
  const said = (await service.messages(callId)).find(({ role }) => role === "MESSAGE_ROLE_AGENT");
  const told = client.of("transcript").find(({ role, final }) => role === "agent" && final);
  expect(said?.metadata).toMatchObject({ interrupted: "true" });
  expect(said?.text).toBe(told?.text);
  expect(TALE.startsWith(said?.text ?? "?")).toBe(true);
  const words = said?.text.split(" ").length ?? 0;
  expect(words).toBeGreaterThan(2);
  expect(words * WORD_MS).toBeLessThan(playedMs + CLOCKS_DIFFER_MS);
  const sentMs = client.frames.slice(0, cleared?.afterFrames).length * 20;
  expect(sentMs).toBeGreaterThan(words * WORD_MS);
});

test("empty text asks for a reply, as frameworks do that have the agent speak", async () => {
  const { callId, client } = await service.call({ ...USER_FIRST, voice: "Mark" });
  client.send({ type: "user_text_message", text: "", urgency: "soon" });
  await until(() => client.of("transcript").some(({ final }) => final), "a reply");
  expect(client.of("transcript").every(({ role }) => role === "agent")).toBe(true);
  client.socket.close(1000);
  await service.endedSoon(callId);
});

test("the agent is said to think before a tool of the client is invoked", async () => {
  const temporaryTool = { modelToolName: "look", client: {} };
  const { callId, client } = await service.call({ ...USER_FIRST, selectedTools: [{ temporaryTool }] });
  await client.say(800);
  await until(() => client.of("client_tool_invocation").length > 0, "the invocation");
  const order = client.messages.map(({ message }) =>
    message.type === "state" ? message.state : message.type,
  );
  expect(order.slice(0, order.indexOf("client_tool_invocation"))).toContain("thinking");
  client.socket.close(1000);
  await service.endedSoon(callId);
});

test("query parameters that are unknown here are ignored, and debug messages have both their names", async () => {
  expect((await service.ask("GET", "/api/agents?limit=5&offset=0")).status).toBe(200);
  const { callId, joinUrl } = await service.makeCall();
  const client = service.connect(`${joinUrl}?additionalMessages=debug`);
  await client.opened();
  client.start();
  await until(() => client.of("debug").length > 0, "a debug message");
  client.socket.close(1000);
  await service.endedSoon(callId);
});

test("nothing is left of these calls", async () => {
  expect(await service.leftovers()).toEqual(NOTHING);
});
