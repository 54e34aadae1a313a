/** Formats of figures and times in charts and tables. */

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
  hourCycle: "h23",
  timeZone: "UTC",
});
const MINUTES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const HUNDREDTHS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const SHARE = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

export function dayText(seconds: number): string {
  return DAY.format(seconds * 1000);
}

export function timeText(seconds: number): string {
  return MOMENT.format(seconds * 1000);
}

export function countText(count: number): string {
  return count.toLocaleString();
}

/** Less than a minute has two digits: the axis of a quiet day has steps of 0.05. */
export function minutesText(minutes: number): string {
  return (minutes < 1 ? HUNDREDTHS : MINUTES).format(minutes);
}

export function averageText(calls: number): string {
  return HUNDREDTHS.format(calls);
}

export function shareText(part: number, whole: number): string {
  return whole === 0 ? "–" : SHARE.format(part / whole);
}
