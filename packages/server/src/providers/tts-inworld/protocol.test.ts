import { describe, expect, it } from "vitest";
import { inworldProtocol } from "./protocol.ts";

const protocol = inworldProtocol("secret-key");

describe("what Inworld answers", () => {
  it.each([7, "late", { wordAlignment: { words: "We" } }])(
    "plays the audio where its times have another shape: %j",
    (timestampInfo) => {
      const chunk = { contextId: "c1", audioChunk: { audioContent: "AAAA", timestampInfo } };
      expect(protocol.read(JSON.stringify({ result: chunk }))).toEqual({
        to: "c1",
        message: { contextId: "c1", audioChunk: { audioContent: "AAAA", timestampInfo: null } },
      });
    },
  );
});
