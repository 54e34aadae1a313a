/** Attacks the media side of a service of its own, protocol by protocol, while other calls of the same thread go on. */

import { readdir } from "node:fs/promises";
import type { StartLegThread } from "../../src/transports/rtc/leg-thread.ts";
import { CallsOfService } from "./calls-of-service.ts";
import { type CallersProcess, startCallers } from "./callers-process.ts";
import { collectThreadGarbage, startFuzzedLegThread } from "./fuzzed-leg-thread.ts";
import { collectGarbage } from "./garbage.ts";
import type { Attack, AttackFigures, FromCallers } from "./messages.ts";
import { type Memory, Oracle } from "./oracle.ts";
import { type Protocol, type Sender, SENDERS } from "./protocols.ts";

const WITNESSES = 3;
/** From one comparison of the frames to the next. */
const COUNT_INTERVAL_MS = 200;
/** What the witnesses must hear and be heard of after each attack: a second of sound. */
const FRAMES_AFTERWARDS = 50;
const AFTERWARDS_LIMIT_MS = 30_000;
const TALK_LIMIT_MS = 60_000;
const AFTER_FAULT_MS = 500;
const SHOW_LIMIT_MS = 5_000;
/** Of one protocol by one sender: an input takes some 0.1 ms, an offer some 3 ms. */
const ATTACK_LIMIT_MS = 30 * 60_000;

export interface MediaFuzzOptions {
  /** Of each protocol. */
  readonly inputs: number;
  readonly seed: number;
  readonly only: readonly Protocol[];
  readonly log: (line: string) => void;
  /** How many frames of a call may be on their way. */
  readonly maxLagFrames?: number;
  /** In tests of the oracle: threads with a fault. */
  readonly start?: StartLegThread;
  readonly attackBegun?: () => void;
}

/**
 * Ends at the first fault, whose inputs are then among the last ones.
 *
 * @returns what the service has not withstood
 */
export async function runMediaFuzz(options: MediaFuzzOptions): Promise<readonly string[]> {
  const oracle = new Oracle(options.maxLagFrames);
  const run = new MediaFuzz(options, oracle);
  try {
    const attacking = run.attackAll().catch((error: unknown) => {
      // After the first fault the processes are stopped in the middle of their work.
      if (oracle.faultCount === 0) oracle.fault(String(error));
    });
    await Promise.race([attacking, oracle.failed]);
    if (oracle.faultCount > 0) {
      // What the service says about the same fault comes after it.
      await new Promise((resolve) => setTimeout(resolve, AFTER_FAULT_MS));
      await run.showInputs();
    }
  } finally {
    await run.close();
  }
  for (const fault of oracle.faults) options.log(`  FAILED: ${fault}`);
  options.log(`${String(oracle.faultCount)} failed`);
  return oracle.faults;
}

class MediaFuzz {
  readonly #options: MediaFuzzOptions;
  readonly #oracle: Oracle;
  readonly #service: CallsOfService;
  readonly #processes: CallersProcess[] = [];
  #attackers: CallersProcess | null = null;
  /** Frames that the service had sent to each witness when it was asked for its counts. */
  #sentBefore = new Map<string, number>();
  #brokenHandshakes = 0;
  /** After the last attack, and so before the next one. */
  #memory: Memory | null = null;
  #counting: NodeJS.Timeout | null = null;

  constructor(options: MediaFuzzOptions, oracle: Oracle) {
    this.#options = options;
    this.#oracle = oracle;
    const { start = startFuzzedLegThread } = options;
    this.#service = new CallsOfService({ start, oracle, expected: () => (this.#brokenHandshakes += 1) });
  }

  async attackAll(): Promise<void> {
    const { only, inputs, log, seed } = this.#options;
    await this.#service.warm();
    const witnesses = await this.#startCallers();
    witnesses.send({ type: "talk", calls: WITNESSES });
    await witnesses.next("talking", TALK_LIMIT_MS);
    this.#counting = setInterval(() => this.#ask(witnesses), COUNT_INTERVAL_MS);
    const attackers = await this.#startCallers();
    this.#attackers = attackers;
    log(`${String(inputs)} inputs for each of ${only.join(", ")}; seed ${String(seed)}`);
    for (const protocol of only) {
      const senders = SENDERS[protocol];
      for (const [index, sender] of senders.entries()) {
        const share = Math.floor(inputs / senders.length) + (index < inputs % senders.length ? 1 : 0);
        await this.#attack(attackers, { protocol, sender, inputs: share, seed });
      }
    }
    if (this.#brokenHandshakes > 0)
      log(`lines about handshakes that their callers broke: ${String(this.#brokenHandshakes)}`);
  }

  async showInputs(): Promise<void> {
    if (this.#attackers === null) return;
    this.#attackers.send({ type: "show" });
    const shown = await this.#attackers.next("inputs", SHOW_LIMIT_MS).catch(() => null);
    this.#options.log("  the last inputs, the last one at the end:");
    for (const input of shown?.inputs ?? []) this.#options.log(`    ${input}`);
  }

  async close(): Promise<void> {
    if (this.#counting !== null) clearInterval(this.#counting);
    this.#service.finish();
    await Promise.all(this.#processes.map((callers) => callers.stop()));
    await this.#service.close();
  }

  async #startCallers(): Promise<CallersProcess> {
    const callers = await startCallers((message, from) => this.#take(message, from));
    this.#processes.push(callers);
    return callers;
  }

  async #attack(attackers: CallersProcess, attack: Attack): Promise<void> {
    const { protocol, sender } = attack;
    if (protocol === "dtls" && sender === "caller") this.#service.expectBrokenHandshakes();
    const before = this.#memory ?? (await this.#measuredMemory());
    const startedMs = performance.now();
    const done = attackers.next("done", ATTACK_LIMIT_MS);
    attackers.send({ type: "attack", attack });
    this.#options.attackBegun?.();
    const { figures } = await done;
    const seconds = (performance.now() - startedMs) / 1_000;
    await this.#talkAfterwards(attack);
    const after = await this.#measuredMemory();
    this.#memory = after;
    this.#oracle.judgeMemory(before, after);
    const lag = this.#oracle.takeLongestLag();
    this.#options.log(
      `${line(attack, figures, seconds, before, after)}; others at most ${String(lag)} frames late`,
    );
  }

  #take(message: FromCallers, from: CallersProcess): void {
    if (this.#service.take(message, (answer) => from.send(answer))) return;
    if (message.type === "counted") this.#judge(message);
    else if (message.type === "fault") this.#oracle.fault(message.detail);
  }

  /** A witness counts after this, so what it has received is never less than what it should. */
  #ask(witnesses: CallersProcess): void {
    this.#sentBefore = new Map([...this.#service.calls].map(([callId, { sent }]) => [callId, sent]));
    witnesses.send({ type: "count" });
  }

  #judge({ counts }: Extract<FromCallers, { readonly type: "counted" }>): void {
    for (const { callId, sent, received } of counts) {
      const call = this.#service.calls.get(callId);
      const sentByService = this.#sentBefore.get(callId);
      if (call === undefined || sentByService === undefined) continue;
      this.#oracle.judgeFrames({
        callId,
        sentByCaller: sent,
        heardByService: call.heard,
        sentByService,
        receivedByCaller: received,
      });
    }
  }

  /** A call that stands still is not late as long as nothing is sent: it must speak and hear. */
  async #talkAfterwards({ protocol, sender }: Attack): Promise<void> {
    const witnesses = [...this.#service.calls].filter(([, { purpose }]) => purpose === "witness");
    if (witnesses.length < WITNESSES) this.#oracle.fault(`calls were lost during ${protocol} of a ${sender}`);
    const wanted = witnesses.map(([, call]) => ({ call, frames: call.sent + FRAMES_AFTERWARDS }));
    const endMs = performance.now() + AFTERWARDS_LIMIT_MS;
    while (wanted.some(({ call, frames }) => call.sent < frames)) {
      if (performance.now() > endMs)
        throw new Error(`other calls stand still after ${protocol} of a ${sender}`);
      await new Promise((resolve) => setTimeout(resolve, COUNT_INTERVAL_MS));
    }
  }

  async #measuredMemory(): Promise<Memory> {
    await collectThreadGarbage();
    collectGarbage();
    const { heapBytes, externalBytes } = await this.#service.memoryUse();
    const residentBytes = process.memoryUsage.rss();
    return { heapBytes, externalBytes, residentBytes, descriptors: await openDescriptors() };
  }
}

/** Linux lists them; elsewhere they are not counted. */
async function openDescriptors(): Promise<number> {
  return process.platform === "linux" ? (await readdir("/proc/self/fd")).length : 0;
}

function line(
  { protocol, sender }: { readonly protocol: Protocol; readonly sender: Sender },
  { inputs, calls, ended }: AttackFigures,
  seconds: number,
  before: Memory,
  after: Memory,
): string {
  const mib = (bytes: number): string => (bytes / 1_024 ** 2).toFixed(0);
  const memory = (name: string, of: (memory: Memory) => number): string =>
    `${name} ${mib(of(before))} → ${mib(of(after))} MiB`;
  return [
    `${protocol} by a ${sender}: ${String(inputs)} inputs in ${seconds.toFixed(1)} s`,
    `${(inputs / seconds).toFixed(0)}/s`,
    `connections ${String(calls)}, ended ${String(ended)}`,
    memory("heap", ({ heapBytes }) => heapBytes),
    memory("buffers", ({ externalBytes }) => externalBytes),
    memory("process", ({ residentBytes }) => residentBytes),
    `descriptors ${String(before.descriptors)} → ${String(after.descriptors)}`,
  ].join("; ");
}
