/**
 * Fake voice activity detection by loudness alone, for tests and benchmarks of its callers: no model, no thread, and
 * with no delay every score comes within the same turn of the event loop.
 */

import { VAD_WINDOW_SAMPLES, type VadEngine, type VadListener, type VadStream } from "../vad.ts";

export interface FakeVadOptions {
  /** From a window to its score. Default 0: before the next task of the event loop. */
  readonly delayMs?: number;
  /** Default: 0.95 where the window's root mean square passes `FAKE_VAD_LOUD`, else 0.01. */
  readonly score?: (window: Int16Array) => number;
  /** The window with this index fails the stream. */
  readonly failsAt?: number;
}

/** Root mean square in units of s16: about -40 dB of full scale, above a quiet line and below any speech. */
export const FAKE_VAD_LOUD = 300;

export interface FakeVad extends VadEngine {
  /** Fails every open stream, as a lost worker does. */
  lose(): void;
}

function scoreLoudness(window: Int16Array): number {
  let sum = 0;
  for (const sample of window) sum += sample * sample;
  return Math.sqrt(sum / window.length) > FAKE_VAD_LOUD ? 0.95 : 0.01;
}

export function openFakeVad(options: FakeVadOptions = {}): FakeVad {
  const { delayMs = 0, score = scoreLoudness, failsAt = Infinity } = options;
  const open = new Map<VadStream, VadListener>();
  let isClosed = false;
  const later = (act: () => void): void => {
    if (delayMs > 0) setTimeout(act, delayMs);
    else queueMicrotask(act);
  };
  const fail = (stream: VadStream, reason: string): void => {
    queueMicrotask(() => {
      const listener = open.get(stream);
      open.delete(stream);
      listener?.failed(new Error(reason));
    });
  };
  const failAll = (reason: string): void => {
    for (const stream of open.keys()) fail(stream, reason);
  };
  return {
    name: "fake",
    open: (listener) => {
      let pushed = 0;
      const stream: VadStream = {
        push: (window) => {
          if (window.length !== VAD_WINDOW_SAMPLES) {
            throw new RangeError(`a window of ${String(window.length)} samples`);
          }
          const index = pushed++;
          const value = score(window);
          if (index === failsAt) fail(stream, "broken on purpose");
          else later(() => open.get(stream)?.scored(index, value));
        },
        close: () => {
          open.delete(stream);
        },
      };
      open.set(stream, listener);
      if (isClosed) fail(stream, "the fake is closed");
      return stream;
    },
    lose: () => {
      failAll("lost on purpose");
    },
    close: () => {
      isClosed = true;
      failAll("the fake was closed");
      return Promise.resolve();
    },
  };
}
