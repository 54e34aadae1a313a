import { describe, expect, it } from "vitest";
import { dtmfSamples } from "./dtmf.ts";
import { concat, tonePower } from "./testing/signals.ts";

const ROWS = [697, 770, 852, 941];
const COLUMNS = [1_209, 1_336, 1_477, 1_633];
const KEYS = "123A456B789C*0#D";

function render(digits: string, rateHz: number, toneMs = 100, spaceMs = 60): Int16Array {
  return concat([...dtmfSamples({ digits, toneMs, spaceMs }, rateHz)]);
}

/** The strongest of `candidates` (Goertzel's measure), if it has most of what two tones share. */
function strongest(samples: Int16Array, candidates: readonly number[], rateHz: number): number | null {
  const powers = candidates.map((hz) => ({ hz, ...tonePower(samples, hz, rateHz) }));
  const best = powers.toSorted((a, b) => b.tone - a.tone)[0];
  return best === undefined || best.tone < 0.3 * best.all ? null : best.hz;
}

/** As a receiver does it: 20 ms at a time, the key that both groups agree on. */
function receive(samples: Int16Array, rateHz: number): string {
  const window = (rateHz * 20) / 1_000;
  let heard = "";
  let last: string | null = null;
  for (let at = 0; at + window <= samples.length; at += window) {
    const part = samples.subarray(at, at + window);
    const loud = tonePower(part, 1_000, rateHz).all > 0.001;
    const row = loud ? ROWS.indexOf(strongest(part, ROWS, rateHz) ?? 0) : -1;
    const column = loud ? COLUMNS.indexOf(strongest(part, COLUMNS, rateHz) ?? 0) : -1;
    const key = row < 0 || column < 0 ? null : (KEYS[row * 4 + column] ?? null);
    if (key !== null && key !== last) heard += key;
    last = key;
  }
  return heard;
}

describe("dual tones", () => {
  it.each([8_000, 11_025, 16_000, 24_000, 44_100, 48_000])("are recognised at %d Hz", (rateHz) => {
    expect(receive(render(KEYS, rateHz), rateHz)).toBe(KEYS);
  });

  it.each([
    [40, 40],
    [250, 100],
  ])(
    "are recognised with %d ms of tone and %d ms of pause, also when a key is repeated",
    (toneMs, spaceMs) => {
      expect(receive(render("1124##", 16_000, toneMs, spaceMs), 16_000)).toBe("1124##");
    },
  );

  it("have nothing but their two frequencies, the higher one 2 dB above, and room below full scale", () => {
    const samples = render("5", 16_000, 400);
    const row = tonePower(samples.subarray(320, -320), 770, 16_000);
    const column = tonePower(samples.subarray(320, -320), 1_336, 16_000);
    expect((row.tone + column.tone) / row.all).toBeGreaterThan(0.99);
    expect(10 * Math.log10(column.tone / row.tone)).toBeCloseTo(2, 1);
    const peak = Math.max(...samples.map(Math.abs));
    expect(peak).toBeGreaterThan(0.4 * 32_768);
    expect(peak).toBeLessThan(0.5 * 32_768);
  });

  it("begin and end without a click", () => {
    const samples = render("7", 8_000);
    const steps = samples.slice(1).map((sample, i) => Math.abs(sample - (samples[i] ?? 0)));
    expect(Math.abs(samples[0] ?? 1)).toBe(0);
    expect(Math.abs(samples.at(-1) ?? 1)).toBe(0);
    expect(Math.max(...steps.slice(0, 4), ...steps.slice(-4))).toBeLessThan(1_000);
  });

  it("last as long as asked, with pauses of silence between them and none at the end", () => {
    const [first, second, ...rest] = [...dtmfSamples({ digits: "12", toneMs: 200, spaceMs: 50 }, 8_000)];
    expect(rest).toEqual([]);
    expect([first?.length, second?.length]).toEqual([2_000, 1_600]);
    expect(first?.subarray(1_600).every((sample) => sample === 0)).toBe(true);
  });

  it("are bounded: no tone shorter than a receiver hears, no endless one, no other characters", () => {
    expect(render("1", 8_000, 1).length).toBe(320);
    expect(render("1", 8_000, 1e9).length).toBe(8_000);
    expect(render("x1 2-é🙂", 8_000).length).toBe(render("12", 8_000).length);
    expect(receive(render("abcd", 8_000), 8_000)).toBe("ABCD");
    expect([...dtmfSamples({ digits: "1".repeat(1_000), toneMs: 40, spaceMs: 40 }, 8_000)]).toHaveLength(64);
    expect(render("", 8_000)).toHaveLength(0);
  });
});
