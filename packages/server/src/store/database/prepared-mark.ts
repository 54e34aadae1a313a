/** Begins the text of a statement that is prepared. */
export const PREPARED_MARK = "/* prepared */";
