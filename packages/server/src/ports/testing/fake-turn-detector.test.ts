import { expect, it } from "vitest";
import type { TurnQuestion } from "../turn-detector.ts";
import { openFakeTurnDetector } from "./fake-turn-detector.ts";
import { describeTurnDetectorConformance } from "./turn-detector-conformance.ts";

function questionOf(text: string): TurnQuestion {
  return { text, agentText: "", language: null, audio: null };
}

describeTurnDetectorConformance("the fake", {
  open: () => openFakeTurnDetector(),
  listens: false,
  questions: [questionOf("I would like"), questionOf("I would like a table.")],
});

it("has no opinion, hangs and fails as configured, and records its questions", async () => {
  const { signal } = new AbortController();
  const silent = openFakeTurnDetector({ finished: () => null, listens: true });
  expect(silent.listens).toBe(true);
  expect(await silent.judge(questionOf("yes"), signal)).toBeNull();
  expect(silent.questions.map(({ text }) => text)).toEqual(["yes"]);
  const failing = openFakeTurnDetector({ broken: "fails" });
  await expect(failing.judge(questionOf("yes"), signal)).rejects.toThrow("on purpose");
  const hanging = openFakeTurnDetector({ broken: "hangs" });
  const abort = new AbortController();
  const aborted = hanging.judge(questionOf("yes"), abort.signal);
  const closed = hanging.judge(questionOf("yes"), signal).catch(String);
  abort.abort();
  await expect(aborted).rejects.toThrow("abandoned");
  await hanging.close();
  expect(await closed).toContain("closed");
});
