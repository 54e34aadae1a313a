/** Keeps one espeak-ng process running: starts it, watches it, starts it again, and kills it by its handle. */

import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  createFrameReader,
  encodeText,
  FRAME_KINDS,
  type Frame,
  type ReadyReport,
  type SpeakCommand,
} from "./frames.ts";

export type EspeakChild = ChildProcessByStdio<Writable, Readable, Readable>;

export interface EspeakListener {
  ready(report: ReadyReport): void;
  /** The word `codePoints` into the piece starts sounding `atMs` into the piece's audio. */
  word(pieceId: number, codePoints: number, atMs: number): void;
  audio(pieceId: number, samples: Int16Array): void;
  done(pieceId: number): void;
  refused(pieceId: number, reason: string): void;
  /** The process is gone, with whatever it was speaking. It is started again after a pause; `ready` says when. */
  lost(error: Error): void;
}

export interface EspeakLimits {
  /** Bounds loading, 0.15 s when the machine is idle. */
  readonly startTimeoutMs: number;
  /** Bounds one piece, 0.4 s for a cold process: beyond it the process hangs. */
  readonly pieceTimeoutMs: number;
  /** Pause before the first restart; doubled after each process that spoke nothing. */
  readonly restartDelayMs: number;
  readonly maxRestartDelayMs: number;
  /** Wait for a process to end by itself at the close, before it is killed. */
  readonly closeGraceMs: number;
}

export const ESPEAK_LIMITS: EspeakLimits = {
  startTimeoutMs: 15_000,
  pieceTimeoutMs: 5_000,
  restartDelayMs: 100,
  maxRestartDelayMs: 10_000,
  closeGraceMs: 500,
};

/** Bounds what is kept of the process's stderr, for the line that reports its death. */
const MAX_STDERR_CHARS = 500;
/** Bounds the heap of the process (it uses 15 MB of it), so that a leak ends it and not the machine. */
const MAX_HEAP_MB = 128;

const ESPEAK_PACKAGE = "@echogarden/espeak-ng-emscripten";

/** The process gets no environment: there are keys in ours. */
export function spawnEspeak(packageName: string = ESPEAK_PACKAGE): EspeakChild {
  const program = fileURLToPath(new URL("./espeak-child.ts", import.meta.url));
  const flags = [`--max-old-space-size=${String(MAX_HEAP_MB)}`, "--disable-warning=ExperimentalWarning"];
  return spawn(process.execPath, [...flags, program, packageName], {
    stdio: ["pipe", "pipe", "pipe"],
    env: {},
    windowsHide: true,
  });
}

interface Running {
  readonly child: EspeakChild;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  ready: boolean;
}

export class EspeakProcess {
  readonly #spawnChild: () => EspeakChild;
  readonly #limits: EspeakLimits;
  readonly #listener: EspeakListener;
  /** Killed ones included, until they are gone. */
  readonly #all = new Set<Running>();
  #running: Running | null = null;
  /** Processes in a row that spoke nothing. */
  #failures = 0;
  #closed = false;
  #restart: NodeJS.Timeout | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  /** Starts at once; `ready` or `lost` follows. */
  constructor(spawnChild: () => EspeakChild, limits: EspeakLimits, listener: EspeakListener) {
    this.#spawnChild = spawnChild;
    this.#limits = limits;
    this.#listener = listener;
    this.#start();
  }

  /** One piece at a time: the next one after `done`, `refused` or `ready`. */
  speak(pieceId: number, command: SpeakCommand): void {
    if (this.#running?.ready !== true) throw new Error("the espeak-ng process is not ready");
    this.#watch(this.#limits.pieceTimeoutMs, "hangs");
    this.#running.child.stdin.write(encodeText(FRAME_KINDS.speak, pieceId, JSON.stringify(command)));
  }

  /** Idempotent. No listener call follows; resolves when every process is gone. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      clearTimeout(this.#restart);
      clearTimeout(this.#watchdog);
      this.#running = null;
      for (const { child } of this.#all) child.stdin.end();
    }
    const kill = setTimeout(() => {
      for (const { child } of this.#all) child.kill("SIGKILL");
    }, this.#limits.closeGraceMs);
    await Promise.all(Array.from(this.#all, ({ gone }) => gone));
    clearTimeout(kill);
  }

  #start(): void {
    const child = this.#spawnChild();
    const gone = new Promise<void>((resolve) => {
      child.once("close", () => {
        resolve();
      });
      child.once("error", () => {
        resolve();
      });
    });
    const mine: Running = { child, gone, ready: false };
    this.#running = mine;
    this.#all.add(mine);
    void gone.then(() => this.#all.delete(mine));
    this.#watch(this.#limits.startTimeoutMs, "did not start");
    const stderr = keepTail(child.stderr);
    const reader = createFrameReader();
    child.stdout.on("data", (bytes: Buffer) => {
      try {
        for (const frame of reader.push(bytes)) if (this.#running === mine) this.#take(mine, frame);
      } catch (error) {
        const what = "the espeak-ng process sent something that is not understood";
        this.#lose(mine, new Error(what, { cause: error }));
      }
    });
    // A write to a process that has just died; its exit follows.
    child.stdin.on("error", () => undefined);
    child.once("error", (error) => {
      this.#lose(mine, new Error("the espeak-ng process cannot be started", { cause: error }));
    });
    child.once("close", (code, signal) => {
      this.#lose(mine, new Error(`the espeak-ng process ended (${String(code ?? signal)})${stderr()}`));
    });
  }

  #take(mine: Running, { kind, pieceId, payload }: Frame): void {
    switch (kind) {
      case FRAME_KINDS.fatal:
        this.#lose(mine, new Error(payload.toString("utf8")));
        break;
      case FRAME_KINDS.ready:
        clearTimeout(this.#watchdog);
        mine.ready = true;
        this.#listener.ready(JSON.parse(payload.toString("utf8")) as ReadyReport);
        break;
      case FRAME_KINDS.word:
        this.#listener.word(pieceId, payload.readUInt32LE(0), payload.readUInt32LE(4));
        break;
      case FRAME_KINDS.audio:
        // Copied out of the read buffer, for alignment too. Little-endian, as the machines that Node supports are.
        this.#listener.audio(pieceId, new Int16Array(new Uint8Array(payload).buffer));
        break;
      case FRAME_KINDS.done:
        clearTimeout(this.#watchdog);
        this.#failures = 0;
        this.#listener.done(pieceId);
        break;
      case FRAME_KINDS.refused:
        clearTimeout(this.#watchdog);
        this.#listener.refused(pieceId, payload.toString("utf8"));
        break;
      default:
        throw new Error(`a frame of kind ${String(kind)} is not of this protocol`);
    }
  }

  #lose(mine: Running, error: Error): void {
    if (this.#running !== mine) return;
    this.#running = null;
    clearTimeout(this.#watchdog);
    mine.child.kill("SIGKILL");
    const { restartDelayMs, maxRestartDelayMs } = this.#limits;
    this.#restart = setTimeout(
      () => {
        this.#start();
      },
      Math.min(restartDelayMs * 2 ** this.#failures, maxRestartDelayMs),
    );
    this.#failures += 1;
    this.#listener.lost(error);
  }

  #watch(limitMs: number, what: string): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      if (this.#running !== null) this.#lose(this.#running, new Error(`the espeak-ng process ${what}`));
    }, limitMs);
  }
}

function keepTail(stream: Readable): () => string {
  let tail = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_STDERR_CHARS);
  });
  return () => (tail.trim() === "" ? "" : `: ${tail.trim().replaceAll(/\s+/g, " ")}`);
}
