/**
 * The agent's latest heard words: whether they are a question, and whether a transcript is only their echo.
 * Rules R87 and R91 of SPEC.md.
 */

import { normalizedWords } from "./backchannel.ts";
import type { CallState } from "../state.ts";
import { heardText, replyText } from "../history/transcript.ts";

/** A caller answers a question for so many characters into the next sentence: about a second of speech. */
const REACTION_CHARS = 20;
/** Echo is of the last seconds: what was heard, and the words that sounded while the last one was noted. */
const ECHO_BEFORE_CHARS = 240;
const ECHO_AHEAD_CHARS = 40;
/** One or two words in common are how people answer: "tea or coffee?" - "coffee". */
const ECHO_WORDS_MIN = 3;
/** After a question a short choice from its words is an answer: "a quiet room". */
const CHOICE_WORDS_MAX = 6;
/** A recogniser hears an echo badly; three words in four of it are enough. */
const ECHO_SHARE = 0.75;
/** Words compared at most; an echo of more is no echo of one sentence. */
const ECHO_WORDS_MAX = 60;

/** What was heard of the running reply, or the agent's last message. */
export function heardFromAgent({ reply, history }: CallState): string {
  if (reply?.begun === true) return heardText(reply);
  return history.entries.findLast(({ role, text }) => role === "agent" && text !== "")?.text ?? "";
}

/** Whether the agent waits for an answer: the sentence that is being heard, or was just heard, is a question. */
export function hasJustAsked({ reply, history }: CallState): boolean {
  if (reply?.begun !== true) {
    const last = history.entries.at(-1);
    return last?.role === "agent" && /\?["'”’)\]]*\s*$/u.test(last.text);
  }
  const text = replyText(reply);
  const heard = heardText(reply).length;
  const recent = text.slice(Math.max(0, heard - REACTION_CHARS), heard);
  if (recent.includes("?")) return true;
  // The sentence that is under way.
  return /^[^.!?]*\?/u.test(text.slice(heard)) && heard > 0;
}

/** Whether these words are what the agent has just said. */
export function repeatsAgent(state: CallState, text: string): boolean {
  const said = normalizedWords(text).slice(0, ECHO_WORDS_MAX);
  if (said.length < ECHO_WORDS_MIN) return false;
  if (said.length <= CHOICE_WORDS_MAX && hasJustAsked(state)) return false;
  const own = recentWords(state);
  return longestCommon(said, own) >= ECHO_SHARE * said.length && sharesRun(said, own);
}

/** The first words that came, too few to tell an echo, are all in what the agent has just been saying. */
export function mayRepeatAgent(state: CallState, text: string): boolean {
  const said = normalizedWords(text);
  if (said.length === 0 || said.length >= ECHO_WORDS_MIN || hasJustAsked(state)) return false;
  return ` ${recentWords(state).join(" ")} `.includes(` ${said.join(" ")} `);
}

function recentWords(state: CallState): string[] {
  const { reply } = state;
  const heard = heardFromAgent(state);
  const ahead =
    reply?.begun === true ? replyText(reply).slice(heard.length, heard.length + ECHO_AHEAD_CHARS) : "";
  return normalizedWords(heard.slice(-ECHO_BEFORE_CHARS) + ahead);
}

/** Length of the longest sequence of words that both have in this order. */
function longestCommon(said: readonly string[], own: readonly string[]): number {
  let row = Array.from({ length: own.length + 1 }, () => 0);
  for (const word of said) {
    const next = [0];
    own.forEach((other, index) => {
      const best = Math.max(row[index + 1] ?? 0, next[index] ?? 0);
      next.push(word === other ? (row[index] ?? 0) + 1 : best);
    });
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Whether three words in a row are the same; common words in the same order are not yet an echo. */
function sharesRun(said: readonly string[], own: readonly string[]): boolean {
  const whole = ` ${own.join(" ")} `;
  return said.some(
    (_, at) =>
      at + ECHO_WORDS_MIN <= said.length &&
      whole.includes(` ${said.slice(at, at + ECHO_WORDS_MIN).join(" ")} `),
  );
}
