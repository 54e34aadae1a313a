/**
 * Calls on a manual clock whose first voice, recogniser or language model is a real adapter that speaks with the fake of
 * its vendor over the loopback network, or with the process of its model. The clock stands still while the adapter
 * works, so a slow machine changes nothing; it moves while the vendor hangs.
 */

import { createVoices } from "../../src/app/voices/call-voices.ts";
import { createVoiceHealth } from "../../src/app/voices/voice-health.ts";
import { createVoiceKeys } from "../../src/app/voices/voice-keys.ts";
import type { ExternalVoiceSettings, PlannedExternalVoice } from "../../src/plan/voice-plan.ts";
import type { LlmEngine } from "../../src/ports/llm.ts";
import { openFakeLlm } from "../../src/ports/testing/fake-llm.ts";
import { openFakeToolInvoker } from "../../src/ports/testing/fake-tool-invoker.ts";
import { openFakeVoices } from "../../src/ports/testing/fake-voices.ts";
import type { SttEngine } from "../../src/ports/stt.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import type { VoiceProvider } from "../../src/ports/voice-provider.ts";
import type { Clock } from "../../src/pacing/clock.ts";
import type { ListObserver } from "../../src/providers/engine-chain/engine-list.ts";
import { ListedEngine } from "../../src/providers/engine-chain/listed-engine.ts";
import { FIRST_TOKEN_LIMIT_MS, openLlmChain } from "../../src/providers/engine-chain/llm-chain.ts";
import { ANSWER_LIMIT_MS, openSttChain } from "../../src/providers/engine-chain/stt-chain.ts";
import { FIRST_AUDIO_LIMIT_MS, openTtsChain } from "../../src/providers/engine-chain/tts-chain.ts";
import { openCallWorld } from "../../src/runner/testing/call-world.ts";
import { openLateClock } from "../../src/runner/testing/late-clock.ts";
import { openFakeEngines } from "../../src/runner/testing/fakes.ts";
import { openMemoryRecordings } from "../../src/runner/testing/memory-recordings.ts";
import { noStages } from "../../src/runner/testing/no-stages.ts";
import { Gate, gatedLlm, gatedProvider, gatedStt, gatedTts, type Gating, type VendorFault } from "./gates.ts";

export const GREETING = "Welcome, how can I help you today?";
/** The caller may hear silence for so long after the failure of an engine. */
export const SILENCE_LIMIT_MS = 1_000;
/** What the model says that takes over. */
export const SECOND_REPLY = "Number two speaks.";
/** What a slow vendor waits before each piece of its answer; a model also before it breaks off. */
const SLOW_MS = 250;
const FRAME_MS = 20;
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

export interface FaultyCallOptions {
  readonly fault: VendorFault | null;
  /** Null: the fake that always works. */
  readonly voice?: FaultyVoice | null;
  readonly recogniser?: SttEngine | null;
  readonly model?: LlmEngine | null;
  /** No other model takes over. */
  readonly isAlone?: boolean;
}

interface Failure {
  readonly engine: string;
  readonly atMs: number;
}

/** A call, not joined yet. The engine that takes over is named `second`. */
export function openFaultyCall(options: FaultyCallOptions) {
  const { fault, voice = null, recogniser = null, model = null } = options;
  const { clock: later, begin } = openLateClock();
  const gate = new Gate(fault, recogniser === null);
  // Some of a reply is heard before the model breaks off, or the whole reply would be made again.
  const isSlow = fault === "slow" || (model !== null && fault === "drop in the middle");
  const pause = (): Promise<void> =>
    isSlow ? new Promise((resolve) => void later.after(SLOW_MS, resolve)) : Promise.resolve();
  const used: string[] = [];
  const failures: Failure[] = [];
  const observer: ListObserver = {
    used: (kind, engine, outcome) => void used.push(`${kind} ${engine} ${outcome}`),
    failed: (_kind, engine) => void failures.push({ engine, atMs: later.nowMs() }),
  };
  /** What the voice that takes over was given to say. */
  const saidBySecond: string[] = [];
  const lists = new FaultyLists({ gate, pause }, { clock: later, observer }, saidBySecond);
  const engines = {
    ...lists.fakes,
    tts: voice?.kind === "deployment" ? lists.voice(voice.engine) : lists.fakes.tts,
    stt: recogniser === null ? lists.fakes.stt : lists.recogniser(recogniser),
    llm: model === null ? lists.fakes.llm : lists.model(model, options.isAlone === true),
  };
  const voices = voice?.kind === "external" ? lists.externalVoice(voice) : openFakeVoices();
  const tools = openFakeToolInvoker();
  const world = openCallWorld(engines, openMemoryRecordings(), tools, noStages, null, voices);
  begin(world.clock);
  return { world, gate, used, failures, saidBySecond, plan: planOf(voice) };
}

/** Lists of the engine that the test is about, named `first`, and a fake that works. */
class FaultyLists {
  readonly fakes = openFakeEngines();
  readonly #gating: Gating;
  readonly #list: { readonly clock: Clock; readonly observer: ListObserver };
  readonly #second: ListedEngine<TtsEngine>;

  constructor(
    gating: Gating,
    list: { readonly clock: Clock; readonly observer: ListObserver },
    saidBySecond: string[],
  ) {
    this.#gating = gating;
    this.#list = list;
    const { tts } = this.fakes;
    this.#second = this.#listed("second", {
      ...tts,
      synthesize: (request, signal) => {
        saidBySecond.push(request.text);
        return tts.synthesize(request, signal);
      },
    });
  }

  voice(engine: TtsEngine): TtsEngine {
    return openTtsChain({
      ...this.#list,
      engines: [this.#listed("first", gatedTts(engine, this.#gating)), this.#second],
      firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
    });
  }

  recogniser(engine: SttEngine): SttEngine {
    const first = this.#listed("first", gatedStt(engine, this.#gating));
    return openSttChain({
      ...this.#list,
      engines: [first, this.#listed("second", this.fakes.stt)],
      answerLimitMs: ANSWER_LIMIT_MS,
    });
  }

  model(engine: LlmEngine, isAlone: boolean): LlmEngine {
    const others = isAlone ? [] : [this.#listed("second", openFakeLlm({ reply: SECOND_REPLY }))];
    return openLlmChain({
      ...this.#list,
      engines: [this.#listed("first", gatedLlm(engine, this.#gating)), ...others],
      firstTokenLimitMs: FIRST_TOKEN_LIMIT_MS,
      hedgeMs: null,
    });
  }

  externalVoice({ provider, key }: Extract<FaultyVoice, { kind: "external" }>) {
    const { clock } = this.#list;
    return createVoices({
      providers: { [provider.kind]: gatedProvider(provider, this.#gating) },
      keys: createVoiceKeys({
        readAccountKey: () => Promise.resolve(key),
        deployment: {},
        nowMs: () => clock.nowMs(),
      }),
      health: createVoiceHealth(clock),
      fallback: () => ({
        ...this.#list,
        engines: [this.#second],
        firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
      }),
    });
  }

  #listed<Engine>(name: string, engine: Engine): ListedEngine<Engine> {
    return new ListedEngine(name, engine, this.#list.clock);
  }
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
        ends: records.ends.map(({ record }) => record.reason),
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
