/**
 * `npm run bench:providers`: what the adapters of vendors' voices add, each against the fake of its vendor in another
 * process. BENCH_SENTENCES is the number of sentences of each row, 200 unless set; the page with the figures changes
 * only with 200 and more.
 */

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../src/pacing/error-text.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { ADAPTERS, type BenchedAdapter, type BenchSpeaker } from "./adapters.ts";
import { VendorMarks } from "./vendor-marks.ts";
import { type FromVendor, sharedNowMs, type VendorAddress } from "./vendor-protocol.ts";

/** The 99th percentile of fewer would be one of the two longest times. */
const WHOLE_SENTENCES = 200;
const SENTENCES = Number(process.env["BENCH_SENTENCES"] ?? WHOLE_SENTENCES);
/**
 * A sentence of 65 characters lasts 4 s, and so 50 calls begin one every 80 ms. A single call does not wait until its
 * audio is over: 200 sentences of each vendor would take 13 minutes.
 */
const ROUNDS = [
  { calls: 1, everyMs: 60 },
  { calls: 50, everyMs: 4_000 },
] as const;
/** Not counted: code is compiled. Before each round all calls speak once, which opens the sockets. */
const WARM_SENTENCES = 100;
const OPEN_EVERY_MS = 2_000;
/** Of one adapter: both rounds with twice their time, and three minutes for a slow machine. */
const ADAPTER_LIMIT_MS = 180_000 + SENTENCES * 300;

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

const rows: string[] = [];
for (const adapter of ADAPTERS) rows.push(...(await measureAdapter(adapter)));

const table = `| adapter | calls at once | sentences | CPU, % of a core per call that speaks | text to request p50, ms | p99, ms | vendor's audio to part p50, ms | p99, ms | failed |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}`;
if (SENTENCES >= WHOLE_SENTENCES) await publish("bench:providers", table);
else console.log(`\n${table}\n`);

async function measureAdapter(adapter: BenchedAdapter): Promise<string[]> {
  const child = fork(fileURLToPath(new URL("./vendor-process.ts", import.meta.url)), [adapter.name]);
  const limit = setTimeout(() => {
    console.error(`bench:providers: ${adapter.name} did not end in time`);
    child.kill();
    process.exit(1);
  }, ADAPTER_LIMIT_MS);
  const marks = new VendorMarks();
  child.on("message", (message: FromVendor) => {
    marks.take(message);
  });
  const speaker = adapter.openSpeaker(await readyAddress(child));
  try {
    const lines: string[] = [];
    await round(speaker, marks, { name: "warm", calls: 1, turns: WARM_SENTENCES, everyMs: 0 });
    for (const { calls, everyMs } of ROUNDS) {
      const name = String(calls);
      await round(speaker, marks, { name: `${name} open`, calls, turns: 1, everyMs: OPEN_EVERY_MS });
      const turns = Math.ceil(SENTENCES / calls);
      const measured = await round(speaker, marks, { name, calls, turns, everyMs });
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
async function round(speaker: BenchSpeaker, marks: VendorMarks, options: RoundOptions): Promise<Round> {
  const { name, calls, turns, everyMs } = options;
  const measured: Round = { requestMs: [], partMs: [], audioMs: 0, cpuMs: 0, failed: 0 };
  const before = process.cpuUsage();
  const call = async (index: number): Promise<void> => {
    await pause((everyMs * index) / calls);
    for (let turn = 0; turn < turns; turn += 1) {
      const next = turn === turns - 1 ? null : pause(everyMs);
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

async function speak(
  speaker: BenchSpeaker,
  vendor: VendorMarks,
  measured: Round,
  text: string,
): Promise<void> {
  const askedAtMs = sharedNowMs();
  let firstAtMs: number | null = null;
  try {
    for await (const part of speaker.synthesize(text)) {
      if (part.type !== "audio") continue;
      firstAtMs ??= sharedNowMs();
      measured.audioMs += (part.samples.length * 1_000) / part.sampleRateHz;
    }
  } catch (error) {
    measured.failed += 1;
    console.error(messageOf(error));
    return;
  }
  const marks = await vendor.of(text);
  if (marks === null || firstAtMs === null) measured.failed += 1;
  else {
    measured.requestMs.push(marks.textAtMs - askedAtMs);
    measured.partMs.push(firstAtMs - marks.audioAtMs);
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
