/** The calling hours: when people may be called. */

import type { CallingHours } from "@parley/schema";

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const MINUTES_OF_DAY = 1_440;
const MINUTE_MS = 60_000;
/** Steps to a time that is allowed in all zones: a week has seven days, and each may need two. */
const MAX_STEPS = 16;
/** Limit of the cached formats. Making one takes tens of microseconds; there are some 400 zones. */
const MAX_FORMATS = 500;

/** A cache of formats: making one is expensive, using one is not. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  if (formats.size >= MAX_FORMATS) formats.clear();
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  formats.set(timeZone, made);
  return made;
}

interface LocalTime {
  /** 0 is Sunday. */
  readonly day: number;
  /** Since midnight. */
  readonly minutes: number;
}

function localTime(timeZone: string, atMs: number): LocalTime {
  const parts = formatOf(timeZone).formatToParts(atMs);
  const partOf = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((part) => part.type === type)?.value ?? "";
  const weekday = partOf("weekday").toLowerCase();
  return {
    day: Math.max(0, DAYS.indexOf(weekday as (typeof DAYS)[number])),
    minutes: Number(partOf("hour")) * 60 + Number(partOf("minute")),
  };
}

function minutesOf(time: string): number {
  const [hours = "0", minutes = "0"] = time.split(":");
  return Number(hours) * 60 + Number(minutes);
}

/** Ms until the hours begin in one zone; 0 within them. */
function untilOpen(hours: CallingHours, timeZone: string, atMs: number): number {
  const { day, minutes } = localTime(timeZone, atMs);
  const [start, end] = [minutesOf(hours.start), minutesOf(hours.end)];
  const isDay = (offset: number): boolean =>
    hours.days.some((one) => one === DAYS[(day + offset) % DAYS.length]);
  if (isDay(0) && minutes >= start && minutes < end) return 0;
  const first = isDay(0) && minutes < start ? 0 : 1;
  for (let offset = first; offset <= DAYS.length; offset += 1) {
    if (!isDay(offset)) continue;
    const intoMinute = atMs % MINUTE_MS;
    const waitMs = (offset * MINUTES_OF_DAY + start - minutes) * MINUTE_MS - intoMinute;
    // The clock may change in between, by an hour or so at most; this corrects for it.
    const arrived = localTime(timeZone, atMs + waitMs);
    const early = start - arrived.minutes;
    return Math.max(1, waitMs + (Math.abs(early) <= 120 ? early * MINUTE_MS : 0));
  }
  return DAYS.length * MINUTES_OF_DAY * MINUTE_MS;
}

/**
 * Ms until the time is within the hours in all of these zones; 0: it is now. Null: it never is, because the zones are
 * too far apart.
 */
export function untilCallable(
  hours: CallingHours,
  timeZones: readonly string[],
  nowMs: number,
): number | null {
  let atMs = nowMs;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const waitMs = Math.max(...timeZones.map((timeZone) => untilOpen(hours, timeZone, atMs)));
    if (waitMs === 0) return atMs - nowMs;
    atMs += waitMs;
  }
  return null;
}
