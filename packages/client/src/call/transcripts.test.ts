import { describe, expect, it } from "vitest";
import type { TranscriptMessage } from "./messages.ts";
import { MAX_TRANSCRIPTS, type Transcript, withTranscript } from "./transcripts.ts";

type Piece = Omit<TranscriptMessage, "type" | "medium"> & { medium?: "voice" | "text" };

function after(...pieces: readonly Piece[]): readonly Transcript[] {
  let all: readonly Transcript[] = [];
  for (const piece of pieces) all = withTranscript(all, { type: "transcript", medium: "voice", ...piece });
  return all;
}

const agent = { role: "agent", final: false, ordinal: 0 } as const;
const texts = (all: readonly Transcript[]) =>
  all.map(({ ordinal, role, text, final }) => [ordinal, role, text, final]);

describe("transcripts", () => {
  it("grow by deltas and end with the whole text", () => {
    const pieces = [
      { ...agent, text: "Good" },
      { ...agent, delta: " evening" },
      { ...agent, delta: ", sir." },
    ];
    expect(texts(after(...pieces))).toEqual([[0, "agent", "Good evening, sir.", false]]);
    expect(texts(after(...pieces, { ...agent, text: "Good evening", final: true }))).toEqual([
      [0, "agent", "Good evening", true],
    ]);
  });

  it("take nothing more after the final text, and a second final one all the same", () => {
    const final = { ...agent, text: "Good.", final: true };
    expect(texts(after(final, { ...agent, delta: " late" }))).toEqual([[0, "agent", "Good.", true]]);
    expect(texts(after(final, { ...final, text: "Better." }))).toEqual([[0, "agent", "Better.", true]]);
  });

  it("keep the order of ordinals, whatever the order of messages", () => {
    const user = { role: "user", text: "Hello.", final: true, ordinal: 1 } as const;
    expect(
      texts(after({ ...agent, ordinal: 2, text: "Yes" }, user, { ...agent, text: "Hi", final: true })),
    ).toEqual([
      [0, "agent", "Hi", true],
      [1, "user", "Hello.", true],
      [2, "agent", "Yes", false],
    ]);
  });

  it("start again where an ordinal is reused by the other side", () => {
    const user = { role: "user", text: "Wait.", final: true, ordinal: 0 } as const;
    expect(texts(after({ ...agent, text: "So" }, user))).toEqual([[0, "user", "Wait.", true]]);
  });

  it("begin with a delta where the beginning was missed, without its space", () => {
    expect(texts(after({ ...agent, delta: " evening" }, { ...agent, delta: " sir" }))).toEqual([
      [0, "agent", "evening sir", false],
    ]);
  });

  it("have the user's early words until they are final, taken back, or replaced by the agent's", () => {
    const early = { role: "user", final: false, ordinal: 0 } as const;
    expect(texts(after({ ...early, text: "I" }, { ...early, text: "I want" }))).toEqual([
      [0, "user", "I want", false],
    ]);
    expect(texts(after({ ...early, text: "I" }, { ...early, text: "I want", final: true }))).toEqual([
      [0, "user", "I want", true],
    ]);
    expect(after({ ...early, text: "mhm" }, { ...early, text: "" })).toEqual([]);
    expect(
      texts(after({ ...early, text: "mhm" }, { ...agent, text: "Good" }, { ...early, text: "" })),
    ).toEqual([[0, "agent", "Good", false]]);
  });

  it("are the same list where nothing changes, and never change an older list", () => {
    const first = after({ ...agent, text: "Good" });
    expect(withTranscript(first, { type: "transcript", medium: "voice", ...agent, text: "Good" })).toBe(
      first,
    );
    const second = withTranscript(first, { type: "transcript", medium: "voice", ...agent, delta: " day" });
    expect(first[0]?.text).toBe("Good");
    expect(second).not.toBe(first);
  });

  it("are bounded: the oldest go", () => {
    const pieces = Array.from({ length: MAX_TRANSCRIPTS + 2 }, (_, ordinal) => ({
      ...agent,
      ordinal,
      text: "x",
    }));
    const all = after(...pieces);
    expect(all).toHaveLength(MAX_TRANSCRIPTS);
    expect(all[0]?.ordinal).toBe(2);
  });
});
