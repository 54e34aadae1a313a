/** Encryption of single texts before they reach a column. `createSealer` of `secrets/` makes one. */
export interface Sealer {
  /** First 8 hex digits of the key's fingerprint. It identifies the key of a sealed text and discloses nothing else. */
  readonly keyId: string;
  /** `context` identifies the row and column of the text; it cannot be opened in another context. */
  readonly seal: (text: string, context: string) => string;
  /**
   * @throws SealError (`secrets/secrets.ts`) when the text was sealed with another key or for another context, or was
   * changed.
   */
  readonly open: (sealed: string, context: string) => string;
}
