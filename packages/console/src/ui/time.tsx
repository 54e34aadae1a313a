/** Formats of times. */

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A time in local time, with the exact time on hover. */
export function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {DATE.format(new Date(at))}
    </time>
  );
}
