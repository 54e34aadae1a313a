/** The REST interface alone, for programs without a browser's types. */

export type { InputOf, Method, OutputOf, PagedPath, PathOf, RequestOptions, RowOf } from "./operations.ts";
export { ParleyError } from "./problem.ts";
export { createRestClient, type RestClient, type RestOptions } from "./rest.ts";
