/**
 * Marks of the benchmark's service: when loud sound after a silence reached voice activity detection, and when a voice
 * gave the first audio of a text. Times are of the wall clock.
 */

import type { TtsEngine, TtsPart, TtsRequest } from "../src/ports/tts.ts";
import { VAD_WINDOW_SAMPLES, type VadEngine } from "../src/ports/vad.ts";
import { wallMs } from "./webrtc-caller-protocol.ts";

export type Mark =
  /** A call was joined. `stream` counts from 0. */
  | { readonly type: "joined"; readonly stream: number }
  | { readonly type: "heard"; readonly stream: number; readonly atMs: number }
  | { readonly type: "voiced"; readonly text: string; readonly atMs: number };

const PREFIX = "MARK ";
const LOUD = 1_000;
/** Windows of 32 ms without a loud sample, after which the next loud one is a beginning. */
const QUIET_WINDOWS = 30;

function put(mark: Mark): void {
  process.stdout.write(`${PREFIX}${JSON.stringify(mark)}\n`);
}

/** Parses the mark of a line; null when it has none. */
export function markOf(line: string): Mark | null {
  return line.startsWith(PREFIX) ? (JSON.parse(line.slice(PREFIX.length)) as Mark) : null;
}

export function markedVad(engine: VadEngine): VadEngine {
  let streams = 0;
  return {
    name: engine.name,
    close: () => engine.close(),
    open: (listener) => {
      const inner = engine.open(listener);
      const stream = streams++;
      put({ type: "joined", stream });
      let quiet = QUIET_WINDOWS;
      return {
        close: () => inner.close(),
        push: (window) => {
          let loud = false;
          for (let i = 0; i < VAD_WINDOW_SAMPLES && !loud; i++) loud = Math.abs(window[i] ?? 0) > LOUD;
          if (loud && quiet >= QUIET_WINDOWS) put({ type: "heard", stream, atMs: wallMs() });
          quiet = loud ? 0 : quiet + 1;
          inner.push(window);
        },
      };
    },
  };
}

export function markedTts(engine: TtsEngine): TtsEngine {
  return { ...engine, synthesize: (request, signal) => marked(engine, request, signal) };
}

async function* marked(engine: TtsEngine, request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsPart> {
  let isFirst = true;
  for await (const part of engine.synthesize(request, signal)) {
    if (isFirst && part.type === "audio") {
      isFirst = false;
      put({ type: "voiced", text: request.text, atMs: wallMs() });
    }
    yield part;
  }
}
