/** Port for models that turn texts into vectors, so that near vectors stand for near meanings. */

/** Some models are told which side of a comparison a text is on. */
export type EmbeddedText = "document" | "query";

/** Vectors with more numbers than this are refused: no common model has more, and pgvector's indexes end here. */
export const MAX_DIMENSIONS = 4_000;

/** The type of the `EngineFailure` of a text whose vector is zero: other texts of the request may have one. */
export const NO_DIRECTION = "no_direction";

export interface Embedder {
  /** As its server names it. */
  readonly model: string;
  /**
   * What else the vectors depend on, such as the server's address. Vectors of two embedders are compared with each other
   * only if both `model` and `basis` are equal. It contains no secret.
   */
  readonly basis: string;
  /** Texts of one request, at most. */
  readonly maxTexts: number;
  /**
   * One vector of length 1 for each text, in their order, all with the same number of dimensions, 1 to `MAX_DIMENSIONS`.
   * Texts that are longer than the model reads are cut.
   * @param model another model of the same server, for vectors that it has made earlier
   * @throws EngineFailure with a sentence that contains neither texts nor keys; an `AbortError` when `signal` aborts
   */
  embed(
    texts: readonly string[],
    kind: EmbeddedText,
    signal: AbortSignal,
    model?: string,
  ): Promise<readonly Float32Array[]>;
}

/** The vector with length 1; null: it has no direction, or a number that is none. */
export function unitVector(numbers: ArrayLike<number>): Float32Array | null {
  let squares = 0;
  for (let place = 0; place < numbers.length; place += 1) squares += (numbers[place] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return null;
  return Float32Array.from(numbers, (number) => number / length);
}
