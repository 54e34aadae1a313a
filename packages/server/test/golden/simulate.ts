/** A conversation on the virtual clock: scores of the real detector, fakes for everything else. */

import { isAtRest } from "../../src/call/testing/at-rest.ts";
import { Scenario } from "../../src/call/testing/scenario.ts";
import { judgeText } from "../../src/providers/turn-text/judge-text.ts";
import { PHRASES, planFor, shortAnswer, type Conversation } from "./conversations.ts";
import { replay, type EventLog } from "./event-log.ts";
import { soundsEndMs } from "./sound-track.ts";

const WINDOW_MS = 32;
/** After the last sound, for the end of the turn, and after the last answer, before the user hangs up. */
const REST_MS = 1_024;
/** The longest answer is a quarter of a minute; a call that is not at rest by then never will be. */
export const AFTER_SOUNDS_LIMIT_MS = 30_000;

/** @param scores of all windows from the join on, at least to the end of the call */
export function simulate(conversation: Conversation, scores: readonly number[]): EventLog {
  const { name, about, sounds, answers } = conversation;
  const plan = planFor(conversation);
  const call = new Scenario(plan);
  call.user.score = (toMs) => {
    const score = scores[toMs / WINDOW_MS - 1];
    if (score === undefined) throw new Error(`${name}: no score for the window that ends at ${toMs} ms`);
    return score;
  };
  for (const { clip, atMs, lengthMs = Infinity } of sounds) {
    for (const { fromMs, toMs, text } of PHRASES[clip] ?? []) {
      if (toMs <= lengthMs) call.user.speak(atMs + fromMs, toMs - fromMs, text);
    }
  }
  call.llm.usual = ({ messages }) => {
    const said = messages.at(-1)?.text ?? "";
    return { text: answers[said] ?? shortAnswer(said) };
  };
  // The turn detector of the offline product; it has no model and no clock.
  call.judge = ({ text, agentText, languageHint }) => judgeText({ text, agentText, language: languageHint });
  call.join();
  call.run(soundsEndMs(sounds) + REST_MS).runUntil(isAtRest, AFTER_SOUNDS_LIMIT_MS - 2 * REST_MS);
  call.run(REST_MS).post({ type: "transportHungUp" });
  return replay({ name, about, sounds, plan }, call.events);
}
