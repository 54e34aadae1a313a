/**
 * `npm run bench:providers`: what the adapters of vendors' voices add, each against the fake of its vendor in another
 * process. BENCH_TURNS is the number of sentences of each call, 20 unless set; the page with the figures changes only
 * with 20 and more.
 */

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../src/pacing/error-text.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { ADAPTERS, type BenchedAdapter, type BenchSpeaker } from "./adapters.ts";
import { type FromVendor, type VendorAddress, wallMs } from "./vendor-protocol.ts";

const WHOLE_TURNS = 20;
const TURNS = Number(process.env["BENCH_TURNS"] ?? WHOLE_TURNS);
const CALLS = [1, 50];
/** A sentence of 65 characters lasts 4 s, and a reply has some of them; the callers take turns with the agents. */
const TURN_EVERY_MS = 4_000;
/** Not counted: code is compiled. Before each round all calls speak once, which opens the sockets. */
const WARM_TURNS = 10;
/** Of one adapter: two rounds of turns, and three minutes for a slow machine. */
const ADAPTER_LIMIT_MS = CALLS.length * (TURNS + 2) * TURN_EVERY_MS + 180_000;

/** A message between processes takes less than a millisecond, but on a busy machine. */
const MARK_WAIT_MS = 200;

const AIMS = { share: 1, requestMs: 2, partMs: 10 };

interface Round {
  /** From the call of the adapter to the arrival of the text at the vendor. */
  readonly requestMs: number[];
  /** From the vendor's first audio to the first part. */
  readonly partMs: number[];
  audioMs: number;
  cpuMs: number;
  failed: number;
}

/** Times at the vendor, by text. */
interface Marks {
  readonly text: Map<string, number>;
  readonly audio: Map<string, number>;
}

const rows: string[] = [];
for (const adapter of ADAPTERS) rows.push(...(await measureAdapter(adapter)));

const table = `| adapter | calls at once | sentences | CPU, % of a core per call that speaks | text to request p50, ms | p99, ms | vendor's audio to part p50, ms | p99, ms | failed |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}`;
if (TURNS >= WHOLE_TURNS) await publish("bench:providers", table);
else console.log(`\n${table}\n`);

async function measureAdapter(adapter: BenchedAdapter): Promise<string[]> {
  const child = fork(fileURLToPath(new URL("./vendor-process.ts", import.meta.url)), [adapter.name]);
  const limit = setTimeout(() => {
    console.error(`bench:providers: ${adapter.name} did not end in time`);
    child.kill();
    process.exit(1);
  }, ADAPTER_LIMIT_MS);
  const marks: Marks = { text: new Map(), audio: new Map() };
  child.on("message", (message: FromVendor) => {
    if (message.type === "text" || message.type === "audio")
      marks[message.type].set(message.text, message.atMs);
  });
  const speaker = adapter.openSpeaker(await readyAddress(child));
  try {
    const lines: string[] = [];
    await round(speaker, marks, { name: "warm", calls: 1, turns: WARM_TURNS, everyMs: 0 });
    for (const calls of CALLS) {
      await round(speaker, marks, { name: `${String(calls)} open`, calls, turns: 1, everyMs: TURN_EVERY_MS });
      const measured = await round(speaker, marks, {
        name: String(calls),
        calls,
        turns: TURNS,
        everyMs: TURN_EVERY_MS,
      });
      lines.push(lineOf(adapter.name, calls, measured));
      console.log(lines.at(-1));
    }
    return lines;
  } finally {
    await speaker.close();
    await endVendor(child, adapter.name);
    clearTimeout(limit);
  }
}

async function readyAddress(child: ChildProcess): Promise<VendorAddress> {
  const [message] = (await once(child, "message")) as [FromVendor];
  if (message.type !== "ready") throw new Error("the fake vendor did not start");
  return message;
}

/** Throws where the adapter broke a rule of the vendor: its figures are worth nothing then. */
async function endVendor(child: ChildProcess, name: string): Promise<void> {
  const exited = once(child, "exit");
  const told = new Promise<readonly string[]>((resolve) => {
    child.on("message", (message: FromVendor) => {
      if (message.type === "problems") resolve(message.problems);
    });
  });
  child.send("end");
  const problems = await told;
  await exited;
  if (problems.length > 0) throw new Error(`the adapter of ${name} broke rules: ${problems.join("; ")}`);
}

interface RoundOptions {
  readonly name: string;
  readonly calls: number;
  readonly turns: number;
  readonly everyMs: number;
}

/** Calls begin one after the other, so that their sentences are spread over the time of a turn. */
async function round(speaker: BenchSpeaker, marks: Marks, options: RoundOptions): Promise<Round> {
  const { name, calls, turns, everyMs } = options;
  const measured: Round = { requestMs: [], partMs: [], audioMs: 0, cpuMs: 0, failed: 0 };
  const before = process.cpuUsage();
  const call = async (index: number): Promise<void> => {
    await pause((everyMs * index) / calls);
    for (let turn = 0; turn < turns; turn += 1) {
      const next = pause(everyMs);
      await speak(speaker, marks, measured, sentence(`${name} ${String(index)} ${String(turn)}`));
      await next;
    }
  };
  await Promise.all(Array.from({ length: calls }, (_, index) => call(index)));
  const { user, system } = process.cpuUsage(before);
  measured.cpuMs = (user + system) / 1_000;
  return measured;
}

/** Different for each turn, because texts tell the marks of the vendor apart. */
function sentence(turn: string): string {
  return `Your table for four is booked on Friday at seven, number ${turn}.`;
}

async function speak(speaker: BenchSpeaker, marks: Marks, measured: Round, text: string): Promise<void> {
  const askedAt = wallMs();
  let firstAt: number | null = null;
  try {
    for await (const part of speaker.synthesize(text)) {
      if (part.type !== "audio") continue;
      firstAt ??= wallMs();
      measured.audioMs += (part.samples.length * 1_000) / part.sampleRateHz;
    }
  } catch (error) {
    measured.failed += 1;
    console.error(messageOf(error));
    return;
  }
  // The marks come by another way than the audio, and later.
  await pause(MARK_WAIT_MS);
  const [textAt, audioAt] = [marks.text.get(text), marks.audio.get(text)];
  marks.text.delete(text);
  marks.audio.delete(text);
  if (textAt === undefined || audioAt === undefined || firstAt === null) measured.failed += 1;
  else {
    measured.requestMs.push(textAt - askedAt);
    measured.partMs.push(firstAt - audioAt);
  }
}

function lineOf(name: string, calls: number, { requestMs, partMs, audioMs, cpuMs, failed }: Round): string {
  const share = (100 * cpuMs) / audioMs;
  const cells = [
    name,
    String(calls),
    String(requestMs.length),
    withAim(share.toFixed(2), share, AIMS.share),
    milliseconds(percentile(requestMs, 0.5)),
    withAim(milliseconds(percentile(requestMs, 0.99)), percentile(requestMs, 0.99), AIMS.requestMs),
    milliseconds(percentile(partMs, 0.5)),
    withAim(milliseconds(percentile(partMs, 0.99)), percentile(partMs, 0.99), AIMS.partMs),
    String(failed),
  ];
  return `| ${cells.join(" | ")} |`;
}

function withAim(text: string, value: number, aim: number): string {
  return value <= aim ? text : `${text} (aim ${String(aim)})`;
}
