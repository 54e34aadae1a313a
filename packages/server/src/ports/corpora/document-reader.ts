/** Port for readers of documents: from the bytes of a file or page to chunks of its text. */

/** Why a document cannot be read. Stored and shown, so a code is never renamed. */
export const READ_FAILURES = [
  "unsupported_type",
  "encrypted",
  "damaged",
  "too_large",
  "too_many_pages",
  "too_much_text",
  "no_text",
  "too_slow",
  "too_much_memory",
  "reader_ended",
] as const;
export type ReadFailureCode = (typeof READ_FAILURES)[number];

/** The document cannot be read, whoever tries. The message is one sentence without text of the document. */
export class UnreadableDocument extends Error {
  override readonly name = "UnreadableDocument";
  readonly code: ReadFailureCode;

  constructor(code: ReadFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DocumentToRead {
  readonly bytes: Uint8Array;
  /** Lower case, without parameters. */
  readonly mimeType: string;
  /** Of the `Content-Type` header, such as `iso-8859-1`; null: none was given. */
  readonly charset: string | null;
  /** The address of a page, which its links are relative to; null: an uploaded file. */
  readonly url: string | null;
  /** Whose document it is. While documents of one owner wait, those of another one are read. Absent: nobody's. */
  readonly ownerId?: string;
}

export interface Chunk {
  /** The headings above the chunk, outermost first. */
  readonly headingPath: readonly string[];
  /** From 1; null: the document has no pages. A chunk over two pages has the first one. */
  readonly page: number | null;
  readonly text: string;
  /** An estimate, see `tokens.ts` of the readers. */
  readonly tokens: number;
}

export interface ReadDocument {
  readonly title: string | null;
  readonly description: string | null;
  /** ISO 8601 UTC with milliseconds. */
  readonly published: string | null;
  /** A BCP 47 tag such as `en`; null: unknown. */
  readonly language: string | null;
  /** In the order of the document; never empty, except for a list of addresses such as a sitemap. */
  readonly chunks: readonly Chunk[];
  /** Absolute http and https addresses, without fragments, each once; a page may ask that they are not followed. */
  readonly links: readonly string[];
  /** The address that a page names as its own, absolute; null: none. */
  readonly canonicalUrl: string | null;
  /** The page asks not to be found by searches. */
  readonly isHidden: boolean;
}

export interface DocumentReader {
  /** Types that `read` accepts, in lower case. */
  readonly mimeTypes: ReadonlySet<string>;
  /**
   * Ends within the limits of time and memory of the reader, whatever the bytes are.
   * @throws UnreadableDocument; what `signal` was aborted with; another error where the reader itself cannot work, after
   * which a retry may succeed
   */
  read(document: DocumentToRead, signal: AbortSignal): Promise<ReadDocument>;
  /** Idempotent. */
  close(): Promise<void>;
}
