/** What the service and the process of the reader send each other. */

import type {
  DocumentToRead,
  ReadDocument,
  ReadFailureCode,
} from "../../../ports/corpora/document-reader.ts";

export interface ToReader {
  readonly id: number;
  readonly document: DocumentToRead;
}

export type FromReader =
  | { readonly type: "read"; readonly id: number; readonly document: ReadDocument }
  | {
      readonly type: "unreadable";
      readonly id: number;
      readonly code: ReadFailureCode;
      readonly message: string;
    };
