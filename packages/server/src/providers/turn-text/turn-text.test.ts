import { describeTurnDetectorConformance } from "../../ports/testing/turn-detector-conformance.ts";
import type { TurnQuestion } from "../../ports/turn-detector.ts";
import { openTextTurnDetector } from "./turn-text.ts";

const questionOf = (text: string): TurnQuestion => ({ text, agentText: "", language: null, audio: null });

describeTurnDetectorConformance("the reader", {
  open: openTextTurnDetector,
  listens: false,
  questions: [questionOf("I would like"), questionOf("I would like a table for two.")],
});
