/** Engines for calls with recorded speech: the voice is a recording, and what the recogniser got is kept. */

import type { Engines } from "../../src/app/engines.ts";
import { MODEL_PATH } from "../../src/app/engines.ts";
import type { LlmEngine } from "../../src/ports/llm.ts";
import { openFakeLlm } from "../../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../../src/ports/testing/fake-stt.ts";
import { openFakeTts } from "../../src/ports/testing/fake-tts.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import { openSileroVad } from "../../src/providers/vad-silero/vad-silero.ts";

export const UNDERSTOOD = "go forward ten meters";
export const SPEECH_RATE_HZ = 16_000;
const LOUD = 1_000;
/** Of the caller's recording, in samples: a third of what is loud in it. */
const LEAST_LOUD = 2_000;
const PART_SAMPLES = 3_200;

export interface RecordedEngines {
  readonly engines: Engines;
  /** The utterances that the recogniser was asked about, at 16 kHz. */
  readonly heard: Int16Array[];
}

/** @param speech what the voice says in place of every text */
export async function openRecordedEngines(speech: Int16Array): Promise<RecordedEngines> {
  const heard: Int16Array[] = [];
  const vad = await openSileroVad({ modelPath: MODEL_PATH, log: () => undefined });
  const says = (_utterance: number, samples: Int16Array): string => {
    const isLoud = samples.reduce((sum, one) => sum + (Math.abs(one) > LOUD ? 1 : 0), 0) > LEAST_LOUD;
    if (isLoud) heard.push(samples.slice());
    return isLoud ? UNDERSTOOD : "";
  };
  return {
    heard,
    engines: {
      vad,
      turnDetectors: [],
      llm: diallingLlm(),
      tts: recordedTts(speech),
      stt: openFakeStt({ says }),
    },
  };
}

function recordedTts(speech: Int16Array): TtsEngine {
  return {
    ...openFakeTts(),
    async *synthesize() {
      for (let at = 0; at < speech.length; at += PART_SAMPLES) {
        await new Promise((resolve) => setImmediate(resolve));
        const samples = speech.slice(at, at + PART_SAMPLES);
        yield { type: "audio", samples, sampleRateHz: SPEECH_RATE_HZ };
      }
    },
  };
}

/** Presses the keys that the system prompt names, once, where it has the tool for it. */
function diallingLlm(): LlmEngine {
  const fake = openFakeLlm({ reply: "Good." });
  return {
    ...fake,
    async *generate(request, signal) {
      const [, digits] = /Press ([0-9*#]+)/.exec(request.systemPrompt) ?? [];
      const hasPressed = request.messages.some(({ role }) => role === "tool");
      if (digits === undefined || request.tools.length === 0 || hasPressed) {
        yield* fake.generate(request, signal);
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
      const call = { id: "keys", name: "playDtmfSounds", arguments: { digits } };
      yield { type: "tool-call", call };
      yield { type: "finish", reason: "tool-calls", inputTokens: 1, outputTokens: 1 };
    },
  };
}
