/** What every request of the REST API may have. */

export interface RequestOptions {
  /** Aborts the request; the service may still complete it. */
  readonly signal?: AbortSignal;
  /** Makes a repeated POST safe for a day: it gets the first response again. */
  readonly idempotencyKey?: string;
  /** The key of the deployment's operator, for operations of the deployment. */
  readonly operatorKey?: string;
  /** Called with the headers of a successful response, before its body is read. */
  readonly onHeaders?: (headers: Headers) => void;
}
