/** Port for models that read a question together with passages, and say how well each one answers it. */

export interface Reranker {
  /** As its server names it. */
  readonly model: string;
  /** Passages of one request, at most. */
  readonly maxTexts: number;
  /**
   * A score from 0 to 1 for each passage, in their order; higher is a better answer.
   * @throws EngineFailure with a sentence that contains neither texts nor keys; an `AbortError` when `signal` aborts
   */
  rerank(query: string, texts: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
}
