/**
 * A call whose caller has a loudspeaker and no echo cancellation: what the agent says comes back into the microphone,
 * later, quieter and smeared by the room, while someone may speak over it. The whole live call runs, with the real
 * voice and the real detector of voice activity, on a clock that waits for both.
 */

import { initResampler } from "../src/media/resample.ts";
import type { SttEngine } from "../src/ports/stt.ts";
import { openFakeLlm } from "../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import type { TtsEngine, TtsPart } from "../src/ports/tts.ts";
import type { VadEngine } from "../src/ports/vad.ts";
import { openEspeakTts } from "../src/providers/tts-espeak/tts-espeak.ts";
import { openCallWorld } from "../src/runner/testing/call-world.ts";
import type { PlanChanges } from "../src/runner/testing/plan.ts";
import { settle } from "../src/runner/testing/manual-clock.ts";
import { openRealVad } from "./golden/sound-track.ts";
import nodeProcess from "node:process";

const RATE_HZ = 16_000;
const FRAME = 320;
const FRAME_MS = 20;
/** Reflections of a furnished room: they decay by 60 dB in 0.3 s. */
const REFLECTIONS = 60;
const ROOM_MS = 150;
const DECAY_MS = 300;
/** Reflections together are as loud as what comes straight from the loudspeaker. */
const REFLECTED = 1;
/** Background noise: the quiet between two sentences of a recording. */
export const ROOM_NOISE = readSpeechFixture("austen_long_pauses.wav").subarray(3_300 * 16, 5_400 * 16);
/** An agent that answers its own echo would never be silent. */
export const SCENE_LIMIT_MS = 60_000;
/** After the last sound of the agent or the caller. */
export const REST_MS = 3_000;

export interface Voice {
  readonly samples: Int16Array;
  readonly atMs: number;
  readonly gainDb: number;
  readonly text: string;
}

export interface Scene {
  /** How much quieter than the agent its echo is; null: there is none. */
  readonly lossDb: number | null;
  readonly delayMs: number;
  readonly smeared: boolean;
  /** Speech over the agent's. */
  readonly caller: Voice | null;
  /** The recogniser's text for any sound before the caller has spoken. */
  readonly mishears: string;
  readonly turnTaking?: PlanChanges["turnTaking"];
}

export interface Played {
  /** How often the agent was silenced, for any length of time. */
  readonly pauses: number;
  readonly firstPauseMs: number | null;
  /** What was heard of the agent's words, and whether the caller cut them. */
  readonly agentText: string;
  readonly interruptions: number;
  readonly userTexts: readonly string[];
}

/** The engines that a scene needs, with a count of their pending work. */
export interface RoomEngines {
  readonly vad: VadEngine;
  readonly tts: TtsEngine;
  /** Resolves when every window is scored and every text is spoken. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function openRoomEngines(): Promise<RoomEngines> {
  await initResampler(nodeProcess);
  const [vad, tts] = await Promise.all([openRealVad(), openEspeakTts({ log: () => {} })]);
  let owed = 0;
  let waiting: (() => void)[] = [];
  const paid = (count: number) => {
    owed -= count;
    if (owed > 0) return;
    for (const go of waiting) go();
    waiting = [];
  };
  return {
    vad: {
      ...vad,
      open: (listener) => {
        const stream = vad.open({
          scored: (index, score) => {
            listener.scored(index, score);
            paid(1);
          },
          failed: (error) => {
            listener.failed(error);
          },
        });
        return {
          push: (window) => {
            owed += 1;
            stream.push(window);
          },
          close: () => {
            stream.close();
          },
        };
      },
    },
    tts: {
      ...tts,
      async *synthesize(request, signal) {
        owed += 1;
        const parts: TtsPart[] = [];
        for await (const part of tts.synthesize(request, signal)) parts.push(part);
        yield* parts;
        paid(1);
      },
    },
    idle: () =>
      owed <= 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    close: async () => {
      await Promise.all([vad.close(), tts.close()]);
    },
  };
}

export async function playScene(engines: RoomEngines, story: string, scene: Scene): Promise<Played> {
  const { caller, turnTaking } = scene;
  let nowMs = 0;
  const spoken = () => caller !== null && nowMs >= caller.atMs + 300;
  const stt: SttEngine = openFakeStt({ says: () => (spoken() ? (caller?.text ?? "") : scene.mishears) });
  const world = openCallWorld({ vad: engines.vad, tts: engines.tts, stt, llm: openFakeLlm() });
  const firstSpeaker = {
    kind: "agent",
    delayMs: 0,
    text: story,
    prompt: null,
    uninterruptible: false,
  } as const;
  const { transport } = await world.joined({ firstSpeaker, ...(turnTaking && { turnTaking }) });
  const echo = new Echo(scene);
  const noise = { at: 0 };
  let [sent, cleared] = [0, 0];
  let queue: Int16Array[] = [];
  let firstPauseMs: number | null = null;
  let quietMs = 0;
  const callerEndMs = caller === null ? 0 : caller.atMs + caller.samples.length / 16;
  await engines.idle();
  while (nowMs < SCENE_LIMIT_MS && (nowMs < callerEndMs + REST_MS || quietMs < REST_MS)) {
    const clears = transport.messages.filter(({ type }) => type === "playback_clear_buffer").length;
    if (clears > cleared) {
      firstPauseMs ??= nowMs;
      queue = [];
    }
    cleared = clears;
    queue.push(...transport.frames.slice(sent));
    sent = transport.frames.length;
    const playing = queue.shift();
    quietMs = playing === undefined ? quietMs + FRAME_MS : 0;
    transport.hear(microphone(echo.of(playing ?? new Int16Array(FRAME)), caller, nowMs, noise));
    await engines.idle();
    await world.clock.advance(FRAME_MS);
    await engines.idle();
    await settle();
    nowMs += FRAME_MS;
  }
  transport.lose(true, 1000);
  await world.clock.advance(5_000);
  const texts = (role: "agent" | "user") =>
    transport.messages.flatMap((message) =>
      message.type === "transcript" && message.final && message.role === role ? [message.text ?? ""] : [],
    );
  return {
    pauses: cleared,
    firstPauseMs,
    agentText: texts("agent")[0] ?? "",
    interruptions: world.records.events.filter(({ event }) => event.type === "turn.interrupted").length,
    userTexts: texts("user"),
  };
}

function microphone(
  echo: Float32Array,
  caller: Voice | null,
  nowMs: number,
  noise: { at: number },
): Int16Array {
  const gain = caller === null ? 0 : 10 ** (caller.gainDb / 20);
  const from = caller === null ? 0 : (nowMs - caller.atMs) * 16;
  return Int16Array.from(echo, (sample, at) => {
    const room = ROOM_NOISE[noise.at++ % ROOM_NOISE.length] ?? 0;
    const voice = gain * (caller?.samples[from + at] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(sample + room + voice)));
  });
}

/** The echo of what is played, frame by frame. */
export class Echo {
  readonly #taps: readonly { readonly after: number; readonly gain: number }[];
  readonly #played: Float32Array;
  #at = 0;

  constructor({ lossDb, delayMs, smeared }: Pick<Scene, "lossDb" | "delayMs" | "smeared">, rateHz = RATE_HZ) {
    const perMs = rateHz / 1_000;
    this.#played = new Float32Array(rateHz);
    const delay = delayMs * perMs;
    const taps = [{ after: delay, gain: 1 }];
    if (smeared) {
      let seed = 3;
      const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
      for (let n = 0; n < REFLECTIONS; n += 1) {
        const afterMs = 2 + random() * (ROOM_MS - 2);
        const gain = (random() < 0.5 ? -1 : 1) * 10 ** ((-3 * afterMs) / DECAY_MS);
        taps.push({ after: delay + Math.round(afterMs * perMs), gain });
      }
      const energy = taps.slice(1).reduce((sum, { gain }) => sum + gain * gain, 0);
      for (const tap of taps.slice(1)) tap.gain *= REFLECTED / Math.sqrt(energy);
    }
    const energy = taps.reduce((sum, { gain }) => sum + gain * gain, 0);
    const level = lossDb === null ? 0 : 10 ** (-lossDb / 20) / Math.sqrt(energy);
    this.#taps = taps.map(({ after, gain }) => ({ after, gain: gain * level }));
  }

  of(frame: Int16Array): Float32Array {
    const size = this.#played.length;
    frame.forEach((sample, n) => (this.#played[(this.#at + n) % size] = sample));
    const back = new Float32Array(frame.length);
    for (const { after, gain } of this.#taps) {
      const from = this.#at - after + size;
      for (let n = 0; n < back.length; n += 1)
        back[n] = (back[n] ?? 0) + gain * (this.#played[(from + n) % size] ?? 0);
    }
    this.#at = (this.#at + frame.length) % size;
    return back;
  }
}
