import { expect, it } from "vitest";
import { OFFLINE_PHRASES } from "../providers/stt-offline/stt-offline.ts";
import { openScriptedLlm } from "../providers/llm-scripted/llm-scripted.ts";
import { commonPhrases } from "./http-deps.ts";

it("are those of both offline engines", async () => {
  const llm = await openScriptedLlm();
  expect(commonPhrases([{ examplePhrases: OFFLINE_PHRASES }, llm])).toEqual(OFFLINE_PHRASES);
});

it("are those of the engine that is limited, and none where no engine is", () => {
  expect(commonPhrases([{}, { examplePhrases: ["a", "b"] }])).toEqual(["a", "b"]);
  expect(commonPhrases([{ examplePhrases: ["b"] }, { examplePhrases: ["a", "b"] }])).toEqual(["b"]);
  expect(commonPhrases([{}, {}])).toBeNull();
});
