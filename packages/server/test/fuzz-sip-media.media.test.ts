/** The fuzzer of media over SIP, with few inputs, and with faults that it must find. */

import { expect, test } from "vitest";
import { fuzzRtp } from "../fuzz/sip-media/fuzz-rtp.ts";
import { fuzzSdp, newCall } from "../fuzz/sip-media/fuzz-sdp.ts";
import { runSipMediaFuzz } from "../fuzz/sip-media/run-sip-media.ts";
import { mediaTowards } from "../src/transports/sip/media/testing/rtp-pair.ts";

const INPUTS = 4_000;
const OPTIONS = { seed: 1, mostFaults: 3 };

test("finds no fault, and most inputs reach the parts that they aim at", async () => {
  const lines: string[] = [];
  expect(await runSipMediaFuzz({ inputs: INPUTS, seed: 1, log: (line) => lines.push(line) })).toEqual([]);
  const [sdp = "", rtp = "", srtp = ""] = lines;
  expect(Number(/(\d+) of them used/.exec(sdp)?.[1])).toBeGreaterThan(INPUTS / 5);
  for (const line of [rtp, srtp]) {
    expect(Number(/(\d+) frames heard/.exec(line)?.[1])).toBeGreaterThan(INPUTS / 5);
  }
});

test("finds descriptions that are answered by an error of ours, or by media that may not be", () => {
  const throwing = () => {
    const call = newCall();
    return { ...sideOf(call), answer: (): never => Reflect.apply(JSON.parse, null, ["{"]) as never };
  };
  expect(fuzzSdp(INPUTS, { ...OPTIONS, open: throwing }).faults.join("\n")).toContain("SyntaxError");
  const wrong = () => {
    const call = newCall();
    const answer: typeof call.answer = (offer, isHolding) => {
      const agreed = call.answer(offer, isHolding);
      return { ...agreed, media: { ...agreed.media, sources: ["0.0.0.0"] } };
    };
    return { ...sideOf(call), answer };
  };
  expect(fuzzSdp(INPUTS, { ...OPTIONS, open: wrong }).faults.join("\n")).toContain("a wrong source");
});

function sideOf(call: ReturnType<typeof newCall>) {
  return {
    answer: call.answer.bind(call),
    offer: call.offer.bind(call),
    accept: call.accept.bind(call),
  };
}

test.each([true, false])("finds a stream that is not heard any more, encrypted: %s", async (isSecure) => {
  const { faults } = await fuzzRtp(INPUTS, {
    ...OPTIONS,
    isSecure,
    damage: (pair) => pair.a.stream.agree(mediaTowards(2, "PCMU", { isSending: false })),
  });
  expect(faults.join("\n")).toMatch(/\d+ of 100 frames heard/);
});
