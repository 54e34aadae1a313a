/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

export interface ModelAlias {
  name: string;
  /** With the built-in demo engines: phrases that a call understands. Null: all speech. */
  examplePhrases: string[] | null;
}

export interface ModelAliasPage {
  results: ModelAlias[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface ListNameAliasesOutput {
  voices: Array<{
    /** What a call may give as its voice or model. `*`: every name that is unknown otherwise. */
    name: string;
    /** A name of this deployment, or `default`. */
    target: string;
  }>;
  models: Array<{
    /** What a call may give as its voice or model. `*`: every name that is unknown otherwise. */
    name: string;
    /** A name of this deployment, or `default`. */
    target: string;
  }>;
}
