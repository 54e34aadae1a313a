/** Directions on a tiny map: confirms each and keeps the position. Pure. */

import { fill, type Rules } from "./rules.ts";
import { listInWords, numberInWords, readNumber } from "./words.ts";

export type Way = "forward" | "back" | "left" | "right" | "around";

export interface Walker {
  /** Meters from the origin. */
  readonly east: number;
  readonly north: number;
  /** Quarter turns to the right of north, 0..3. */
  readonly heading: number;
  /** A direction whose distance is not known yet. */
  readonly requested: Way | null;
}

export const AT_ORIGIN: Walker = { east: 0, north: 0, heading: 0, requested: null };

export interface Distance {
  readonly meters: number;
  /** The text of the confirmation, such as "ten meters". */
  readonly text: string;
}

export interface Direction {
  readonly way: Way | null;
  readonly distance: Distance | null;
}

/** Limit of directions in one utterance: a longer spoken confirmation cannot be followed. */
const MAX_DIRECTIONS = 4;
/** A place counts as reached within this distance. */
const NEAR_METERS = 2;

const COMPASS = ["north", "east", "south", "west"] as const;
const TURNS: Readonly<Record<Way, number>> = { forward: 0, right: 1, around: 2, back: 0, left: 3 };

/** Null when it is not about directions. `expected`: a distance was asked for. */
export function hearDirections(
  words: readonly string[],
  rules: Rules,
  expected: boolean,
): readonly Direction[] | null {
  const { verbs, ways } = rules.directions;
  const found: Direction[] = [];
  let way: Way | null = null;
  let others = 0;
  for (let at = 0; at < words.length && found.length < MAX_DIRECTIONS; at += 1) {
    const word = words[at] ?? "";
    const distance = readDistance(words, at, rules);
    if (distance !== null) {
      at += distance.length - 1;
      const after = wayOf(words[at + 1], ways);
      if (way === null && after !== null) at += 1;
      found.push({ way: way ?? after, distance });
      way = null;
    } else if (wayOf(word, ways) !== null) {
      const next = wayOf(word, ways);
      // "straight ahead" is one direction, "left right" two.
      if (way !== null && way !== next) found.push({ way, distance: null });
      way = next;
    } else if (!verbs.includes(word) && !FILLERS.has(word)) others += 1;
  }
  if (way !== null) found.push({ way, distance: null });
  const meant =
    others === 0 ||
    expected ||
    words.some((word) => verbs.includes(word)) ||
    found.some((one) => one.distance !== null);
  return found.length > 0 && meant ? found : null;
}

const FILLERS: ReadonlySet<string> = new Set([
  "to",
  "the",
  "for",
  "about",
  "and",
  "then",
  "please",
  "now",
  "okay",
  "so",
]);

function wayOf(word: string | undefined, ways: Rules["directions"]["ways"]): Way | null {
  return word !== undefined && Object.hasOwn(ways, word) ? (ways[word] ?? null) : null;
}

function readDistance(
  words: readonly string[],
  at: number,
  rules: Rules,
): (Distance & { length: number }) | null {
  const number = readNumber(words, at) ?? (words[at] === "a" ? { value: 1, length: 1 } : null);
  const word = number === null ? undefined : words[at + number.length];
  if (number === null || word === undefined) return null;
  const unit = rules.directions.units.find(
    ({ one, many, also }) => word === one || word === many || also.includes(word),
  );
  if (unit === undefined) return null;
  return {
    meters: number.value * unit.meters,
    text: `${numberInWords(number.value)} ${number.value === 1 ? unit.one : unit.many}`,
    length: number.length + 1,
  };
}

export interface Walked {
  readonly walker: Walker;
  readonly say: string;
}

export function walk(walker: Walker, directions: readonly Direction[], rules: Rules): Walked {
  const say: string[] = [];
  let now = walker;
  for (const direction of directions) {
    const step = oneStep(now, direction, rules);
    now = step.walker;
    say.push(step.say);
  }
  return { walker: now, say: say.join(" ") };
}

function oneStep(walker: Walker, { way, distance }: Direction, rules: Rules): Walked {
  const { directions: texts } = rules;
  const taken = way ?? walker.requested ?? "forward";
  const heading = (walker.heading + TURNS[taken]) % 4;
  if (distance === null) {
    if (taken === "forward" || taken === "back")
      return { walker: { ...walker, requested: taken }, say: fill(texts.howFar, { way: taken }) };
    return {
      walker: { ...walker, heading, requested: null },
      say: fill(texts.turned, { way: taken, compass: COMPASS[heading] ?? "" }),
    };
  }
  const meters = taken === "back" ? -distance.meters : distance.meters;
  const east = walker.east + (heading === 1 ? meters : heading === 3 ? -meters : 0);
  const north = walker.north + (heading === 0 ? meters : heading === 2 ? -meters : 0);
  if (Math.max(Math.abs(east), Math.abs(north)) > texts.limitMeters) {
    const limit = numberInWords(texts.limitMeters);
    return {
      walker: { ...walker, requested: null },
      say: fill(texts.tooFar, { limit, origin: texts.origin }),
    };
  }
  const there = { east, north, heading, requested: null };
  return {
    walker: there,
    say: fill(texts.moved, { way: taken, distance: distance.text, place: describePlace(there, rules) }),
  };
}

export function describePlace({ east, north, heading }: Walker, { directions: texts }: Rules): string {
  const compass = COMPASS[heading] ?? "";
  const { origin } = texts;
  const near = texts.landmarks.find((mark) => Math.hypot(mark.east - east, mark.north - north) < NEAR_METERS);
  if (near !== undefined) return fill(texts.atLandmark, { landmark: near.name, compass });
  const parts = [offset(north, "north", "south"), offset(east, "east", "west")].filter((part) => part !== "");
  if (parts.length === 0) return fill(texts.atOrigin, { origin, compass });
  return fill(texts.at, { position: listInWords(parts), origin });
}

function offset(meters: number, positive: string, negative: string): string {
  const whole = Math.round(Math.abs(meters));
  if (whole === 0) return "";
  return `${numberInWords(whole)} ${whole === 1 ? "meter" : "meters"} ${meters > 0 ? positive : negative}`;
}
