/** The fuzzer of the media side, with few inputs, and with faults that it must find. */

import { describe, expect, test } from "vitest";
import { MAX_RESIDENT_GROWTH_BYTES } from "../fuzz/media/oracle.ts";
import type { Protocol } from "../fuzz/media/protocols.ts";
import { PROTOCOLS } from "../fuzz/media/protocols.ts";
import { runMediaFuzz } from "../fuzz/media/run-media.ts";
import type { StartLegThread } from "../src/transports/rtc/leg-thread.ts";
import { startMediaThread } from "../src/app/media-threads/start-media-thread.ts";
import { harm, startHostileLegThread } from "../src/transports/webrtc/testing/hostile-leg-thread.ts";

/** Of each protocol. */
const INPUTS = 400;
const FEW = 50;
/** 30 s of audio: other processes may keep the cores busy. The other tests find faults that stay. */
const MAX_LAG_FRAMES = 1_500;
/** More than are sent before the fault is found. */
const ENDLESS = 10_000_000;

async function fuzz(
  inputs: number,
  only: readonly Protocol[],
  fault: {
    readonly start?: StartLegThread;
    readonly attackBegun?: () => void;
    readonly maxLagFrames?: number;
  } = {},
): Promise<{ readonly faults: readonly string[]; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const faults = await runMediaFuzz({ inputs, seed: 1, only, log: (line) => lines.push(line), ...fault });
  return { faults, lines };
}

describe("the fuzzer of the media side", () => {
  test("finds no fault", async () => {
    const { faults, lines } = await fuzz(INPUTS, PROTOCOLS, { maxLagFrames: MAX_LAG_FRAMES });
    expect(faults).toEqual([]);
    expect(lines.filter((line) => line.includes(" inputs in "))).toHaveLength(14);
  });

  test("finds memory that is kept outside of the heap, and not garbage", async () => {
    let garbage = 0;
    const used = await fuzz(FEW, ["sctp"], {
      maxLagFrames: MAX_LAG_FRAMES,
      attackBegun: () => {
        garbage = Array.from({ length: MAX_RESIDENT_GROWTH_BYTES / 16 }, (_, at) => ({ at })).length;
      },
    });
    expect(used.faults).toEqual([]);
    expect(garbage).toBeGreaterThan(1_000_000);
    const kept: Buffer[] = [];
    const { faults } = await fuzz(FEW, ["sctp"], {
      maxLagFrames: MAX_LAG_FRAMES,
      attackBegun: () => kept.push(Buffer.alloc(2 * MAX_RESIDENT_GROWTH_BYTES, 1)),
    });
    expect(kept).toHaveLength(1);
    expect(faults).toEqual([
      expect.stringMatching(/^the memory of the process grew by \d+ MiB, and 64 may be$/),
    ]);
  });

  test("finds a thread that hangs, and shows the inputs before", async () => {
    const { faults, lines } = await fuzz(ENDLESS, ["stun"], {
      start: startHostileLegThread,
      attackBegun: () => harm("hang"),
    });
    expect(faults.join("\n")).toMatch(/a thread was lost: stuck|has not heard the last frames/);
    expect(lines.join("\n")).toContain("the last inputs");
  });

  test("finds calls that are not heard any more, though nothing ends them", async () => {
    let isDeaf = false;
    const start: StartLegThread = (listener) =>
      startMediaThread({
        ...listener,
        heard: (message) => {
          if (!isDeaf || message.type !== "audio") listener.heard(message);
        },
      });
    const { faults } = await fuzz(ENDLESS, ["rtp"], { start, attackBegun: () => (isDeaf = true) });
    expect(faults.join("\n")).toMatch(/^the service has not heard the last frames of witness-/);
  });

  test("finds a stranger who ends a call, and a call of others that ends", async () => {
    const ended =
      (callOf: (legId: number) => boolean): StartLegThread =>
      (listener) =>
        startMediaThread({
          ...listener,
          heard: (message) => {
            listener.heard(message);
            if (message.type !== "connected" || !callOf(message.legId)) return;
            setTimeout(
              () => listener.heard({ type: "closed", legId: message.legId, regular: true, code: 1000 }),
              500,
            );
          },
        });
    // The first three are the witnesses, and the fourth is the one whose packets are captured.
    const attacked = await fuzz(ENDLESS, ["rtcp"], {
      start: ended((legId) => legId > 4),
      maxLagFrames: MAX_LAG_FRAMES,
    });
    expect(attacked.faults).toContainEqual(
      expect.stringMatching(/^stranger-rtcp-\d was ended \(hung up, 1000\)$/),
    );
    const other = await fuzz(ENDLESS, ["rtcp"], {
      start: ended((legId) => legId === 2),
      maxLagFrames: MAX_LAG_FRAMES,
    });
    expect(other.faults).toContainEqual(expect.stringMatching(/^witness-2 was ended \(hung up, 1000\)$/));
  });
});
