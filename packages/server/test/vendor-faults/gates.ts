/**
 * Adapters whose work a test can wait for: the clock of a call stands still while one of them works, and moves while it
 * waits for a vendor that hangs.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { LlmEngine, LlmPart } from "../../src/ports/llm.ts";
import type { SttEngine } from "../../src/ports/stt.ts";
import { FAULTS } from "../../src/ports/testing/engine-faults.ts";
import type { TtsEngine, TtsPart } from "../../src/ports/tts.ts";
import type { VoiceProvider } from "../../src/ports/voice-provider.ts";

export const VENDOR_FAULTS = [...FAULTS, "slow"] as const;
export type VendorFault = (typeof VENDOR_FAULTS)[number];

/** Nothing has come from a hanging vendor for so long: it sent what it sends. */
const QUIET_MS = 150;
/** A machine under load may take this long for a message on its own network. */
const WORK_LIMIT_MS = 60_000;

/** What an adapter is doing at present. */
export class Gate {
  readonly #fault: VendorFault | null;
  /** A voice or a model has sent some of its answer in the middle; a recogniser has answered or not. */
  readonly #hasMiddle: boolean;
  #working = 0;
  #changedAtMs = 0;
  #parts = 0;

  constructor(fault: VendorFault | null, hasMiddle: boolean) {
    this.#fault = fault;
    this.#hasMiddle = hasMiddle;
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.began();
    try {
      return await work;
    } finally {
      this.ended();
    }
  }

  began(): void {
    this.#working += 1;
    this.#changedAtMs = performance.now();
  }

  ended(count = 1): void {
    this.#working -= count;
    this.#changedAtMs = performance.now();
  }

  part(): void {
    this.#parts += 1;
  }

  /** Whether any audio or text came. */
  get hasParts(): boolean {
    return this.#parts > 0;
  }

  /** Resolves when the adapter waits for nothing, or for a vendor that hangs. */
  async idle(): Promise<void> {
    const startMs = performance.now();
    while (this.#working > 0 && !this.#hangs()) {
      await nextTurn();
      if (performance.now() - startMs > WORK_LIMIT_MS) throw new Error("the adapter waits without an end");
    }
  }

  #hangs(): boolean {
    if (this.#fault?.startsWith("hang") !== true) return false;
    const isQuiet = performance.now() - this.#changedAtMs > QUIET_MS;
    const isInTheMiddle = this.#hasMiddle && this.#fault === "hang in the middle";
    return isQuiet && (!isInTheMiddle || this.#parts > 0);
  }
}

/** @param counts whether a part is some of the answer that the caller hears */
async function* gated<Part>(
  parts: AsyncIterable<Part>,
  { gate, pause }: Gating,
  counts: (part: Part) => boolean,
): AsyncGenerator<Part> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const result = await gate.during(iterator.next());
      if (result.done === true) return;
      if (counts(result.value)) gate.part();
      await pause();
      yield result.value;
    }
  } finally {
    await iterator.return?.();
  }
}

export interface Gating {
  readonly gate: Gate;
  /** What is waited on the clock of the call before each piece of an answer. */
  readonly pause: () => Promise<void>;
}

const isSound = (part: TtsPart): boolean => part.type === "audio" && part.samples.length > 0;
const isText = (part: LlmPart): boolean => part.type === "text-delta";

export function gatedLlm(engine: LlmEngine, gating: Gating): LlmEngine {
  return {
    ...engine,
    generate: (request, signal) => gated(engine.generate(request, signal), gating, isText),
  };
}

/** A request is work until it is answered, fails, or its utterance is over. */
export function gatedStt(engine: SttEngine, { gate, pause }: Gating): SttEngine {
  return {
    ...engine,
    open: (options, listener) => {
      const open = new Map<number, number>();
      const settle = (utteranceId: number, count = 1): void => {
        const left = open.get(utteranceId) ?? 0;
        gate.ended(Math.min(left, count));
        open.set(utteranceId, Math.max(0, left - count));
      };
      const stream = engine.open(options, {
        ...listener,
        partial: (utteranceId, text) => listener.partial(utteranceId, text),
        final: (utteranceId, ...answer) => {
          settle(utteranceId);
          void pause().then(() => listener.final(utteranceId, ...answer));
        },
        failed: (utteranceId, ...failure) => {
          settle(utteranceId);
          listener.failed(utteranceId, ...failure);
        },
        warned: (message) => listener.warned(message),
      });
      return {
        open: (id) => stream.open(id),
        push: (id, samples) => stream.push(id, samples),
        request: (id, revision) => {
          gate.began();
          open.set(id, (open.get(id) ?? 0) + 1);
          stream.request(id, revision);
        },
        abandon: (id) => {
          settle(id, Infinity);
          stream.abandon(id);
        },
        close: () => {
          for (const id of open.keys()) settle(id, Infinity);
          stream.close();
        },
      };
    },
  };
}

export function gatedTts(engine: TtsEngine, gating: Gating): TtsEngine {
  return {
    // Without its server, or the call would render the sentences for an outage.
    name: engine.name,
    voices: engine.voices,
    speaks: (language) => engine.speaks(language),
    close: () => engine.close(),
    synthesize: (request, signal) => gated(engine.synthesize(request, signal), gating, isSound),
  };
}

export function gatedProvider(provider: VoiceProvider, gating: Gating): VoiceProvider {
  return {
    ...provider,
    prepare: (use) => provider.prepare(use),
    synthesize: (speech, signal) => gated(provider.synthesize(speech, signal), gating, isSound),
  };
}
