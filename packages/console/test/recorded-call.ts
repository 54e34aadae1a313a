/** Makes calls with recorded speech over a websocket, for tests of the call pages. */

import { readFile } from "node:fs/promises";
import type { RestClient } from "@parley/client/rest";
import type { ServerDataMessage } from "@parley/schema";
import { WAV_HEADER_BYTES } from "../../server/src/media/wav.ts";
import { until } from "../../server/src/runner/testing/call-client.ts";

const RATE_HZ = 16_000;
const FRAME_MS = 20;
const FRAME_BYTES = (RATE_HZ * 2 * FRAME_MS) / 1000;
/** Timeout: engines and database may share a busy machine with other tests. */
const LIMIT_MS = 60_000;
/** The recogniser of a busy machine fails until it gets enough of a core; the words are repeated. */
const SPOKEN_LIMIT_MS = 180_000;
/** Longer than the words and the answer of a recogniser on a busy machine. */
const REPEAT_MS = 15_000;
/** Silence before the words, during which the agent greets. */
const GREETING_MS = 500;

export interface RunningCall {
  readonly callId: string;
  readonly messages: readonly ServerDataMessage[];
  readonly send: (message: object) => void;
  /** Starts sending the recorded words. */
  readonly speak: () => void;
  /** Leaves, and waits until the end of the call is stored. */
  readonly leave: () => Promise<void>;
}

const TOOL = {
  temporaryTool: {
    modelToolName: "goForward",
    description: "Moves the robot.",
    client: {},
    dynamicParameters: [
      {
        name: "meters",
        location: "PARAMETER_LOCATION_BODY",
        required: true,
        schema: { type: "number" },
      },
    ],
  },
};

export async function joinCall(
  api: RestClient,
  agentId: string,
  settings: object = {},
): Promise<RunningCall> {
  const medium = { serverWebSocket: { inputSampleRate: RATE_HZ, dataMessages: { callEvent: true } } };
  const { callId, joinUrl } = await api.fetch("POST", "/api/agents/{agent_id}/calls", {
    params: { agent_id: agentId },
    body: { medium, ...settings },
  });
  const speech = (
    await readFile(new URL("../../../fixtures/speech/goforward.wav", import.meta.url))
  ).subarray(WAV_HEADER_BYTES);
  const socket = new WebSocket(joinUrl ?? "");
  socket.binaryType = "arraybuffer";
  const messages: ServerDataMessage[] = [];
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return;
    const message = JSON.parse(data) as ServerDataMessage;
    messages.push(message);
    if (message.type !== "client_tool_invocation") return;
    const { invocationId } = message;
    socket.send(JSON.stringify({ type: "client_tool_result", invocationId, result: '{"moved":true}' }));
  });
  await until(() => socket.readyState === WebSocket.OPEN, "the join", LIMIT_MS);
  let at: number | null = null;
  const startMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    while ((sent + 1) * FRAME_MS <= performance.now() - startMs && socket.readyState === WebSocket.OPEN) {
      const frame = new Uint8Array(FRAME_BYTES);
      if (at !== null) {
        frame.set(speech.subarray(at, at + FRAME_BYTES));
        at += FRAME_BYTES;
      }
      sent += 1;
      socket.send(frame);
    }
  }, FRAME_MS);
  return {
    callId,
    messages,
    send: (message) => socket.send(JSON.stringify(message)),
    speak: () => {
      at = 0;
    },
    leave: async () => {
      clearInterval(timer);
      socket.close(1000);
      await ended(api, callId);
    },
  };
}

export async function ended(api: RestClient, callId: string): Promise<void> {
  const endMs = performance.now() + LIMIT_MS;
  for (;;) {
    const call = await api.fetch("GET", "/api/calls/{call_id}", { params: { call_id: callId } });
    // Only billed calls can be deleted.
    if (call.ended !== null && call.billingStatus !== "BILLING_STATUS_PENDING") return;
    if (performance.now() > endMs) throw new Error("The call did not end.");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function finals(call: RunningCall, role: "agent" | "user"): number {
  return call.messages.filter(
    (message) => message.type === "transcript" && message.final && message.role === role,
  ).length;
}

/** Calls that are begun until the recorded words are understood. */
const MAX_CALLS = 6;

/**
 * A greeting, recorded words that make the agent use a tool, its answer, and a long answer that typed words interrupt.
 */
export async function recordCall(api: RestClient, agentId: string): Promise<string> {
  for (let calls = 0; calls < MAX_CALLS; calls += 1) {
    const call = await spokenCall(api, agentId);
    if (call === null) continue;
    await interruptStory(call);
    await call.leave();
    return call.callId;
  }
  throw new Error("The recorded words were never understood.");
}

/** Null: a busy machine sent the words in pieces, so that something else was understood. Nothing of the call is left. */
async function spokenCall(api: RestClient, agentId: string): Promise<RunningCall | null> {
  const call = await joinCall(api, agentId, {
    recordingEnabled: true,
    firstSpeakerSettings: { agent: { text: "Good evening." } },
    metadata: { room: "12" },
    toolOverrides: { add: [TOOL] },
  });
  await until(() => finals(call, "agent") === 1, "the greeting", LIMIT_MS);
  await new Promise((resolve) => setTimeout(resolve, GREETING_MS));
  call.speak();
  // A busy machine may send them in pieces that are no phrase.
  const repeated = setInterval(() => call.speak(), REPEAT_MS);
  try {
    await until(() => finals(call, "user") >= 1, "the spoken words", SPOKEN_LIMIT_MS);
  } finally {
    clearInterval(repeated);
  }
  const words = call.messages.find(
    (message) => message.type === "transcript" && message.final && message.role === "user",
  );
  const isUnderstood = words?.type === "transcript" && /go forward ten met/i.test(words.text ?? "");
  if (isUnderstood && finals(call, "agent") === 1) {
    await until(() => finals(call, "agent") === 2, "the answer", LIMIT_MS);
    return call;
  }
  await call.leave();
  await api.fetch("DELETE", "/api/calls/{call_id}", { params: { call_id: call.callId } });
  return null;
}

async function interruptStory(call: RunningCall): Promise<void> {
  const story =
    "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.";
  call.send({ type: "forced_agent_message", content: story });
  const heard = () => call.messages.findLast((message) => message.type === "transcript");
  await until(() => heard()?.role === "agent" && heard()?.final === false, "the story", LIMIT_MS);
  await new Promise((resolve) => setTimeout(resolve, GREETING_MS));
  call.send({ type: "user_text_message", text: "Stop.", urgency: "immediate" });
  await until(() => finals(call, "agent") === 4, "the answer to what was typed", LIMIT_MS);
}
