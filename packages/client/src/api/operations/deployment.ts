/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  GetEnginesOutput,
  ListLocalServersRow,
  TestEngineBody,
  TestEngineOutput,
  UpdateEnginesBody,
} from "../records/deployment.ts";

/**
 * Get the engines that new calls use, and what chose them: `GET /api/deployment/engines`. Needs the scope
 * `read`.
 */
export type GetEnginesInput = RequestOptions;

/**
 * Change the engines of new calls; needs the operator key: `PATCH /api/deployment/engines`. Needs the scope
 * `admin`.
 */
export interface UpdateEnginesInput extends RequestOptions {
  readonly body?: UpdateEnginesBody | undefined;
}

/**
 * Use an engine once, and measure how long it takes: `POST /api/deployment/engines/test`. Needs the scope
 * `calls`.
 */
export interface TestEngineInput extends RequestOptions {
  readonly body: TestEngineBody;
}

/**
 * Look for model servers at their usual ports on the machine of the service: `GET
 * /api/deployment/local_servers`. Needs the scope `read`.
 */
export type ListLocalServersInput = RequestOptions;

export interface DeploymentOperations {
  /** Get the engines that new calls use, and what chose them. */
  "GET /api/deployment/engines": { input: GetEnginesInput; output: GetEnginesOutput };
  /** Change the engines of new calls; needs the operator key. */
  "PATCH /api/deployment/engines": { input: UpdateEnginesInput; output: GetEnginesOutput };
  /** Use an engine once, and measure how long it takes. */
  "POST /api/deployment/engines/test": { input: TestEngineInput; output: TestEngineOutput };
  /** Look for model servers at their usual ports on the machine of the service. */
  "GET /api/deployment/local_servers": { input: ListLocalServersInput; output: ListLocalServersRow[] };
}
