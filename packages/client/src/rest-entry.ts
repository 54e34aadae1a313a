/** Only the REST API, for programs without browser types. */

export type * from "./api/all.ts";
export type { AtMostOne, ExactlyOne } from "./choices.ts";
export type { InputOf, Method, OutputOf, PagedPath, PathOf, RowOf } from "./operations.ts";
export { ParleyError } from "./problem.ts";
export type { RequestOptions } from "./request-options.ts";
export { createRestClient, type RestClient, type RestOptions } from "./rest.ts";
