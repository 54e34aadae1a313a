/**
 * `npm run first-hour`: measures the rows of docs/first-hour.md from a fresh clone of this repository, on loopback
 * addresses only. `--install` runs `npm ci` in the clone, which needs the package registry; otherwise the packages of this
 * checkout are used. The model of the user is a scripted server with the OpenAI protocol.
 */

import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openModelServer } from "../src/ports/testing/model-server.ts";
import { openCaller } from "./caller.ts";
import { restOf, startChildService, type ChildService, type Rest } from "./child-service.ts";
import { readClip } from "./clips.ts";
import { Conversation } from "./conversation.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SAMPLE_RATE_HZ = 16_000;
/** Real time of the recorded words is about 3 s; a busy machine may need longer for the answer. */
const ANSWER_LIMIT_MS = 60_000;
/** The name that the scripted server lists, and what it answers. */
const OWN_MODEL = "m";
const OWN_ANSWER = "Yes.";
const GREETING = "Good evening. What can I do for you?";
/** The recording goes on for this time after its last word. */
const SILENT_END_MS = 550;
/** Words of the greeting. */
const SEARCHED = "good evening";
/** The words of a call are added some seconds after its end. */
const FOUND_LIMIT_MS = 120_000;

interface Row {
  readonly step: string;
  /** Null: not measured; the note says why. */
  readonly ms: number | null;
  readonly note: string;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "parley-first-hour-"));
  try {
    const rows = await measure(join(folder, "parley"), process.argv.includes("--install"));
    print(rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(clone: string, install: boolean): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const add = (step: string, ms: number | null, note = ""): void => {
    rows.push({ step, ms, note });
    console.error(`${step}: ${ms === null ? note : seconds(ms)}`);
  };
  add(
    "`git clone` of a local repository",
    await timed(() => run("git", ["clone", "-q", "--no-local", ROOT, clone])),
  );
  if (install) add("`npm ci`", await timed(() => run("npm", ["ci"], { cwd: clone })));
  else {
    await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
    add("`npm ci`", null, "not run: needs the package registry (`--install`)");
  }
  const program = join(clone, "packages/server/src/main.ts");
  const dataDir = join(clone, "data");
  await withService({ program, dataDir }, async (service) => {
    add("`npm start` until `/readyz` answers, with a new database", service.readyMs);
    const call = await firstCall(restOf(service));
    add("First agent created, called, and its greeting heard", call.greetedMs);
    add("First answer to speech heard", call.answeredMs);
  });
  const model = await openModelServer();
  const env = { LLM_BASE_URL: model.baseUrl, LLM_MODEL: OWN_MODEL };
  try {
    await withService({ program, dataDir, env }, async (service) => {
      add("Restart with `LLM_BASE_URL` and `LLM_MODEL`", service.readyMs);
      const call = await firstCall(restOf(service));
      if (!call.answer.includes(OWN_ANSWER)) throw new Error(`The answer is not the model's: ${call.answer}`);
      add("First answer of your own model heard", call.answeredMs);
      add("First call found by its words, after its end", await foundMs(restOf(service), call.callId));
    });
  } finally {
    await model.close();
  }
  return rows;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const fromMs = performance.now();
  await work();
  return performance.now() - fromMs;
}

interface Started {
  readonly program: string;
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function withService(options: Started, work: (service: ChildService) => Promise<void>): Promise<void> {
  const service = await startChildService(options);
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

interface FirstCall {
  readonly callId: string;
  /** From the request that creates the agent to the first sound of its greeting. */
  readonly greetedMs: number;
  /** From the end of the spoken words to the first sound of the answer. */
  readonly answeredMs: number;
  readonly answer: string;
}

async function firstCall(rest: Rest): Promise<FirstCall> {
  const fromMs = performance.now();
  const { agentId } = await rest<{ agentId: string }>("POST", "/api/agents", {
    callTemplate: {
      systemPrompt: "You are the concierge of a small hotel. Answer in one short sentence.",
      medium: { serverWebSocket: { inputSampleRate: SAMPLE_RATE_HZ, dataMessages: { callEvent: true } } },
      firstSpeakerSettings: { agent: { text: GREETING } },
    },
  });
  const { callId, joinUrl } = await rest<{ callId: string; joinUrl: string }>(
    "POST",
    `/api/agents/${agentId}/calls`,
    {},
  );
  const talk = new Conversation(() => undefined);
  let answer = "";
  const sound: { atMs: number | null } = { atMs: null };
  const caller = await openCaller({
    joinUrl,
    sampleRateHz: SAMPLE_RATE_HZ,
    onMessage: (message) => {
      if (message.type === "transcript" && message["role"] === "agent" && message["final"] === true)
        answer = String(message["text"]);
      talk.message(message);
    },
    onAudio: (frame, atMs) => {
      if (sound.atMs === null && isSound(frame)) sound.atMs = atMs;
    },
  });
  const heard = async (what: string): Promise<number> => {
    const endMs = performance.now() + ANSWER_LIMIT_MS;
    while (sound.atMs === null) {
      if (performance.now() > endMs) throw new Error(`There is no ${what}.`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return sound.atMs;
  };
  try {
    const greetedMs = (await heard("greeting")) - fromMs;
    if (!(await talk.answered(0, ANSWER_LIMIT_MS))) throw new Error("The greeting does not end.");
    sound.atMs = null;
    const clip = await readClip(
      fileURLToPath(new URL("../../../fixtures/speech/goforward.wav", import.meta.url)),
    );
    await caller.say(clip.samples);
    const saidMs = performance.now();
    const answeredMs = (await heard("answer")) - saidMs + SILENT_END_MS;
    if (!(await talk.answered(1, ANSWER_LIMIT_MS))) throw new Error("The answer does not end.");
    return { callId, greetedMs, answeredMs, answer };
  } finally {
    caller.hangUp();
    await caller.closed;
  }
}

/** Until a search of the words of the greeting finds the call. */
async function foundMs(rest: Rest, callId: string): Promise<number> {
  const fromMs = performance.now();
  for (;;) {
    const { results } = await rest<{ results: { callId: string }[] }>(
      "GET",
      `/api/calls?transcriptSearch=${encodeURIComponent(SEARCHED)}`,
    );
    const ms = performance.now() - fromMs;
    if (results.some((call) => call.callId === callId)) return ms;
    if (ms > FOUND_LIMIT_MS) throw new Error("The call is not found by its words.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Silence is exactly zero. */
function isSound(frame: Buffer): boolean {
  return frame.some((byte) => byte !== 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 1000 ? 2 : 1)} s`;
}

function print(rows: readonly Row[]): void {
  const processor = cpus();
  console.log(
    `\n${String(processor.length)} × ${processor[0]?.model ?? "unknown"}, Node ${process.version}\n`,
  );
  console.log("| Step | Time |\n| --- | --- |");
  for (const { step, ms, note } of rows) console.log(`| ${step} | ${ms === null ? note : seconds(ms)} |`);
}

await main();
