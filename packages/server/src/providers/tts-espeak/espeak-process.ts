/** Runs one espeak-ng process: starts it, watches it, restarts it, and kills it by its handle. */

import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Supervisor, type Run } from "../../threads/supervisor.ts";
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
  /** The word that begins `codePoints` into the piece starts `atMs` into the piece's audio. */
  word(pieceId: number, codePoints: number, atMs: number): void;
  audio(pieceId: number, samples: Int16Array): void;
  done(pieceId: number): void;
  refused(pieceId: number, reason: string): void;
  /** The process has ended, and its current piece with it. It is restarted after a pause; then `ready` is called. */
  lost(error: Error): void;
}

export interface EspeakLimits {
  /** Limit of loading, which takes 0.15 s on an idle machine. */
  readonly startTimeoutMs: number;
  /** Limit of one piece, which takes a cold process 0.4 s. A slower process counts as hanging. */
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

/** Limit of the stored stderr of the process, for the message that reports its end. */
const MAX_STDERR_CHARS = 500;
/**
 * Limit of the heap of the process (it uses 15 MB of it), so that a leak ends the process and does not affect the
 * machine.
 */
const MAX_HEAP_MB = 128;

const ESPEAK_PACKAGE = "@echogarden/espeak-ng-emscripten";

/** The process gets no environment, because the environment of the service contains keys. */
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
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
}

export class EspeakProcess {
  readonly #spawnChild: () => EspeakChild;
  readonly #limits: EspeakLimits;
  readonly #listener: EspeakListener;
  /** Includes killed processes until they have ended. */
  readonly #all = new Set<Running>();
  readonly #supervisor: Supervisor<Running, Error>;
  #closed = false;

  /** Starts at once; `ready` or `lost` follows. */
  constructor(spawnChild: () => EspeakChild, limits: EspeakLimits, listener: EspeakListener) {
    this.#spawnChild = spawnChild;
    this.#limits = limits;
    this.#listener = listener;
    const { restartDelayMs: firstMs, maxRestartDelayMs: longestMs, startTimeoutMs } = limits;
    this.#supervisor = new Supervisor<Running, Error>({
      policy: {
        restarts: Infinity,
        windowMs: 0,
        backoff: { firstMs, longestMs },
        afterFailedStart: true,
      },
      start: (run) => this.#start(run),
      startLimit: { ms: startTimeoutMs, reason: new Error("the espeak-ng process did not start") },
      discard: ({ child }) => void child.kill("SIGKILL"),
      ended: ({ reason }) => this.#listener.lost(reason),
    });
    this.#supervisor.start();
  }

  /** One piece at a time: the next one after `done`, `refused` or `ready`. */
  speak(pieceId: number, command: SpeakCommand): void {
    const running = this.#supervisor.ready;
    if (running === null) throw new Error("the espeak-ng process is not ready");
    this.#supervisor.limit({
      ms: this.#limits.pieceTimeoutMs,
      reason: new Error("the espeak-ng process does not respond"),
    });
    running.child.stdin.write(encodeText(FRAME_KINDS.speak, pieceId, JSON.stringify(command)));
  }

  /** Idempotent. No listener is called afterwards; resolves when every process has ended. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#supervisor.stop();
      for (const { child } of this.#all) child.stdin.end();
    }
    const kill = setTimeout(() => {
      for (const { child } of this.#all) child.kill("SIGKILL");
    }, this.#limits.closeGraceMs);
    await Promise.all(Array.from(this.#all, ({ gone }) => gone));
    clearTimeout(kill);
  }

  #start(run: Run<Error>): Running {
    const child = this.#spawnChild();
    const gone = new Promise<void>((resolve) => {
      child.once("close", () => {
        resolve();
      });
      child.once("error", () => {
        resolve();
      });
    });
    const running: Running = { child, gone };
    this.#all.add(running);
    void gone.then(() => this.#all.delete(running));
    const stderr = keepTail(child.stderr);
    const reader = createFrameReader();
    child.stdout.on("data", (bytes: Buffer) => {
      try {
        for (const frame of reader.push(bytes)) if (!run.isOver) this.#take(run, frame);
      } catch (error) {
        const what = "the espeak-ng process sent something that is not understood";
        run.lost(new Error(what, { cause: error }));
      }
    });
    // For a write to a process that has just ended; its exit event follows.
    child.stdin.on("error", () => undefined);
    child.once("error", (error) => {
      run.lost(new Error("the espeak-ng process cannot be started", { cause: error }));
    });
    child.once("close", (code, signal) => {
      run.lost(new Error(`the espeak-ng process ended (${String(code ?? signal)})${stderr()}`));
    });
    return running;
  }

  #take(run: Run<Error>, { kind, pieceId, payload }: Frame): void {
    switch (kind) {
      case FRAME_KINDS.fatal:
        run.lost(new Error(payload.toString("utf8")));
        break;
      case FRAME_KINDS.ready:
        run.ready();
        this.#listener.ready(JSON.parse(payload.toString("utf8")) as ReadyReport);
        break;
      case FRAME_KINDS.word:
        this.#listener.word(pieceId, payload.readUInt32LE(0), payload.readUInt32LE(4));
        break;
      case FRAME_KINDS.audio:
        // Copied out of the read buffer, also for alignment. Little-endian, like the machines that Node supports.
        this.#listener.audio(pieceId, new Int16Array(new Uint8Array(payload).buffer));
        break;
      case FRAME_KINDS.done:
        this.#supervisor.clearLimit();
        this.#supervisor.succeeded();
        this.#listener.done(pieceId);
        break;
      case FRAME_KINDS.refused:
        this.#supervisor.clearLimit();
        this.#listener.refused(pieceId, payload.toString("utf8"));
        break;
      default:
        throw new Error(`a frame of kind ${String(kind)} is not of this protocol`);
    }
  }
}

function keepTail(stream: Readable): () => string {
  let tail = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_STDERR_CHARS);
  });
  return () => (tail.trim() === "" ? "" : `: ${tail.trim().replaceAll(/\s+/g, " ")}`);
}
