/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  Call,
} from "./calls.ts";
import type {
  BaseToolDefinition,
} from "./definitions.ts";

/**
 * A tool. Secret header values in its definition are masked. Public tools run inside the service, so their
 * definitions have no address.
 */
export interface Tool {
  /** A UUID. */
  toolId: string;
  /** At most 40 characters. */
  name: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  definition: BaseToolDefinition;
  ownership: "public" | "private";
}

/** A call that had a tool. */
export interface ToolHistory {
  call: Call;
  /** Failed invocations of the tool in this call. At least 0. */
  errorCount: number;
}

export interface ToolHistoryPage {
  results: ToolHistory[];
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

export interface ToolPage {
  results: Tool[];
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

/** The body that creates or replaces a tool. A masked header value means the stored value. */
export interface ToolWrite {
  /** At most 40 characters. */
  name: string;
  definition: BaseToolDefinition;
}
