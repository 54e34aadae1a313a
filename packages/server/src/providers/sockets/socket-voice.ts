/** What the adapters of voices over websockets are opened with. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { AudioOutput } from "../../ports/voice-provider.ts";
import type { AudioFormat } from "./audio-frames.ts";
import type { Exchange, SocketPoolOptions } from "./socket-pool.ts";

/** Limits that tests set; each has a default. */
export type SocketVoiceLimits = Partial<
  Pick<SocketPoolOptions, "handshakeLimitMs" | "settleLimitMs" | "waitLimitMs" | "timers">
> & {
  /** Silence of the vendor before or within a text. */
  readonly silenceLimitMs?: number;
};

export interface SocketVoiceOptions {
  /** Null: the vendor's own. `http://` means a plain websocket. */
  readonly baseUrl: string | null;
  readonly log: (message: string) => void;
  readonly limits?: SocketVoiceLimits;
}

/**
 * Silence of a vendor within a request: before the first audio, or between two pieces of it. A call stops waiting for a
 * sentence earlier by its own timer; this limit frees the place on the socket.
 */
export const SILENCE_LIMIT_MS = 10_000;

/** What is asked of a vendor that gives every rate between two: the rate of the output, or G.711 at its 8 kHz. */
export function formatWithin(output: AudioOutput, lowestHz: number, highestHz: number): AudioFormat {
  if (output.encoding === "mulaw") return { encoding: "mulaw", sampleRateHz: 8_000 };
  const sampleRateHz = Math.max(lowestHz, Math.min(output.sampleRateHz, highestHz));
  return { encoding: "pcm_s16le", sampleRateHz };
}

/**
 * After a silence that was too long, no new request uses the socket: the connection may be dead without a sign of it,
 * and the next sentence must not wait as long again.
 */
export function withoutSilentSockets<Message, Part>(
  exchange: Exchange<Message, Part>,
): Exchange<Message, Part> {
  let silence: EngineFailure | null = null;
  return {
    async *run(request) {
      silence = null;
      try {
        yield* exchange.run(request);
      } catch (error) {
        if (error instanceof EngineFailure && error.type === "timeout") silence = error;
        throw error;
      }
    },
    async settle(request, isComplete) {
      if (silence !== null) throw silence;
      await exchange.settle?.(request, isComplete);
    },
  };
}
