/**
 * The rules of the scripted model: what it listens for and what it says. They are data (`concierge.json`), so that
 * another talker can be made by writing another file. The code only knows four skills (cards, directions, a table
 * booking, numbers), whose words and sentences are in the rules too.
 *
 * - Every text may hold `{placeholders}`. `{can}`, `{about}`, `{last}` (the reply before) and `{ask}` (what is being
 *   asked at the moment) stand everywhere; each skill has its own, named beside its texts below.
 * - `intents` are tried in order. One applies when a phrase of `says` occurs anywhere in what was said, or when a
 *   phrase of `whole` is all that was said; phrases are lower-case words. Of several `reply` texts the turn's number
 *   picks one. `does` names what the code does besides, or instead where `reply` is empty.
 * - A skill answers before intents that merely chat ("hello, a table for two" is about the table).
 */

import { readFile } from "node:fs/promises";
import { z } from "zod";

const Texts = z.array(z.string().min(1)).min(1);
const Phrases = z.array(z.string().regex(/^[a-z0-9']+( [a-z0-9']+)*$/, "must be lower-case words"));

const Intent = z.strictObject({
  name: z.string().min(1),
  does: z.enum(["repeat", "forget", "cancel", "deal", "hand", "play", "where", "yes", "no"]).optional(),
  says: Phrases,
  whole: Phrases.optional(),
  reply: z.array(z.string().min(1)),
});

const Cards = z.strictObject({
  /** From low to high. The value of a rank is its index plus two. */
  ranks: Phrases.length(13),
  suits: Phrases.length(4),
  /** Order in which cards are dealt: each of 0..51 once, as suit * 13 + rank. */
  deck: z
    .array(z.int().min(0).max(51))
    .length(52)
    .refine((deck) => new Set(deck).size === 52, "must contain each card once"),
  first: z.string(),
  compared: z.string(),
  several: z.string(),
  known: z.string(),
  summary: z.string(),
  dealt: z.string(),
  dealtCompared: z.string(),
  noDeck: z.string(),
  noHand: z.string(),
  loose: z.string(),
  bare: z.string(),
  higher: z.string(),
  lower: z.string(),
  equal: z.string(),
});

const Directions = z.strictObject({
  origin: z.string(),
  /** The map ends this far from the origin in each of the four directions. */
  limitMeters: z.number().positive(),
  units: z.array(
    z.strictObject({ one: z.string(), many: z.string(), also: Phrases, meters: z.number().positive() }),
  ),
  verbs: Phrases,
  ways: z.record(z.string(), z.enum(["forward", "back", "left", "right", "around"])),
  /** Meters from the origin. */
  landmarks: z.array(z.strictObject({ name: z.string(), east: z.number(), north: z.number() })),
  moved: z.string(),
  turned: z.string(),
  howFar: z.string(),
  atOrigin: z.string(),
  atLandmark: z.string(),
  at: z.string(),
  tooFar: z.string(),
});

const Booking = z.strictObject({
  triggers: Phrases,
  maxParty: z.int().min(1).max(99),
  /** Full hours, 0 to 24: tables are available from the first until before the second. */
  opensHour: z.int().min(0).max(24),
  closesHour: z.int().min(0).max(24),
  party: z.string(),
  day: z.string(),
  time: z.string(),
  begin: z.string(),
  so: z.string(),
  confirm: z.string(),
  booked: z.string(),
  change: z.string(),
  tooMany: z.string(),
  nobody: z.string(),
  closed: z.string(),
  dropped: z.string(),
});

const RulesFile = z.strictObject({
  about: z.string().min(1),
  can: z.string().min(1),
  /** Used instead of a name where the system prompt contains none. */
  /** What to try first; the offline recogniser understands them as well. */
  examples: Texts,
  role: z.string().min(1),
  guest: z.string().min(1),
  greeting: z.string().min(1),
  offer: z.string().min(1),
  englishOnly: z.string().min(1),
  /** The first text is for the first miss in a row, the last one for all further ones. */
  notUnderstood: Texts,
  sayAgain: z.string().min(1),
  unknown: Texts,
  intents: z.array(Intent),
  numbers: z.strictObject({ one: z.string(), many: z.string(), digits: z.string() }),
  cards: Cards,
  directions: Directions,
  booking: Booking,
});

export type Rules = z.infer<typeof RulesFile>;
export type Intent = z.infer<typeof Intent>;

/** Throws when the rules are not of the form above. */
export function parseRules(document: unknown): Rules {
  return RulesFile.parse(document);
}

/** Reads and checks `concierge.json`. */
export async function loadConcierge(): Promise<Rules> {
  const text = await readFile(new URL("./concierge.json", import.meta.url), "utf8");
  return parseRules(JSON.parse(text));
}

/** Fills `{placeholders}`; one without a value is left out. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : "",
  );
}
