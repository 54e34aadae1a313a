/** Days and times of day as callers say them. Pure. */

import { numberInWords, ordinalInWords, readNumber, readOrdinal } from "./words.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
// prettier-ignore
const MONTHS = [
  "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
  "december",
];

export interface Heard<T> {
  readonly value: T;
  readonly from: number;
  /** The index of the word after it. */
  readonly to: number;
}

/** The first day, as it is repeated to the caller, such as "tomorrow" or "on the twelfth of March"; or null. */
export function hearDay(words: readonly string[]): Heard<string> | null {
  for (let at = 0; at < words.length; at += 1) {
    const heard = dayAt(words, at);
    if (heard !== null) return { value: heard.value, from: at, to: at + heard.length };
  }
  return null;
}

function dayAt(words: readonly string[], at: number): { value: string; length: number } | null {
  const [word = "", next = "", third = ""] = words.slice(at, at + 3);
  if (word === "the" && next === "day" && third === "after" && words[at + 3] === "tomorrow")
    return { value: "the day after tomorrow", length: 4 };
  if (word === "today") return { value: "today", length: 1 };
  if (word === "tonight" || (word === "this" && next === "evening"))
    return { value: "tonight", length: word === "this" ? 2 : 1 };
  if (word === "tomorrow") return { value: "tomorrow", length: isDaytime(next) ? 2 : 1 };
  if (WEEKDAYS.includes(word)) {
    const before = words[at - 1] === "next" ? "next" : "on";
    return { value: `${before} ${capital(word)}`, length: isDaytime(next) ? 2 : 1 };
  }
  return dateAt(words, at);
}

/** "the twelfth of march", "march the twelfth", "march 12". */
function dateAt(words: readonly string[], at: number): { value: string; length: number } | null {
  const day = readOrdinal(words, at);
  if (day !== null) {
    const joint = words[at + day.length] === "of" ? 1 : 0;
    const month = words[at + day.length + joint] ?? "";
    return MONTHS.includes(month) ? date(day.value, month, day.length + joint + 1) : null;
  }
  const month = words[at] ?? "";
  if (!MONTHS.includes(month)) return null;
  const joint = words[at + 1] === "the" ? 1 : 0;
  const number =
    readOrdinal(words, at + 1 + joint) ?? (month === "may" ? null : readNumber(words, at + 1 + joint));
  if (number === null || number.value < 1 || number.value > 31) return null;
  return date(number.value, month, 1 + joint + number.length);
}

function date(day: number, month: string, length: number): { value: string; length: number } {
  return { value: `on the ${ordinalInWords(day)} of ${capital(month)}`, length };
}

function isDaytime(word: string): boolean {
  return word === "morning" || word === "afternoon" || word === "evening" || word === "night";
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

export interface ClockTime {
  /** 0..23 */
  readonly hour: number;
  readonly minute: number;
}

/**
 * The first time of day, or null. A plain hour counts only where `expected`. Without "a m" or "in the morning", hours
 * from one to eleven are in the afternoon or evening, because tables are booked for then.
 */
export function hearTime(words: readonly string[], expected: boolean): Heard<ClockTime> | null {
  for (let at = 0; at < words.length; at += 1) {
    const led = ["at", "around", "by"].includes(words[at] ?? "");
    const start = led ? at + 1 : at;
    const clock = clockAt(words, start);
    if (clock === null || (!led && !clock.sure && !expected)) continue;
    return { value: clock.value, from: at, to: start + clock.length };
  }
  return null;
}

interface Clock {
  readonly value: ClockTime;
  readonly length: number;
  /** Words that occur only with a time. */
  readonly sure: boolean;
}

function clockAt(words: readonly string[], at: number): Clock | null {
  const word = words[at] ?? "";
  if (word === "noon") return { value: { hour: 12, minute: 0 }, length: 1, sure: true };
  if (word === "midnight") return { value: { hour: 0, minute: 0 }, length: 1, sure: true };
  const past = pastHour(words, at);
  if (past !== null) return withDaytime(words, at, past.hour, past.minute, past.length, true);
  const figures = /^(\d{1,2}):(\d\d)$/.exec(word);
  if (figures !== null) return withDaytime(words, at, Number(figures[1]), Number(figures[2]), 1, true);
  const hour = readNumber(words, at);
  if (hour === null || hour.length > 1) return null;
  const minute = readNumber(words, at + 1);
  const paired = minute !== null && minute.value >= 10 && minute.value <= 59;
  const length = paired ? 1 + minute.length : 1;
  return withDaytime(words, at, hour.value, paired ? minute.value : 0, length, paired);
}

/** "half past seven", "quarter to eight". */
function pastHour(
  words: readonly string[],
  at: number,
): { hour: number; minute: number; length: number } | null {
  const start = words[at] === "a" ? at + 1 : at;
  const minutes = words[start] === "half" ? 30 : words[start] === "quarter" ? 15 : null;
  const joint = words[start + 1];
  const hour = readNumber(words, start + 2);
  if (minutes === null || hour === null || hour.value > 12 || (joint !== "past" && joint !== "to"))
    return null;
  const length = start - at + 2 + hour.length;
  if (joint === "past") return { hour: hour.value, minute: minutes, length };
  return { hour: hour.value === 1 ? 12 : hour.value - 1, minute: 60 - minutes, length };
}

function withDaytime(
  words: readonly string[],
  at: number,
  said: number,
  minute: number,
  length: number,
  sure: boolean,
): Clock | null {
  if (said > 23 || minute > 59) return null;
  let to = at + length;
  const oclock = words[to] === "o'clock" || words[to] === "oclock";
  if (oclock) to += 1;
  const [word = "", next = "", third = ""] = words.slice(to, to + 3);
  const daytime =
    word === "am" || word === "pm"
      ? word
      : word === "in" && next === "the" && isDaytime(third)
        ? third
        : null;
  if (daytime !== null) to += daytime === word ? 1 : 3;
  const morning = daytime === "am" || daytime === "morning";
  const hour = morning ? said % 12 : said >= 1 && said <= 11 ? said + 12 : said;
  return { value: { hour, minute }, length: to - at, sure: sure || oclock || daytime !== null };
}

/** "at seven thirty in the evening". */
export function timeInWords({ hour, minute }: ClockTime): string {
  if (minute === 0 && hour === 12) return "at noon";
  if (minute === 0 && hour === 0) return "at midnight";
  const small = minute > 0 && minute < 10 ? `oh ${numberInWords(minute)}` : numberInWords(minute);
  const clock = `${numberInWords(hour % 12 === 0 ? 12 : hour % 12)}${minute === 0 ? "" : ` ${small}`}`;
  const daytime = hour < 12 ? "in the morning" : hour < 18 ? "in the afternoon" : "in the evening";
  return `at ${clock} ${daytime}`;
}
