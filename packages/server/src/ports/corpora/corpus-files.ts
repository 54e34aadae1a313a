/** Port for the files of uploaded documents. */

/** Ids are UUIDs. */
export interface CorpusFiles {
  /** Whether every node can read what any node has written. */
  readonly isShared: boolean;
  /** Durable when it resolves; an earlier file with the same id is replaced as a whole. */
  write(documentId: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Null: there is no such file. @throws RangeError when it has more than `maxBytes` */
  read(documentId: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | null>;
  /** Idempotent. Rejects when it is not certain that the file is gone. */
  remove(documentId: string, signal: AbortSignal): Promise<void>;
}
