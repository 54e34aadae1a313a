/** What shows that a row of the interface behaves as it says. */

/** `requests`: the row's own requests show all that it says. `test`: another test, by its file and whole title. */
export type Shown =
  | { readonly kind: "requests"; readonly what: string }
  | { readonly kind: "test"; readonly file: string; readonly title: string }
  /** Nothing shows it; the text says what is missing. */
  | { readonly kind: "missing"; readonly what: string };

export type ShownRows<Row extends string> = Readonly<Record<Row, readonly Shown[]>>;

/** Of the rows that these rules have. */
export type RowsOf<R> = ShownRows<keyof R & string>;

/** The row says what is refused, and its requests are refused. */
export const REFUSED: Shown = { kind: "requests", what: "its requests are refused" };
/** The row says that a value is kept, and it is read back. */
export const KEPT: Shown = { kind: "requests", what: "the value is kept and read back" };

/** The row is about what requests do, and its own do so. */
export function requests(what: string): Shown {
  return { kind: "requests", what };
}

export function missing(what: string): Shown {
  return { kind: "missing", what };
}

export function shownBy(file: string, ...titles: readonly string[]): readonly Shown[] {
  return titles.map((title) => ({ kind: "test", file: `packages/server/${file}`, title }));
}
