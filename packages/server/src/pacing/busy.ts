/** Work that was asked for while too much of it is waiting. */
export class BusyError extends Error {
  override readonly name = "BusyError";
  readonly retryAfterMs: number;

  /** `message` is a sentence for the person who asked. */
  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
