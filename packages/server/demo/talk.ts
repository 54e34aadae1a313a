/**
 * `npm run talk -- AGENT_ID SPEECH.wav…`: calls an agent of a running service, says each file when it is the caller's
 * turn, prints the conversation and saves the recording. Reads URL (http://127.0.0.1:8080) and API_KEY.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { openCaller } from "./caller.ts";
import { restOf, type Rest } from "./child-service.ts";
import { readClip, type Clip } from "./clips.ts";
import { Conversation } from "./conversation.ts";

const ANSWER_LIMIT_MS = 30_000;

async function main(): Promise<void> {
  const [agentId, ...files] = process.argv.slice(2);
  const baseUrl = (process.env["URL"] ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
  const apiKey = process.env["API_KEY"];
  if (agentId === undefined || files.length === 0 || apiKey === undefined) {
    console.error(
      "Usage: API_KEY=… [URL=http://127.0.0.1:8080] npm run talk -- AGENT_ID SPEECH.wav [MORE.wav …]\n" +
        "The files are 16-bit mono WAV.",
    );
    process.exitCode = 2;
    return;
  }
  const clips = await Promise.all(files.map(readClip));
  const rate = clips[0]?.sampleRateHz ?? 0;
  if (clips.some((clip) => clip.sampleRateHz !== rate))
    throw new Error("All files must have the same sample rate.");
  await talk(restOf({ baseUrl, apiKey }), agentId, clips, rate);
}

async function talk(rest: Rest, agentId: string, clips: readonly Clip[], rateHz: number): Promise<void> {
  const call = await rest<{ callId: string; joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {
    medium: { serverWebSocket: { inputSampleRate: rateHz, dataMessages: { callEvent: true } } },
    recordingEnabled: true,
  });
  const conversation = new Conversation(console.log);
  const caller = await openCaller({
    joinUrl: call.joinUrl,
    sampleRateHz: rateHz,
    returns: true,
    onMessage: (message) => conversation.message(message),
  });
  await conversation.answered(0, ANSWER_LIMIT_MS);
  for (const clip of clips) {
    const before = conversation.answers;
    await caller.say(clip.samples);
    if (!(await conversation.answered(before, ANSWER_LIMIT_MS))) console.log("         (no answer)");
  }
  caller.hangUp();
  await caller.closed;
  await saveRecording(rest, call.callId);
  conversation.printSummary();
}

async function saveRecording(rest: Rest, callId: string): Promise<void> {
  const folder = resolve("demo-output");
  await mkdir(folder, { recursive: true });
  const file = resolve(folder, `${callId}.wav`);
  await writeFile(file, await rest.recording(callId));
  console.log(`\nRecording (left: caller, right: agent): ${file}`);
}

main().catch((error: unknown) => {
  // `fetch` says only that it failed; the reason is in the cause.
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  console.error(`${error instanceof Error ? error.message : String(error)}${cause}`);
  process.exitCode = 1;
});
