/**
 * The rules of the scripted model as a pure function of a request. It stores nothing between requests: each time it
 * replays what the caller said from the beginning, and answers the last message.
 */

import type { LlmMessage } from "@parley/schema";
import type { LlmRequest } from "../../ports/llm.ts";
import { bookTable, NO_BOOKING, openQuestion, type Booking } from "./booking.ts";
import {
  answerBareRanks,
  dealCard,
  describeHand,
  hearCards,
  holdCards,
  NO_GAME,
  type CardGame,
} from "./cards.ts";
import { AT_ORIGIN, describePlace, hearDirections, walk, type Walker } from "./directions.ts";
import { agentName, foreignLanguage, guestName, quotedWords } from "./prompt.ts";
import { fill, type Intent, type Rules } from "./rules.ts";
import { listInWords, numberInWords, readDigits, readNumber, toWords } from "./words.ts";

/**
 * Limit of messages that are replayed; the beginning of a longer call is ignored. Bounds the time of one reply: 0.5 ms
 * for a usual call of 20 turns, 40 ms for the longest possible messages.
 */
export const MAX_REPLAYED_MESSAGES = 200;
/** Limit of characters of one message that are read: half a minute of speech, far more than any rule needs. */
export const MAX_HEARD_CHARS = 600;
/** Limit of one reply; the longest sentence of the rules is far below it. */
export const MAX_REPLY_CHARS = 600;
/** Limit of numbers that are repeated to the caller. */
const MAX_NUMBERS = 12;

interface Talk {
  readonly game: CardGame;
  readonly walker: Walker;
  readonly booking: Booking;
  /** The last reply, complete even if it was interrupted. */
  readonly last: string;
  /** The last reply that did not only repeat another one. */
  readonly lastOriginal: string;
  /** Number of turns of the caller so far, and how many of the latest in a row were not understood. */
  readonly turns: number;
  readonly misses: number;
}

const SILENT: Talk = {
  game: NO_GAME,
  walker: AT_ORIGIN,
  booking: NO_BOOKING,
  last: "",
  lastOriginal: "",
  turns: 0,
  misses: 0,
};

/** Never empty, never longer than `MAX_REPLY_CHARS`, never throws; the same for the same request. */
export function reply(request: LlmRequest, rules: Rules): string {
  const messages = request.messages
    .filter((message) => message.role !== "tool")
    .slice(-MAX_REPLAYED_MESSAGES);
  const last = messages.at(-1);
  const talk = replay(messages, request, rules);
  const text = last?.role === "user" ? talk.last : unasked(messages, talk, request, rules);
  return bounded(text === "" ? greeting(request, rules) : text);
}

function replay(messages: readonly LlmMessage[], request: LlmRequest, rules: Rules): Talk {
  let talk = SILENT;
  for (const message of messages) {
    if (message.role === "user") {
      if (isNote(message.text)) continue;
      const answered = answer(talk, message.text.slice(0, MAX_HEARD_CHARS), rules);
      // Said once, with the first answer, unless a greeting has already said it.
      const first = talk.turns === 0 && talk.last === "";
      talk = first ? { ...answered, last: inEnglish(answered.last, request, rules) } : answered;
    } else if (talk.turns === 0 && message.text.trim() !== "") {
      const said = message.text.trim();
      talk = { ...talk, last: said, lastOriginal: said };
    }
  }
  return talk;
}

/** The reply when the caller said nothing new: an opening, the rest of an interrupted reply, or a reminder. */
function unasked(messages: readonly LlmMessage[], talk: Talk, request: LlmRequest, rules: Rules): string {
  const { instruction } = request;
  if (instruction !== null && /\b(?:go on|cut (?:\w+ ){0,4}short|continue)\b/i.test(instruction)) {
    const heard = heardOf(messages.at(-1)?.text ?? "");
    const rest = talk.last.startsWith(heard) ? talk.last.slice(heard.length).trim() : "";
    if (rest !== "") return rest;
    if (heard !== "") return openQuestion(talk.booking, rules) ?? offer(rules);
  }
  if (instruction !== null && /\bbefore your last message\b/i.test(instruction) && isOpen(messages, talk))
    return talk.last;
  const quote = instruction === null ? null : quotedWords(instruction);
  if (quote !== null) return quote;
  if (talk.turns === 0 && talk.last === "") return greeting(request, rules);
  return openQuestion(talk.booking, rules) ?? offer(rules);
}

/** Whether the caller heard nothing of the answer to their last words, only other texts such as a late greeting. */
function isOpen(messages: readonly LlmMessage[], { turns, last }: Talk): boolean {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  return turns > 0 && since.every(({ text }) => heardOf(text) === "" || !last.startsWith(heardOf(text)));
}

/** The words of an agent's message, without the mark of an interruption. */
function heardOf(text: string): string {
  return text.replace(CUT_MARK, "").trim();
}

function greeting(request: LlmRequest, rules: Rules): string {
  const name = agentName(request.systemPrompt);
  const guest = guestName(request.systemPrompt);
  const who = { name: name === null ? rules.role : `${name}, ${rules.role}`, guest: guest ?? "" };
  const hello = fill(guest === null ? rules.greeting : rules.guest, who);
  return inEnglish(`${hello} ${offer(rules)}`, request, rules);
}

/** Says that another language was requested. */
function inEnglish(text: string, { language }: LlmRequest, rules: Rules): string {
  const foreign = foreignLanguage(language);
  return foreign === null ? text : `${fill(rules.englishOnly, { language: foreign })} ${text}`;
}

function answer(talk: Talk, text: string, rules: Rules): Talk {
  const turn = { ...talk, turns: talk.turns + 1 };
  if (isNotUnderstood(text)) return missed(turn, rules);
  const words = toWords(text);
  const intents = heardIntents(words, rules);
  if (intents.some(({ does }) => does === "repeat"))
    return { ...turn, misses: 0, last: repeated(turn, intents, rules) };
  const answered = bySkill(turn, words, intents, rules) ?? byIntent(turn, intents, rules);
  const last =
    answered?.last ?? numbersSaid(words, rules) ?? fill(pick(rules.unknown, talk.turns), common(talk, rules));
  return { ...(answered ?? turn), misses: 0, last, lastOriginal: last };
}

function repeated(talk: Talk, intents: readonly Intent[], rules: Rules): string {
  const intent = intents.find(({ does }) => does === "repeat");
  return fill(pick(intent?.reply ?? [], talk.turns - 1), common(talk, rules));
}

/** The mark that the engine puts behind interrupted words. */
const CUT_MARK = /\s*—?\s*\[interrupted\]\s*$/u;

/** A note about the conversation in brackets, such as that its earlier part was left out. The caller did not say it. */
function isNote(text: string): boolean {
  return /^\s*\[[^[\]]*\]\s*$/u.test(text) && !isNotUnderstood(text);
}

/** A note in brackets instead of words: the caller spoke and was not understood. */
function isNotUnderstood(text: string): boolean {
  return /^\s*[[(].*\b(?:not|n't|nothing)\b.*\b(?:understood|understand|recogni[sz]ed|clear|audible)\b/is.test(
    text,
  );
}

function missed(talk: Talk, rules: Rules): Talk {
  const text = rules.notUnderstood[Math.min(talk.misses, rules.notUnderstood.length - 1)] ?? "";
  return { ...talk, misses: talk.misses + 1, last: fill(text, common(talk, rules)) };
}

/** Words that are ignored where a phrase must be the whole message. */
const POLITE: ReadonlySet<string> = new Set(["please", "okay", "ok", "um", "uh", "well", "so", "thanks"]);

function heardIntents(words: readonly string[], { intents }: Rules): readonly Intent[] {
  const all = words.join(" ");
  const core = words.filter((word) => !POLITE.has(word)).join(" ");
  const padded = ` ${all} `;
  return intents.filter(
    ({ says, whole }) =>
      whole?.includes(all) === true ||
      whole?.includes(core) === true ||
      says.some((phrase) => padded.includes(` ${phrase} `)),
  );
}

/** Intents that take precedence even where the words would fit a skill as well. */
const FIRST: ReadonlySet<string> = new Set(["forget", "cancel", "deal", "hand", "where"]);

function bySkill(
  talk: Talk,
  words: readonly string[],
  intents: readonly Intent[],
  rules: Rules,
): Talk | null {
  const act = intents.find(({ does }) => does !== undefined && FIRST.has(does));
  if (act !== undefined) return perform(talk, act, rules);
  const cards = hearCards(words, rules);
  if (cards !== null) {
    const { game, say } = holdCards(talk.game, cards, rules);
    return { ...talk, game, last: say };
  }
  const bare = answerBareRanks(words, rules);
  if (bare !== null) return { ...talk, last: bare };
  const does = intents.map((intent) => intent.does);
  const yesOrNo = does.includes("no") ? "no" : does.includes("yes") ? "yes" : null;
  if (yesOrNo === null || words.length > 3) {
    const directions = hearDirections(words, rules, talk.walker.requested !== null);
    if (directions !== null) {
      const { walker, say } = walk(talk.walker, directions, rules);
      return { ...talk, walker, last: say };
    }
  }
  const step = bookTable(talk.booking, words, yesOrNo, rules);
  return step === null ? null : { ...talk, booking: step.booking, last: step.say };
}

function byIntent(talk: Talk, intents: readonly Intent[], rules: Rules): Talk | null {
  const [intent] = intents;
  return intent === undefined ? null : perform(talk, intent, rules);
}

function perform(talk: Talk, intent: Intent, rules: Rules): Talk {
  const said = fill(pick(intent.reply, talk.turns - 1), common(talk, rules));
  switch (intent.does) {
    case "forget":
      return { ...SILENT, turns: talk.turns, last: said };
    case "cancel": {
      const dropped = talk.booking.state === "none" ? said : rules.booking.dropped;
      return { ...talk, booking: NO_BOOKING, walker: { ...talk.walker, requested: null }, last: dropped };
    }
    case "deal": {
      const { game, say } = dealCard(talk.game, rules);
      return { ...talk, game, last: say };
    }
    case "hand":
      return { ...talk, last: describeHand(talk.game, rules) };
    case "where":
      return { ...talk, last: describePlace(talk.walker, rules) };
    case "play":
    case "yes":
    case "no":
    case "repeat":
    case undefined:
      break;
  }
  return { ...talk, last: said };
}

function numbersSaid(words: readonly string[], rules: Rules): string | null {
  const groups: string[] = [];
  let digits = true;
  for (let at = 0; at < words.length && groups.length < MAX_NUMBERS; at += 1) {
    const run = readDigits(words, at);
    if (run !== null) {
      groups.push(...run.map(numberInWords));
      at += run.length - 1;
      continue;
    }
    const number = readNumber(words, at);
    if (number === null) continue;
    groups.push(numberInWords(number.value));
    digits = false;
    at += number.length - 1;
  }
  if (groups.length === 0) return null;
  const named = groups.slice(0, MAX_NUMBERS);
  if (groups.length === 1) return fill(rules.numbers.one, { numbers: named[0] ?? "" });
  if (digits) return fill(rules.numbers.digits, { numbers: named.join(", ") });
  return fill(rules.numbers.many, { numbers: listInWords(named) });
}

function offer(rules: Rules): string {
  return fill(rules.offer, { can: rules.can });
}

/** Placeholders that every text may use. */
function common(talk: Talk, rules: Rules): Record<string, string> {
  return {
    can: rules.can,
    about: fill(rules.about, { can: rules.can }),
    last: talk.lastOriginal === "" ? offer(rules) : talk.lastOriginal,
    ask: openQuestion(talk.booking, rules) ?? rules.sayAgain,
  };
}

function pick(texts: readonly string[], turn: number): string {
  return texts.length === 0 ? "" : (texts[Math.max(0, turn) % texts.length] ?? "");
}

/** One line, cut at a word. */
function bounded(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= MAX_REPLY_CHARS) return line;
  const cut = line.slice(0, MAX_REPLY_CHARS - 1);
  const space = cut.lastIndexOf(" ");
  return `${space > 0 ? cut.slice(0, space) : cut}…`;
}
