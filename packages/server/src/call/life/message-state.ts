/** What has come as data messages so far. */
export interface DataMessageState {
  /** Typed texts from each sender that a call limits. */
  readonly texts: Readonly<Record<"client" | "dataConnection", number>>;
  /** Messages of the client that were refused, in whole or in part. */
  readonly refused: number;
  /** Before this no answer begins: typed texts of one tick are answered together. */
  readonly answersFromMs: number;
}

export const NO_MESSAGES: DataMessageState = {
  texts: { client: 0, dataConnection: 0 },
  refused: 0,
  answersFromMs: 0,
};
