/** Times on the axis of a chart, UTC. */

const DAY_S = 86_400;
/** The shortest month. */
const MONTH_S = 28 * DAY_S;

const MONTH = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZone: "UTC",
});

/** Labels of marks that are `stepS` apart, only as precise as needed. */
export function axisTexts(marks: readonly number[], stepS: number): string[] {
  return marks.map((seconds) => {
    const at = new Date(seconds * 1000);
    if (stepS >= MONTH_S) return MONTH.format(at);
    return stepS >= DAY_S || seconds % DAY_S === 0 ? DAY.format(at) : TIME.format(at);
  });
}

/** Steps of an axis of whole numbers. */
export const WHOLE_STEPS: readonly number[] = Array.from({ length: 9 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();
