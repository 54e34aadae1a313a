/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  ListNameAliasesOutput,
  ModelAlias,
  ModelAliasPage,
} from "../records/about.ts";

/** List the models: `GET /api/models`. Needs the scope `read`. */
export interface ListModelsInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** List the further names of voices and models: `GET /api/name_aliases`. Needs the scope `read`. */
export type ListNameAliasesInput = RequestOptions;

/** Get this OpenAPI document: `GET /api/schema/`. Needs no API key. */
export interface GetDescriptionInput extends RequestOptions {
  readonly query?: {
    format?: "json" | "yaml" | undefined;
    /** Has no effect. */
    lang?: string | undefined;
  } | undefined;
}

export interface AboutOperations {
  /** List the models. */
  "GET /api/models": { input: ListModelsInput; output: ModelAliasPage; row: ModelAlias };
  /** List the further names of voices and models. */
  "GET /api/name_aliases": { input: ListNameAliasesInput; output: ListNameAliasesOutput };
  /** Get this OpenAPI document. */
  "GET /api/schema/": { input: GetDescriptionInput; output: Record<string, unknown> };
}
