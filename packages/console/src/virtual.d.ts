/** Made by `build/field-notes.ts`: what the interface says about the fields of a schema. */
declare module "virtual:field-notes/*" {
  export const notes: Readonly<
    Record<
      string,
      {
        readonly hint?: string;
        readonly byDefault?: string | number | boolean;
        readonly min?: number | string;
        readonly max?: number | string;
        readonly minLength?: number;
        readonly maxLength?: number;
        readonly maxItems?: number;
        readonly choices?: readonly string[];
      }
    >
  >;
}

/** What the console uses of it. Its own types would bring those of Node to the page. */
declare module "papaparse" {
  interface ParseConfig {
    /** Empty: guessed. */
    readonly delimiter?: string;
    /** Empty: guessed. */
    readonly newline?: "\r" | "\n" | "\r\n" | "";
    /** So many rows. */
    readonly preview?: number;
    readonly fastMode?: boolean;
    readonly skipEmptyLines?: boolean | "greedy";
  }
  interface ParseResult {
    readonly data: readonly (readonly string[])[];
    readonly errors: readonly {
      readonly type: string;
      readonly code: string;
      readonly message: string;
      readonly row?: number;
    }[];
    readonly meta: {
      readonly delimiter: string;
      readonly linebreak: "\r" | "\n" | "\r\n";
      /** Where the rows end in the text. */
      readonly cursor: number;
      /** There is more than `preview`. */
      readonly truncated: boolean;
    };
  }
  const Papa: { parse(text: string, config: ParseConfig): ParseResult };
  export = Papa;
}
