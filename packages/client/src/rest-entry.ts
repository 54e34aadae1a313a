/** Only the REST API, for programs without browser types. */

export type { InputOf, Method, OutputOf, PagedPath, PathOf, RequestOptions, RowOf } from "./operations.ts";
export { ParleyError } from "./problem.ts";
export { createRestClient, type RestClient, type RestOptions } from "./rest.ts";
