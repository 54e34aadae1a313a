/**
 * Calls on a manual clock whose first voice or recogniser is a real adapter that speaks with the fake of its vendor over
 * the loopback network. The clock stands still while the adapter works, so a slow machine changes nothing; it moves
 * while the vendor hangs.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { createVoices } from "../../src/app/voices/call-voices.ts";
import { createVoiceHealth } from "../../src/app/voices/voice-health.ts";
import { createVoiceKeys } from "../../src/app/voices/voice-keys.ts";
import type { ExternalVoiceSettings, PlannedExternalVoice } from "../../src/plan/voice-plan.ts";
import { openFakeToolInvoker } from "../../src/ports/testing/fake-tool-invoker.ts";
import { openFakeVoices } from "../../src/ports/testing/fake-voices.ts";
import type { SttEngine } from "../../src/ports/stt.ts";
import type { TtsEngine, TtsPart } from "../../src/ports/tts.ts";
import type { VoiceProvider } from "../../src/ports/voice-provider.ts";
import { ListedEngine } from "../../src/providers/engine-chain/listed-engine.ts";
import { ANSWER_LIMIT_MS, openSttChain } from "../../src/providers/engine-chain/stt-chain.ts";
import { FIRST_AUDIO_LIMIT_MS, openTtsChain } from "../../src/providers/engine-chain/tts-chain.ts";
import { FAULTS } from "../../src/ports/testing/engine-faults.ts";
import { openCallWorld } from "../../src/runner/testing/call-world.ts";
import { openLateClock } from "../../src/runner/testing/late-clock.ts";
import { openFakeEngines } from "../../src/runner/testing/fakes.ts";
import { openMemoryRecordings } from "../../src/runner/testing/memory-recordings.ts";
import { noStages } from "../../src/runner/testing/no-stages.ts";

export const VENDOR_FAULTS = [...FAULTS, "slow"] as const;
export type VendorFault = (typeof VENDOR_FAULTS)[number];

export const GREETING = "Welcome, how can I help you today?";
/** The caller may hear silence for so long after the failure of an engine. */
export const SILENCE_LIMIT_MS = 1_000;
/** What a slow vendor waits before each piece of its answer. */
const SLOW_MS = 250;
const FRAME_MS = 20;
/** Nothing has come from a hanging vendor for so long: it sent what it sends. */
const QUIET_MS = 150;
/** A machine under load may take this long for a message on its own network. */
const WORK_LIMIT_MS = 60_000;
const LOUD = 300;

/** The voice that the test is about: one of a vendor, or the deployment's engine. */
export type FaultyVoice =
  | {
      readonly kind: "external";
      readonly provider: VoiceProvider;
      readonly settings: ExternalVoiceSettings;
      /** The key that the account has stored. */
      readonly key: string;
    }
  | { readonly kind: "deployment"; readonly engine: TtsEngine };

/** What an adapter is doing at present. */
class Gate {
  readonly #fault: VendorFault | null;
  /** A voice has sent some of its answer in the middle; a recogniser has answered or not. */
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

  /** Whether any audio came. */
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

async function* gated(
  parts: AsyncIterable<TtsPart>,
  gate: Gate,
  pause: () => Promise<void>,
): AsyncGenerator<TtsPart> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const result = await gate.during(iterator.next());
      if (result.done === true) return;
      if (result.value.type === "audio" && result.value.samples.length > 0) gate.part();
      await pause();
      yield result.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** A request is work until it is answered, fails, or its utterance is over. */
function gatedStt(engine: SttEngine, gate: Gate, pause: () => Promise<void>): SttEngine {
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

export interface FaultyCallOptions {
  readonly fault: VendorFault | null;
  /** Null: the fake that always works. */
  readonly voice: FaultyVoice | null;
  readonly recogniser: SttEngine | null;
}

interface Failure {
  readonly engine: string;
  readonly atMs: number;
}

/** A call, not joined yet. The engine that takes over is named `second`. */
export function openFaultyCall({ fault, voice, recogniser }: FaultyCallOptions) {
  const { clock: later, begin } = openLateClock();
  const gate = new Gate(fault, voice !== null);
  const pause = (): Promise<void> =>
    fault === "slow" ? new Promise((resolve) => void later.after(SLOW_MS, resolve)) : Promise.resolve();
  const used: string[] = [];
  const failures: Failure[] = [];
  const observer = {
    used: (kind: string, engine: string, outcome: string) => void used.push(`${kind} ${engine} ${outcome}`),
    failed: (_kind: string, engine: string) => void failures.push({ engine, atMs: later.nowMs() }),
  };
  const list = { clock: later, observer };
  const fakes = openFakeEngines();
  const listed = <Engine>(name: string, engine: Engine) => new ListedEngine(name, engine, later);
  /** What the voice that takes over was given to say. */
  const saidBySecond: string[] = [];
  const other: TtsEngine = {
    ...fakes.tts,
    synthesize: (request, signal) => {
      saidBySecond.push(request.text);
      return fakes.tts.synthesize(request, signal);
    },
  };
  const second = listed("second", other);
  const tts =
    voice?.kind === "deployment"
      ? openTtsChain({
          ...list,
          engines: [listed("first", gatedEngine(voice.engine, gate, pause)), second],
          firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
        })
      : fakes.tts;
  const stt =
    recogniser === null
      ? fakes.stt
      : openSttChain({
          ...list,
          engines: [listed("first", gatedStt(recogniser, gate, pause)), listed("second", fakes.stt)],
          answerLimitMs: ANSWER_LIMIT_MS,
        });
  const keys = createVoiceKeys({
    readAccountKey: () => Promise.resolve(voice?.kind === "external" ? voice.key : null),
    deployment: {},
    nowMs: () => later.nowMs(),
  });
  const voices =
    voice?.kind === "external"
      ? createVoices({
          providers: { [voice.provider.kind]: gatedProvider(voice.provider, gate, pause) },
          keys,
          health: createVoiceHealth(later),
          fallback: () => ({ ...list, engines: [second], firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS }),
        })
      : openFakeVoices();
  const engines = { ...fakes, tts, stt };
  const tools = openFakeToolInvoker();
  const world = openCallWorld(engines, openMemoryRecordings(), tools, noStages, null, voices);
  begin(world.clock);
  return { world, gate, used, failures, saidBySecond, plan: planOf(voice) };
}

function gatedEngine(engine: TtsEngine, gate: Gate, pause: () => Promise<void>): TtsEngine {
  return {
    // Without its server, or the call would render the sentences for an outage.
    name: engine.name,
    voices: engine.voices,
    speaks: (language) => engine.speaks(language),
    close: () => engine.close(),
    synthesize: (request, signal) => gated(engine.synthesize(request, signal), gate, pause),
  };
}

function gatedProvider(provider: VoiceProvider, gate: Gate, pause: () => Promise<void>): VoiceProvider {
  return {
    ...provider,
    prepare: (use) => provider.prepare(use),
    synthesize: (speech, signal) => gated(provider.synthesize(speech, signal), gate, pause),
  };
}

function planOf(voice: FaultyVoice | null) {
  if (voice?.kind !== "external") return {};
  const planned: PlannedExternalVoice = {
    kind: "external",
    provider: voice.provider.kind,
    settings: voice.settings,
    key: voice.provider.kind === "generic" ? "none" : "account",
    voiceId: null,
  };
  return { stage: { voice: planned } };
}

/** A joined call: what is heard for each 20 ms, and what was recorded. */
export async function joinFaultyCall(options: FaultyCallOptions) {
  const { world, gate, used, failures, saidBySecond, plan } = openFaultyCall(options);
  const { clock, records, journal } = world;
  const { transport } = await world.joined(plan);
  const heard: { readonly atMs: number; readonly isLoud: boolean }[] = [];
  const frames = async (samples: Int16Array): Promise<void> => {
    for (let at = 0; at < samples.length; at += 320) {
      const before = transport.frames.length;
      transport.hear(samples.subarray(at, at + 320));
      await gate.idle();
      await clock.advance(FRAME_MS);
      await gate.idle();
      const isLoud = transport.frames
        .slice(before)
        .some((frame) => frame.some((sample) => Math.abs(sample) > LOUD));
      heard.push({ atMs: clock.nowMs(), isLoud });
    }
  };
  return {
    used,
    failures,
    saidBySecond,
    /** Whether the voice had said something before it failed. */
    hadAudio: () => gate.hasParts,
    say: frames,
    listen: (ms: number) => frames(new Int16Array(16 * ms)),
    /** Longest silence between the first failure and the last sound, in ms; 0: nothing failed. */
    longestSilenceMs: () => longestSilenceMs(heard, failures[0]?.atMs ?? Infinity),
    nowMs: () => clock.nowMs(),
    /** The first sound from a moment on; null: none came. */
    soundAfterMs: (fromMs: number) =>
      heard.find(({ atMs, isLoud }) => atMs >= fromMs && isLoud)?.atMs ?? null,
    /** Messages are recorded again when they change: the last text of each. */
    async recorded() {
      journal.isBroken = false;
      await clock.advance(1_000);
      const texts = (role: string) => [
        ...new Map(
          records.messages.flatMap(({ message }) =>
            message.role === role ? [[message.index, message.text] as const] : [],
          ),
        ).values(),
      ];
      return {
        agent: texts("agent"),
        user: texts("user"),
        events: records.events.map(({ event }) => event.type),
      };
    },
  };
}

function longestSilenceMs(
  heard: readonly { readonly atMs: number; readonly isLoud: boolean }[],
  fromMs: number,
): number {
  const last = heard.findLastIndex(({ isLoud }) => isLoud);
  let longest = 0;
  let current = 0;
  for (const { atMs, isLoud } of heard.slice(0, last)) {
    current = isLoud || atMs < fromMs ? 0 : current + FRAME_MS;
    longest = Math.max(longest, current);
  }
  return longest;
}
