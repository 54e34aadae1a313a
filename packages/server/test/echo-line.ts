/**
 * A phone line that returns the agent's voice: mu-law at 8 kHz in both directions, a carrier that buffers 200 ms and echoes
 * marks, and an echo of its far end. The whole live call runs, with the real voice and the real detector of voice
 * activity, on a clock that waits for both.
 */

import { decodeMulaw, encodeMulaw } from "../src/media/g711.ts";
import { Resampler } from "../src/media/resample.ts";
import { concat } from "../src/media/testing/signals.ts";
import { openFakeLlm } from "../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { openCallWorld } from "../src/runner/testing/call-world.ts";
import { settle } from "../src/runner/testing/manual-clock.ts";
import { Echo, REST_MS, ROOM_NOISE, SCENE_LIMIT_MS, type Played, type RoomEngines } from "./echo-room.ts";
import type { Scene } from "./echo-room.ts";

const LINE_HZ = 8_000;
const FRAME = 160;
const FRAME_MS = 20;
const AHEAD_MS = 200;

export type LineScene = Pick<Scene, "lossDb" | "delayMs" | "caller" | "mishears" | "turnTaking">;

function atLineRate(samples: Int16Array): Int16Array {
  const resampler = new Resampler(16_000, LINE_HZ);
  const all = concat([resampler.push(samples).slice(), resampler.flush()]);
  resampler.close();
  return all;
}

const overLine = (samples: Int16Array): Int16Array => decodeMulaw(encodeMulaw(samples)).slice();

export async function playOverLine(engines: RoomEngines, story: string, scene: LineScene): Promise<Played> {
  const { caller, turnTaking } = scene;
  let nowMs = 0;
  const spoken = () => caller !== null && nowMs >= caller.atMs + 300;
  const stt = openFakeStt({ says: () => (spoken() ? (caller?.text ?? "") : scene.mishears) });
  const world = openCallWorld({ vad: engines.vad, tts: engines.tts, stt, llm: openFakeLlm() });
  const agent = { kind: "agent", delayMs: 0, text: story, prompt: null, uninterruptible: false } as const;
  const rates = { inputSampleRateHz: LINE_HZ, outputSampleRateHz: LINE_HZ };
  const { callId } = world.create({
    firstSpeaker: agent,
    medium: { kind: "telephony1", ...rates },
    ...(turnTaking && { turnTaking }),
  });
  const { transport } = await world.join(callId, [], {
    ...rates,
    outputEncoding: "mulaw",
    aheadMs: AHEAD_MS,
    isCarrier: true,
  });
  if (transport === null) throw new Error("not connected");
  const echo = new Echo({ ...scene, smeared: false }, LINE_HZ);
  const noise = atLineRate(ROOM_NOISE);
  const voice = caller === null ? new Int16Array() : atLineRate(caller.samples);
  const line = carrierOf(transport);
  const callerEndMs = caller === null ? 0 : caller.atMs + caller.samples.length / 16;
  let [quietMs, noiseAt] = [0, 0];
  let firstPauseMs: number | null = null;
  await engines.idle();
  while (nowMs < SCENE_LIMIT_MS && (nowMs < callerEndMs + REST_MS || quietMs < REST_MS)) {
    const playing = line.next();
    if (line.clears > 0) firstPauseMs ??= nowMs;
    quietMs = playing === null ? quietMs + FRAME_MS : 0;
    const returned = echo.of(playing ?? new Int16Array(FRAME));
    const gain = caller === null ? 0 : 10 ** (caller.gainDb / 20);
    const from = caller === null ? 0 : (nowMs - caller.atMs) * (LINE_HZ / 1_000);
    const heard = Int16Array.from(returned, (sample, at) => {
      const room = noise[noiseAt++ % noise.length] ?? 0;
      return Math.max(-32_768, Math.min(32_767, Math.round(sample + room + gain * (voice[from + at] ?? 0))));
    });
    transport.hear(overLine(heard));
    await engines.idle();
    await world.clock.advance(FRAME_MS);
    await engines.idle();
    await settle();
    nowMs += FRAME_MS;
  }
  transport.lose(true, 1000);
  await world.clock.advance(5_000);
  const messages = new Map(world.records.messages.map(({ message }) => [message.index, message]));
  const texts = (role: "agent" | "user") =>
    [...messages.values()].filter((message) => message.role === role).map(({ text }) => text);
  return {
    pauses: line.clears,
    firstPauseMs,
    agentText: texts("agent")[0] ?? "",
    interruptions: world.records.events.filter(({ event }) => event.type === "turn.interrupted").length,
    userTexts: texts("user"),
  };
}

/** The carrier's buffer, which plays a frame each 20 ms, and echoes a mark when what came before it has been played. */
function carrierOf(transport: {
  readonly frames: readonly Int16Array[];
  readonly commands: readonly (number | "clear" | { readonly digits: string })[];
  play(position: number): void;
}) {
  let [sent, read, clears] = [0, 0, 0];
  let queue: Int16Array[] = [];
  let marks: { readonly position: number; readonly behind: number }[] = [];
  const take = (): void => {
    for (const command of transport.commands.slice(read)) {
      if (command === "clear") {
        clears += 1;
        queue = [];
        marks = [];
        // What came before it is gone as well.
        sent = transport.frames.length;
      } else if (typeof command === "number") {
        const behind = queue.length + (transport.frames.length - sent);
        marks.push({ position: command, behind });
      }
    }
    read = transport.commands.length;
    queue.push(...transport.frames.slice(sent).map(overLine));
    sent = transport.frames.length;
  };
  return {
    get clears() {
      return clears;
    },
    /** The next frame; null: nothing is played. */
    next(): Int16Array | null {
      take();
      const frame = queue.shift() ?? null;
      marks = marks.map(({ position, behind }) => ({ position, behind: behind - 1 }));
      for (const { position } of marks.filter(({ behind }) => behind <= 0)) transport.play(position);
      marks = marks.filter(({ behind }) => behind > 0);
      return frame;
    },
  };
}
