/** A table booking: collects party, day and time, asks for what is missing, and confirms. Pure. */

import { hearDay, hearTime, timeInWords, type ClockTime, type Heard } from "./clock.ts";
import { fill, type Rules } from "./rules.ts";
import { numberInWords, readNumber } from "./words.ts";

export interface Booking {
  readonly state: "none" | "asking" | "confirming" | "changing";
  readonly party: number | null;
  readonly day: string | null;
  readonly time: ClockTime | null;
}

export const NO_BOOKING: Booking = { state: "none", party: null, day: null, time: null };

export interface BookingStep {
  readonly booking: Booking;
  readonly say: string;
}

interface HeardSlots extends Slots {
  /** Whether nothing else was said. */
  readonly only: boolean;
}

interface Slots {
  readonly party: number | null;
  readonly day: string | null;
  readonly time: ClockTime | null;
}

/** Null when the caller's words are not about a booking. `answer`: a yes or no among the words. */
export function bookTable(
  booking: Booking,
  words: readonly string[],
  answer: "yes" | "no" | null,
  rules: Rules,
): BookingStep | null {
  const open = booking.state !== "none";
  const requested = words.some((word) => rules.booking.triggers.includes(word));
  const slots = hearSlots(words, booking, requested || open);
  const heard = slots.party !== null || slots.day !== null || slots.time !== null;
  if (open && !heard) {
    if (booking.state === "changing") {
      const cleared = clearSlot(booking, words);
      if (cleared !== null) return proceed(cleared, rules);
    }
    if (answer !== null) return answerOf(booking, answer, rules);
  }
  if (!requested && !(heard && (open || clearEnough(slots)))) return null;
  if (slots.party !== null && slots.party > rules.booking.maxParty)
    return refuse(
      booking,
      slots,
      fill(rules.booking.tooMany, { max: numberInWords(rules.booking.maxParty) }),
    );
  if (slots.party === 0) return refuse(booking, slots, rules.booking.nobody);
  const next = merge(booking, slots);
  if (next.time !== null && !isOpenAt(next.time, rules))
    return { booking: { ...next, time: null, state: "asking" }, say: rules.booking.closed };
  const { booking: after, say } = proceed(next, rules);
  return { booking: after, say: open || heard ? say : `${rules.booking.begin} ${say}` };
}

/** The next question of the booking, or null. */
export function openQuestion({ state, ...slots }: Booking, rules: Rules): string | null {
  if (state === "none") return null;
  if (state === "changing") return rules.booking.change;
  if (slots.party === null) return rules.booking.party;
  if (slots.day === null) return rules.booking.day;
  if (slots.time === null) return rules.booking.time;
  return fill(rules.booking.confirm, { slots: slotsInWords(slots) });
}

function answerOf(booking: Booking, answer: "yes" | "no", rules: Rules): BookingStep {
  if (booking.state === "confirming" && answer === "yes")
    return { booking: NO_BOOKING, say: fill(rules.booking.booked, { slots: slotsInWords(booking) }) };
  if (booking.state === "confirming")
    return { booking: { ...booking, state: "changing" }, say: rules.booking.change };
  if (answer === "no") return { booking: NO_BOOKING, say: rules.booking.dropped };
  return proceed(booking, rules);
}

/** The part that the caller wants to change, such as "the day"; it is asked for again. */
function clearSlot(booking: Booking, words: readonly string[]): Booking | null {
  if (words.includes("day") || words.includes("date")) return { ...booking, day: null };
  if (words.includes("time") || words.includes("hour")) return { ...booking, time: null };
  if (words.some((word) => PEOPLE.has(word) || word === "number" || word === "party"))
    return { ...booking, party: null };
  return null;
}

function proceed(booking: Booking, rules: Rules): BookingStep {
  const complete = booking.party !== null && booking.day !== null && booking.time !== null;
  const next: Booking = { ...booking, state: complete ? "confirming" : "asking" };
  const question = openQuestion(next, rules) ?? "";
  const known = slotsInWords(next);
  const so = complete || known === "" ? "" : `${fill(rules.booking.so, { slots: known })} `;
  return { booking: next, say: so + question };
}

function merge(booking: Booking, slots: Slots): Booking {
  return {
    state: booking.state,
    party: slots.party ?? booking.party,
    day: slots.day ?? booking.day,
    time: slots.time ?? booking.time,
  };
}

/** Keeps the rest of what was said and asks for the party again. */
function refuse(booking: Booking, slots: Slots, say: string): BookingStep {
  return { booking: { ...merge(booking, { ...slots, party: null }), party: null, state: "asking" }, say };
}

function isOpenAt({ hour }: ClockTime, { booking }: Rules): boolean {
  return hour >= booking.opensHour && hour < booking.closesHour;
}

/**
 * Whether words are about a table although nobody mentioned one: a day with other details, or only a day, a time or a
 * party.
 */
function clearEnough({ party, day, time, only }: HeardSlots): boolean {
  return only || (day !== null && (time !== null || party !== null));
}

function hearSlots(words: readonly string[], booking: Booking, about: boolean): HeardSlots {
  const day = hearDay(words);
  const rest = without(words, day);
  const waitsForTime = booking.state !== "none" && booking.party !== null && booking.time === null;
  const lone = rest.filter((word) => !FILLERS.has(word));
  const time = hearTime(rest, waitsForTime && lone.length <= 3);
  const left = without(rest, time);
  const waitsForParty = booking.state !== "none" && booking.party === null;
  const party = hearParty(left, waitsForParty || (about && day !== null));
  return {
    day: day?.value ?? null,
    time: time?.value ?? null,
    party: party?.value ?? null,
    only: without(left, party).every((word) => FILLERS.has(word)),
  };
}

/** The bar separates the words on both sides, so that they are not read together. */
function without(words: readonly string[], heard: Heard<unknown> | null): readonly string[] {
  return heard === null ? words : [...words.slice(0, heard.from), "|", ...words.slice(heard.to)];
}

const FILLERS: ReadonlySet<string> = new Set(
  "| for please a the table yes um uh on at we are there of us people this okay".split(" "),
);
const PEOPLE: ReadonlySet<string> = new Set([
  "people",
  "persons",
  "person",
  "guests",
  "guest",
  "adults",
  "adult",
]);

/** `expected`: a bare number counts as well. */
function hearParty(words: readonly string[], expected: boolean): Heard<number> | null {
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === "just" && words[at + 1] === "me") return { value: 1, from: at, to: at + 2 };
    const number = readNumber(words, at);
    if (number === null) continue;
    const before = words[at - 1];
    const to = at + number.length;
    const people = PEOPLE.has(words[to] ?? "") || (words[to] === "of" && words[to + 1] === "us");
    const led = before === "for" || ((before === "are" || before === "be") && number.length <= 2);
    if (people || led || expected) return { value: number.value, from: at, to: people ? to + 1 : to };
    at += number.length - 1;
  }
  return null;
}

function slotsInWords({ party, day, time }: Slots): string {
  const parts = [
    party === null ? "" : `for ${numberInWords(party)}`,
    day ?? "",
    time === null ? "" : timeInWords(time),
  ];
  return parts.filter((part) => part !== "").join(" ");
}
