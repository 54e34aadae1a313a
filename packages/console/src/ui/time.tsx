/** Moments and durations as people read them. */

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A moment of the interface in the reader's own time; the exact one on hover. */
export function Moment({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {DATE.format(new Date(at))}
    </time>
  );
}
