/**
 * `npm run demo`: starts the service, makes an agent, calls it with recorded human speech at real-time pace, interrupts
 * it once, prints the conversation as it happens with the latency of each turn, and saves the recording.
 * Exits with 1 when the agent did not answer. Needs no network and no key; with the engines' variables set it uses
 * real models.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openCaller, type Caller } from "./caller.ts";
import { restOf, startChildService, type Rest } from "./child-service.ts";
import { readClip } from "./clips.ts";
import { Conversation } from "./conversation.ts";

const SAMPLE_RATE_HZ = 16_000;
/** Real models on a slow machine may need seconds; no answer is awaited longer. */
const ANSWER_LIMIT_MS = 30_000;
/** How much of an answer is heard before the demonstration interrupts it. */
const INTERRUPT_AFTER_MS = 1_500;

const AGENT = {
  name: "Concierge",
  callTemplate: {
    systemPrompt:
      "You are a concierge on the telephone. You answer in one to three short sentences of plain spoken English. You " +
      "confirm directions, keep a small card game (the caller names cards, you say them back and tell which is the " +
      "highest), and book tables (party size, day, time).",
    medium: {
      serverWebSocket: {
        inputSampleRate: SAMPLE_RATE_HZ,
        clientBufferSizeMs: 60,
        dataMessages: { callEvent: true },
      },
    },
    recordingEnabled: true,
    maxDuration: "120s",
  },
} as const;

async function main(): Promise<void> {
  console.log("Starting the service …");
  const service = await startChildService({
    env: { LOG_LEVEL: "info" },
    onLine: (line) => {
      const engine = /"msg":"((?:voice activity|recogniser|model|voice): [^"]*)"/.exec(line)?.[1];
      if (engine !== undefined) console.log(`  ${engine}`);
    },
  });
  try {
    console.log(`Ready in ${(service.readyMs / 1000).toFixed(1)} s at ${service.baseUrl}\n`);
    const problem = await converse(restOf(service));
    if (problem !== null) {
      console.error(`\nThe demonstration failed: ${problem}`);
      process.exitCode = 1;
    }
  } finally {
    await service.stop();
  }
}

/** @returns what went wrong, or null. */
async function converse(rest: Rest): Promise<string | null> {
  const agent = await rest<{ agentId: string }>("POST", "/api/agents", AGENT);
  const call = await rest<{ callId: string; joinUrl: string }>(
    "POST",
    `/api/agents/${agent.agentId}/calls`,
    {},
  );
  const talk = new Conversation(console.log);
  const caller = await openCaller({
    joinUrl: call.joinUrl,
    sampleRateHz: SAMPLE_RATE_HZ,
    onMessage: (message) => talk.message(message),
  });
  const problem = await playScript(caller, talk);
  caller.send({ type: "hang_up", message: "Thank you for calling. Goodbye." });
  const overrun = setTimeout(() => caller.hangUp(), ANSWER_LIMIT_MS);
  await caller.closed;
  clearTimeout(overrun);
  await saveRecording(rest, call.callId);
  const record = await rest<{ endReason: string; joined: string; ended: string }>(
    "GET",
    `/api/calls/${call.callId}`,
  );
  const messages = await rest<{ total: number }>("GET", `/api/calls/${call.callId}/messages`);
  console.log(
    `The call ended with "${record.endReason}"; its record holds ${String(messages.total)} messages.`,
  );
  talk.printSummary();
  return problem ?? talk.problem();
}

async function playScript(caller: Caller, talk: Conversation): Promise<string | null> {
  if (!(await talk.answered(0, ANSWER_LIMIT_MS))) return "no greeting";
  for (const clip of ["goforward", "cards_004"]) {
    const before = talk.answers;
    await sayClip(caller, clip);
    if (!(await talk.answered(before, ANSWER_LIMIT_MS))) return `no answer to ${clip}.wav`;
  }
  const before = talk.answers;
  await sayClip(caller, "cards_005");
  if (!(await talk.speaking(ANSWER_LIMIT_MS))) return "no answer to cards_005.wav";
  await pause(INTERRUPT_AFTER_MS);
  await sayClip(caller, "cards_001");
  // These are the interrupted answer and the one to the interruption.
  if (!(await talk.answered(before + 1, ANSWER_LIMIT_MS))) return "no answer to the interruption";
  return null;
}

async function sayClip(caller: Caller, name: string): Promise<void> {
  const file = fileURLToPath(new URL(`../../../fixtures/speech/${name}.wav`, import.meta.url));
  await caller.say((await readClip(file)).samples);
}

async function saveRecording(rest: Rest, callId: string): Promise<void> {
  const folder = resolve("demo-output");
  await mkdir(folder, { recursive: true });
  const file = resolve(folder, "demo.wav");
  await writeFile(file, await rest.recording(callId));
  console.log(`\nRecording (left: caller, right: agent): ${file}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

await main();
