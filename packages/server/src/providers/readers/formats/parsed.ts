/** What the reader of a format makes of a document, before it is divided into chunks. */

import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import type { Block } from "../chunks/blocks.ts";

export interface Parsed {
  readonly blocks: readonly Block[];
  readonly title?: string | null;
  readonly description?: string | null;
  readonly published?: string | null;
  readonly language?: string | null;
  readonly links?: readonly string[];
  readonly canonicalUrl?: string | null;
  readonly isHidden?: boolean;
  /** It holds addresses in place of text. */
  readonly isList?: boolean;
}

export interface Input {
  readonly bytes: Uint8Array;
  readonly charset: string | null;
  readonly url: string | null;
}

export type ReadFormat = (input: Input) => Parsed | Promise<Parsed>;

export function damaged(what: string): UnreadableDocument {
  return new UnreadableDocument("damaged", `The file is damaged: ${what}.`);
}

export function encrypted(): UnreadableDocument {
  return new UnreadableDocument("encrypted", "The file is encrypted or needs a password.");
}
