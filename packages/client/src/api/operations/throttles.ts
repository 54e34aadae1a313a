/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  CallThrottle,
  CallThrottlePage,
  CallThrottlePatch,
  CallThrottleWrite,
} from "../records/throttles.ts";

/** List call throttles: `GET /api/call_throttles`. Needs the scope `read`. */
export interface ListCallThrottlesInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * Create a call throttle, for the `throttle` parameter of requests that create calls: `POST
 * /api/call_throttles`. Needs the scope `admin`.
 */
export interface CreateCallThrottleInput extends RequestOptions {
  readonly body: CallThrottleWrite;
}

/** Get a call throttle: `GET /api/call_throttles/{throttle_id}`. Needs the scope `read`. */
export interface GetCallThrottleInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    throttle_id: string;
  };
}

/**
 * Replace a call throttle; calls created with it before count towards the new rules: `PUT
 * /api/call_throttles/{throttle_id}`. Needs the scope `admin`.
 */
export interface ReplaceCallThrottleInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    throttle_id: string;
  };
  readonly body: CallThrottleWrite;
}

/**
 * Change a call throttle; `rules` replaces the whole stored list: `PATCH /api/call_throttles/{throttle_id}`.
 * Needs the scope `admin`.
 */
export interface UpdateCallThrottleInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    throttle_id: string;
  };
  readonly body?: CallThrottlePatch | undefined;
}

/**
 * Delete a call throttle; requests that name it are refused afterwards: `DELETE
 * /api/call_throttles/{throttle_id}`. Needs the scope `admin`.
 */
export interface DeleteCallThrottleInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    throttle_id: string;
  };
}

export interface ThrottlesOperations {
  /** List call throttles. */
  "GET /api/call_throttles": { input: ListCallThrottlesInput; output: CallThrottlePage; row: CallThrottle };
  /** Create a call throttle, for the `throttle` parameter of requests that create calls. */
  "POST /api/call_throttles": { input: CreateCallThrottleInput; output: CallThrottle };
  /** Get a call throttle. */
  "GET /api/call_throttles/{throttle_id}": { input: GetCallThrottleInput; output: CallThrottle };
  /** Replace a call throttle; calls created with it before count towards the new rules. */
  "PUT /api/call_throttles/{throttle_id}": { input: ReplaceCallThrottleInput; output: CallThrottle };
  /** Change a call throttle; `rules` replaces the whole stored list. */
  "PATCH /api/call_throttles/{throttle_id}": { input: UpdateCallThrottleInput; output: CallThrottle };
  /** Delete a call throttle; requests that name it are refused afterwards. */
  "DELETE /api/call_throttles/{throttle_id}": { input: DeleteCallThrottleInput; output: undefined };
}
