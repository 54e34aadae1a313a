import { describe, expect, it } from "vitest";
import { readSpeechFixture } from "../ports/testing/speech-fixtures.ts";
import { Concealment } from "./concealment.ts";
import { concat, sine, tonePower } from "./testing/signals.ts";

const RATE_HZ = 8_000;
const FRAME = 160;

function frameOf(samples: Int16Array, n: number): Int16Array {
  return samples.slice(n * FRAME, (n + 1) * FRAME);
}

/** The stream with the frames in `lost` made up. */
function concealed(samples: Int16Array, lost: (n: number) => boolean): Int16Array {
  const concealment = new Concealment(RATE_HZ);
  const frames = Math.floor(samples.length / FRAME);
  return concat(
    Array.from({ length: frames }, (_, n) =>
      lost(n) ? concealment.made() : concealment.received(frameOf(samples, n)),
    ),
  );
}

describe("concealment", () => {
  it("leaves alone what comes without a gap", () => {
    const tone = sine(300, RATE_HZ, 50 * FRAME);
    expect(concealed(tone, () => false)).toEqual(tone);
  });

  it.each([80, 130, 220, 310, 395])("goes on with a voice of %i Hz", (hz) => {
    const tone = sine(hz, RATE_HZ, 100 * FRAME);
    const heard = concealed(tone, (n) => n > 5 && n % 10 === 0);
    const { tone: power, all } = tonePower(heard, hz, RATE_HZ);
    expect(power / all).toBeGreaterThan(0.9);
  });

  it("is silent after 60 ms, and stays so", () => {
    const heard = concealed(sine(200, RATE_HZ, 30 * FRAME), (n) => n >= 10);
    expect(Math.max(...heard.subarray(10 * FRAME, 11 * FRAME))).toBeGreaterThan(10_000);
    expect(heard.subarray(13 * FRAME).every((sample) => sample === 0)).toBe(true);
  });

  it("comes closer to speech than silence does, and never jumps", () => {
    const speech = readSpeechFixture("jfk.wav")
      .filter((_, index) => index % 2 === 0)
      .slice(4_000, 4_000 + 200 * FRAME);
    const isLost = (n: number): boolean => n % 8 === 5;
    const heard = concealed(speech, isLost);
    let [error, silent] = [0, 0];
    for (const [i, sample] of speech.entries()) {
      if (!isLost(Math.floor(i / FRAME))) continue;
      error += (sample - (heard[i] ?? 0)) ** 2;
      silent += sample ** 2;
    }
    expect(error).toBeLessThan(silent);
    const step = (samples: Int16Array): number =>
      samples.reduce((most, sample, i) => Math.max(most, Math.abs(sample - (samples[i - 1] ?? 0))), 0);
    expect(step(heard)).toBeLessThan(1.5 * step(speech));
  });

  it("of a stream that has not begun is silence", () => {
    const concealment = new Concealment(16_000);
    expect(concealment.made()).toEqual(new Int16Array(320));
  });
});
