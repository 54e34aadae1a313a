/** The card game: keeps the hand that the caller named, and says which card is higher. Pure. */

import { fill, type Rules } from "./rules.ts";
import { listInWords, numberInWords, readNumber } from "./words.ts";

/** suit * 13 + rank, 0..51 */
export type Card = number;

export interface CardGame {
  /** In the order in which they were named. */
  readonly hand: readonly Card[];
  /** Cards taken from the deck so far. */
  readonly dealt: number;
}

export const NO_GAME: CardGame = { hand: [], dealt: 0 };

export interface CardsHeard {
  readonly cards: readonly Card[];
  /** Numbers between the cards that belong to none. */
  readonly loose: readonly number[];
}

/** Limit of cards in one reply: nobody can follow a longer spoken list. */
const MAX_NAMED = 6;

/** "eight of spades four of clubs"; null when no card is named. */
export function hearCards(words: readonly string[], rules: Rules): CardsHeard | null {
  const cards: Card[] = [];
  const loose: number[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const rank = rankAt(words, at, rules);
    const suit = rules.cards.suits.findIndex((name) => sameSuit(name, words[at + 2]));
    if (rank !== null && words[at + 1] === "of" && suit >= 0) {
      cards.push(suit * 13 + rank);
      at += 2;
      continue;
    }
    const number = readNumber(words, at);
    if (number === null) continue;
    loose.push(number.value);
    at += number.length - 1;
  }
  return cards.length === 0 ? null : { cards, loose };
}

/** Words that may stand beside ranks without a suit; beside any other word "queen" is not a card. */
const RANK_FILLERS: ReadonlySet<string> = new Set(["a", "the", "and", "please", "um", "uh", "okay", "of"]);

/** The reply to ranks without a suit ("ace queen"); null if there are other words, and for plain numbers. */
export function answerBareRanks(words: readonly string[], rules: Rules): string | null {
  const said = words.filter((word) => !RANK_FILLERS.has(word));
  const ranks = said.filter((word) => rules.cards.ranks.includes(word));
  const faces = ranks.filter((word) => readNumber([word], 0) === null);
  if (faces.length === 0 || ranks.length < said.length) return null;
  return fill(rules.cards.bare, { ranks: listInWords(ranks.slice(0, MAX_NAMED)) });
}

function sameSuit(suit: string, word: string | undefined): boolean {
  return word === suit || (word !== undefined && `${word}s` === suit);
}

function rankAt(words: readonly string[], at: number, { cards }: Rules): number | null {
  const word = words[at] ?? "";
  const named = cards.ranks.indexOf(word);
  if (named >= 0) return named;
  const value = /^\d+$/.test(word) ? Number(word) : 0;
  return value >= 2 && value <= 10 ? value - 2 : null;
}

export function cardName(card: Card, { cards }: Rules): string {
  return `${cards.ranks[card % 13] ?? ""} of ${cards.suits[Math.floor(card / 13)] ?? ""}`;
}

export interface CardMove {
  readonly game: CardGame;
  readonly say: string;
}

/** The caller named cards. */
export function holdCards(game: CardGame, heard: CardsHeard, rules: Rules): CardMove {
  const fresh = [...new Set(heard.cards)].filter((card) => !game.hand.includes(card));
  const known = [...new Set(heard.cards)].filter((card) => game.hand.includes(card));
  const hand = [...game.hand, ...fresh];
  const say: string[] = [];
  const [first] = fresh;
  const before = game.hand.at(-1);
  if (fresh.length === 1 && first !== undefined)
    say.push(
      before === undefined
        ? fill(rules.cards.first, { card: cardName(first, rules) })
        : fill(rules.cards.compared, comparison(first, before, rules)),
    );
  else if (fresh.length > 1) say.push(fill(rules.cards.several, { cards: names(fresh, rules) }));
  if (known.length > 0) say.push(fill(rules.cards.known, { card: names(known, rules) }));
  if (heard.loose.length > 0)
    say.push(
      fill(rules.cards.loose, { numbers: listInWords(heard.loose.slice(0, MAX_NAMED).map(numberInWords)) }),
    );
  if (hand.length > 1) say.push(summary(hand, rules));
  return { game: { ...game, hand }, say: say.join(" ") };
}

/** The next card of the deck that the caller does not hold. */
export function dealCard(game: CardGame, rules: Rules): CardMove {
  const rest = rules.cards.deck.slice(game.dealt);
  const skip = rest.findIndex((card) => !game.hand.includes(card));
  const card = rest[skip];
  if (card === undefined) return { game, say: rules.cards.noDeck };
  const before = game.hand.at(-1);
  const hand = [...game.hand, card];
  const text =
    before === undefined
      ? fill(rules.cards.dealt, { card: cardName(card, rules) })
      : `${fill(rules.cards.dealtCompared, comparison(card, before, rules))} ${summary(hand, rules)}`;
  return { game: { hand, dealt: game.dealt + skip + 1 }, say: text };
}

/** What the caller holds. */
export function describeHand(game: CardGame, rules: Rules): string {
  if (game.hand.length === 0) return rules.cards.noHand;
  const latest = game.hand.slice(-MAX_NAMED);
  return `${fill(rules.cards.several, { cards: names(latest, rules) })} ${summary(game.hand, rules)}`;
}

function comparison(card: Card, before: Card, rules: Rules): Record<string, string> {
  const { higher, lower, equal } = rules.cards;
  const difference = (card % 13) - (before % 13);
  const relation = difference > 0 ? higher : difference < 0 ? lower : equal;
  return { card: cardName(card, rules), before: cardName(before, rules), relation };
}

function names(cards: readonly Card[], rules: Rules): string {
  return listInWords(cards.slice(0, MAX_NAMED).map((card) => cardName(card, rules)));
}

function summary(hand: readonly Card[], rules: Rules): string {
  const highest = hand.reduce((best, card) => (card % 13 > best % 13 ? card : best), hand[0] ?? 0);
  const total = hand.reduce((sum, card) => sum + (card % 13) + 2, 0);
  if (hand.length === 1) return "";
  return fill(rules.cards.summary, {
    count: numberInWords(hand.length),
    highest: cardName(highest, rules),
    total: numberInWords(total),
  });
}
