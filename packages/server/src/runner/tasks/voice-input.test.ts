import { describe, expect, it } from "vitest";
import type { LlmMessage } from "@parley/schema";
import { parseWavHeader, WAV_HEADER_BYTES } from "../../media/wav.ts";
import { samplesOfBytes } from "../../media/pcm.ts";
import { MAX_HEARD_SAMPLES, voiceIn } from "./voice-input.ts";

const user = (...utteranceIds: number[]): LlmMessage => ({ role: "user", text: "words", utteranceIds });
const typed: LlmMessage = { role: "user", text: "typed" };
const agent: LlmMessage = { role: "agent", text: "Yes." };
const tool: LlmMessage = { role: "tool", invocationId: "c1", toolName: "lookup", text: "nine" };

/** An utterance of as many samples as its id says, each with that value. */
const known = (utteranceId: number): Int16Array => new Int16Array(utteranceId).fill(utteranceId);
const indexes = (messages: readonly LlmMessage[], samplesOf: (id: number) => Int16Array | null = known) =>
  voiceIn(messages, samplesOf).map(({ messageIndex }) => messageIndex);

describe("the voice in a request", () => {
  it("is a WAV file of all utterances of the message, in order", () => {
    const [heard, ...others] = voiceIn([agent, user(2, 3)], known);
    expect([heard?.messageIndex, others]).toEqual([1, []]);
    const wav = heard?.wav ?? new Uint8Array();
    expect(parseWavHeader(wav)).toEqual({ sampleRateHz: 16_000, channels: 1, dataBytes: 10 });
    expect([...samplesOfBytes(wav.slice(WAV_HEADER_BYTES))]).toEqual([2, 2, 3, 3, 3]);
  });

  it("is that of the two newest messages of the user, in the order of the messages", () => {
    expect(indexes([user(1), agent, user(2), agent, user(3), agent, tool])).toEqual([2, 4]);
  });

  it("ends at a message that was typed", () => {
    expect(indexes([user(1), agent, typed, agent, user(3)])).toEqual([4]);
    expect(indexes([user(1), agent, typed])).toEqual([]);
  });

  it("leaves a message out of which an utterance is missing, and all before it", () => {
    const without2 = (id: number) => (id === 2 ? null : known(id));
    expect(indexes([user(1), user(2, 3)], without2)).toEqual([]);
    expect(indexes([user(1, 2), user(3)], without2)).toEqual([1]);
    expect(indexes([user(1)], () => new Int16Array(0))).toEqual([]);
  });

  it("is at most a minute together", () => {
    const half = MAX_HEARD_SAMPLES / 2;
    const long = (id: number) => new Int16Array(id === 1 ? half : half + 1);
    expect(indexes([user(1), user(1)], long)).toEqual([0, 1]);
    expect(indexes([user(2), user(1)], long)).toEqual([1]);
    expect(indexes([user(2, 1)], long)).toEqual([]);
  });
});
