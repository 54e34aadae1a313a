/**
 * `npm run bench:webrtc`: the cost of WebRTC calls to the service, the delay of its event loops, the time that audio
 * takes inside it, and the time to connect. The callers are a separate process, and a real browser where one is
 * installed.
 */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { makeAgent, pause } from "./load.ts";
import { type Mark, markOf } from "./marks.ts";
import { milliseconds, percentile, publish } from "./report.ts";
import { type BenchService, startBenchService } from "./service.ts";
import { browserConnects } from "./webrtc-browser.ts";
import type { FromCallers, ToCallers } from "./webrtc-caller-protocol.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const CALLS = [1, 10, 30];
const TURN_EVERY_MS = 6_000;
/** Turns alternate between spoken and typed; a single call needs more of them for a figure. */
const TURNS = 6;
const TURNS_ALONE = 10;
const CONNECTS = 20;
const OPEN_LIMIT_MS = 20_000;
/** The service's share without a call is read over this time. */
const IDLE_MS = 4_000;
/** Two events further apart than this do not belong together. */
const LONGEST_DELAY_MS = 1_000;
const THREAD = /^THREAD (.*)$/;

interface ThreadFigures {
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** All messages of the service and of the callers. */
const marks: Mark[] = [];
const messages: FromCallers[] = [];
let threads: ThreadFigures[] = [];
const waiting = new Set<(message: FromCallers) => void>();

const service: BenchService = await startBenchService(
  DELAYS,
  { BENCH_MARKS: "1" },
  {
    nodeArguments: ["--import", fileURLToPath(new URL("./thread-loop.ts", import.meta.url))],
    onLine: (line) => {
      const mark = markOf(line);
      if (mark !== null) marks.push(mark);
      const thread = THREAD.exec(line)?.[1];
      if (thread !== undefined) threads.push(JSON.parse(thread) as ThreadFigures);
      return mark !== null || thread !== undefined;
    },
  },
);
const child = fork(fileURLToPath(new URL("./webrtc-callers.ts", import.meta.url)));
child.on("message", (message: FromCallers) => {
  if (message.type === "failed") console.error(`call ${String(message.call)}: ${message.detail}`);
  messages.push(message);
  for (const look of waiting) look(message);
});

function send(message: ToCallers): void {
  child.send(message);
}

/** The next message about this call of one of these types. */
function answer(call: number | null, ...types: FromCallers["type"][]): Promise<FromCallers> {
  return new Promise((resolve, reject) => {
    const look = (message: FromCallers): void => {
      if (!types.includes(message.type) || ("call" in message && message.call !== call)) return;
      waiting.delete(look);
      clearTimeout(late);
      resolve(message);
    };
    const late = setTimeout(() => {
      waiting.delete(look);
      reject(new Error(`no ${types.join(" or ")} of call ${String(call)}`));
    }, OPEN_LIMIT_MS);
    waiting.add(look);
  });
}

let calls = 0;
/** Number of the stream in the service, by call. */
const streams = new Map<number, number>();

/** Calls start in sequence, so that each stream in the service can be matched to its call. */
async function openCall(agentId: string): Promise<{ call: number; tookMs: number }> {
  const { joinUrl } = await service.rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
  const call = calls++;
  const opened = answer(call, "opened", "failed");
  const before = marks.length;
  send({ type: "open", call, joinUrl });
  const message = await opened;
  if (message.type !== "opened") throw new Error(`call ${String(call)} was not connected`);
  const deadline = performance.now() + OPEN_LIMIT_MS;
  let joined: Mark | undefined;
  while (joined === undefined && performance.now() < deadline) {
    await pause(10);
    joined = marks.slice(before).find(({ type }) => type === "joined");
  }
  if (joined?.type !== "joined") throw new Error(`call ${String(call)} was not joined`);
  streams.set(call, joined.stream);
  return { call, tookMs: message.connectedMs - message.offeredMs };
}

async function closeCall(call: number): Promise<void> {
  const closed = answer(call, "closed", "failed");
  send({ type: "close", call });
  await closed;
}

async function talk(call: number, index: number, of: number, turns: number): Promise<void> {
  await pause((TURN_EVERY_MS * index) / of);
  for (let turn = 0; turn < turns; turn += 1) {
    const startedMs = performance.now();
    if (turn % 2 === 0) send({ type: "say", call });
    else send({ type: "text", call, text: `Please repeat number ${String(call)} dash ${String(turn)} now.` });
    await pause(TURN_EVERY_MS - (performance.now() - startedMs));
  }
}

/** From a caller's packet to the window of voice activity detection that holds its sound. */
function inwardMs(mine: ReadonlySet<number>): number[] {
  return messages.flatMap((message) => {
    if (message.type !== "said" || !mine.has(message.call)) return [];
    const stream = streams.get(message.call);
    const heardMs = marks
      .filter((mark) => mark.type === "heard")
      .find((mark) => mark.stream === stream && mark.atMs > message.atMs - 1)?.atMs;
    const tookMs = (heardMs ?? Number.POSITIVE_INFINITY) - message.atMs;
    return tookMs < LONGEST_DELAY_MS ? [tookMs] : [];
  });
}

/** From the first audio of the voice to the packet that reached the caller. */
function outwardMs(mine: ReadonlySet<number>): number[] {
  return marks.flatMap((mark) => {
    if (mark.type !== "voiced") return [];
    const call = Number(/number (\d+) dash/.exec(mark.text)?.[1] ?? "-1");
    if (!mine.has(call)) return [];
    const packetMs = messages
      .filter((message) => message.type === "spokenTo")
      .find((message) => message.call === call && message.atMs > mark.atMs)?.atMs;
    const tookMs = (packetMs ?? Number.POSITIVE_INFINITY) - mark.atMs;
    return tookMs < LONGEST_DELAY_MS ? [tookMs] : [];
  });
}

async function load(agentId: string, count: number, idleShare: number): Promise<string> {
  const mine: number[] = [];
  for (let i = 0; i < count; i += 1) mine.push((await openCall(agentId)).call);
  await pause(1_500);
  service.takeFigures();
  threads = [];
  const turns = count === 1 ? TURNS_ALONE : TURNS;
  await Promise.all(mine.map((call, index) => talk(call, index, count, turns)));
  const figures = service.takeFigures();
  const inThreads = threads;
  await Promise.all(mine.map(closeCall));
  const cpu = percentile(
    figures.map(({ cpuShare }) => cpuShare),
    0.5,
  );
  const of = (values: readonly number[]): string =>
    `${milliseconds(percentile(values, 0.5))} / ${milliseconds(Math.max(...values))}`;
  const inward = inwardMs(new Set(mine));
  const outward = outwardMs(new Set(mine));
  const row =
    `| ${String(count)} | ${(cpu * 100).toFixed(0)} % | ${(((cpu - idleShare) / count) * 100).toFixed(1)} % | ` +
    `${of(figures.map(({ loopP99Ms }) => loopP99Ms))} | ${of(inThreads.map(({ p99Ms }) => p99Ms))} | ` +
    `${of(inward)} (${String(inward.length)}) | ${of(outward)} (${String(outward.length)}) |`;
  console.log(row);
  return row;
}

async function measure(): Promise<string> {
  await answer(null, "ready");
  const agentId = await makeAgent(service.rest, { medium: { webRtc: {} } });
  // The connections of the first second wait for what is loaded after the start.
  await pause(5_000);
  service.takeFigures();
  await pause(IDLE_MS);
  const idleShare = percentile(
    service.takeFigures().map(({ cpuShare }) => cpuShare),
    0.5,
  );
  const connects: number[] = [];
  for (let i = 0; i < CONNECTS; i += 1) {
    const { call, tookMs } = await openCall(agentId);
    connects.push(tookMs);
    await closeCall(call);
  }
  const browser = await browserConnects(service.rest, agentId, CONNECTS);
  const rows: string[] = [];
  for (const count of CALLS) rows.push(await load(agentId, count, idleShare));
  const connectRow = (who: string, values: readonly number[]): string =>
    `| ${who} | ${String(values.length)} | ${milliseconds(percentile(values, 0.5))} | ${milliseconds(Math.max(...values))} |`;
  return `| calls at once | CPU (of one core) | per call | event loop p99, ms | of the media thread, ms | audio in, ms | audio out, ms |
|---|---|---|---|---|---|---|
${rows.join("\n")}

| from the offer to the connection | connections | median, ms | slowest, ms |
|---|---|---|---|
${[connectRow("the callers of this benchmark", connects), ...(browser === null ? [] : [connectRow("Chromium", browser)])].join("\n")}`;
}

try {
  await publish("bench:webrtc", await measure());
} finally {
  child.disconnect();
  await service.stop();
}
