/**
 * The program of the espeak-ng process: speaks what `frames.ts` describes on stdin and stdout. It is a program of its
 * own because espeak-ng is under the GPL; the service never loads it. Argument: the package to load.
 *
 * It ends when stdin ends, so it never outlives the service, whatever the service died of.
 */

import { createFrameReader, encodeFrame, encodeText, FRAME_KINDS, type Frame } from "./frames.ts";

/** The used part of @echogarden/espeak-ng-emscripten, which has no types. */
interface EspeakModule {
  readonly eSpeakNGWorker: new () => EspeakWorker;
}

interface EspeakWorker {
  readonly samplerate: number;
  rate: number;
  /** 0 when the voice exists. */
  set_voice(name: string, language: string, gender: number, age: number, variant: number): number;
  list_voices(): { identifier: string; languages: { name: string; priority: number }[] }[];
  /** Synchronous. The callback returns true to stop. */
  synthesize(text: string, callback: (samples: Int16Array, events: EspeakEvent[]) => boolean): void;
}

interface EspeakEvent {
  readonly type: string;
  /** In code points, from 1. */
  readonly text_position: number;
  /** In ms. */
  readonly audio_position: number;
}

/**
 * Text that is synthesized without use after the start, between requests: WebAssembly becomes 40 times faster once it
 * is optimised (400 ms for a sentence of 12 words at first, 50 ms at the eighth, 6 ms at the twentieth). Short, so that
 * a request does not wait long for it.
 */
const WARM_UP_TEXT = "At seven?";
const WARM_UP_ROUNDS = 60;
/** Pause between two rounds, so that requests can run. */
const WARM_UP_PAUSE_MS = 5;

const packageName = process.argv[2] ?? "";
// A terminal sends its signals to the whole group; the service decides when this process ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

function send(frame: Buffer): void {
  process.stdout.write(frame);
}

function fatal(message: string): void {
  process.stdout.write(encodeText(FRAME_KINDS.fatal, 0, message), () => process.exit(1));
}

async function load(): Promise<EspeakWorker> {
  const loaded = (await import(packageName)) as { default: (options: object) => Promise<EspeakModule> };
  const quiet = { print: () => undefined, printErr: () => undefined };
  const module = await loaded.default(quiet);
  return new module.eSpeakNGWorker();
}

function speak(worker: EspeakWorker, { pieceId, payload }: Frame): void {
  const { voice, wordsPerMinute, text } = JSON.parse(payload.toString("utf8")) as {
    voice: string;
    wordsPerMinute: number;
    text: string;
  };
  if (worker.set_voice(voice, "", 0, 0, 0) !== 0) {
    send(encodeText(FRAME_KINDS.refused, pieceId, `espeak-ng has no voice ${voice}`));
    return;
  }
  worker.rate = wordsPerMinute;
  worker.synthesize(text, (samples, events) => {
    for (const event of events) {
      if (event.type !== "word") continue;
      const word = Buffer.allocUnsafe(8);
      word.writeUInt32LE(Math.max(event.text_position - 1, 0), 0);
      word.writeUInt32LE(Math.max(event.audio_position, 0), 4);
      send(encodeFrame(FRAME_KINDS.word, pieceId, word));
    }
    if (samples.length > 0)
      send(
        encodeFrame(
          FRAME_KINDS.audio,
          pieceId,
          new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength),
        ),
      );
    return false;
  });
  send(encodeFrame(FRAME_KINDS.done, pieceId, new Uint8Array(0)));
}

function warmUp(worker: EspeakWorker, round: number): void {
  if (round >= WARM_UP_ROUNDS) return;
  worker.synthesize(WARM_UP_TEXT, () => false);
  setTimeout(warmUp, WARM_UP_PAUSE_MS, worker, round + 1);
}

function serve(worker: EspeakWorker): void {
  const voices = worker.list_voices().map(({ identifier, languages }) => ({
    identifier,
    languages: languages.map(({ name, priority }) => ({ name: name.toLowerCase(), priority })),
  }));
  send(encodeText(FRAME_KINDS.ready, 0, JSON.stringify({ sampleRateHz: worker.samplerate, voices })));
  const reader = createFrameReader();
  process.stdin.on("data", (bytes: Buffer) => {
    for (const frame of reader.push(bytes)) if (frame.kind === FRAME_KINDS.speak) speak(worker, frame);
  });
  setTimeout(warmUp, WARM_UP_PAUSE_MS, worker, 0);
}

process.stdin.on("end", () => process.exit(0));
process.stdin.on("error", () => process.exit(0));
process.stdout.on("error", () => process.exit(0));
load().then(serve, (error: unknown) => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const missing = code === "ERR_MODULE_NOT_FOUND";
  fatal(
    missing
      ? `the package ${packageName} is not installed`
      : `espeak-ng cannot be loaded (${code || String(error)})`,
  );
});
