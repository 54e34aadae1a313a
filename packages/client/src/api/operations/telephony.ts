/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  AccountTelephonyConfig,
  AccountTelephonyConfigPatch,
  TelephonyConfig,
  TelephonyConfigPatch,
  TelephonyConfigWrite,
} from "../records/telephony.ts";

/** Get the configuration of a carrier: `GET /api/telephony_configs/{carrier}`. Needs the scope `read`. */
export interface GetTelephonyConfigInput extends RequestOptions {
  readonly params: {
    /** telephony1, telephony2 or telephony3. */
    carrier: string;
  };
}

/** Configure a carrier: `POST /api/telephony_configs/{carrier}`. Needs the scope `admin`. */
export interface CreateTelephonyConfigInput extends RequestOptions {
  readonly params: {
    /** telephony1, telephony2 or telephony3. */
    carrier: string;
  };
  readonly body: TelephonyConfigWrite;
}

/**
 * Change the configuration of a carrier: `PATCH /api/telephony_configs/{carrier}`. Needs the scope `admin`.
 */
export interface UpdateTelephonyConfigInput extends RequestOptions {
  readonly params: {
    /** telephony1, telephony2 or telephony3. */
    carrier: string;
  };
  readonly body?: TelephonyConfigPatch | undefined;
}

/**
 * Delete the configuration of a carrier, including its secrets: `DELETE /api/telephony_configs/{carrier}`.
 * Needs the scope `admin`.
 */
export interface DeleteTelephonyConfigInput extends RequestOptions {
  readonly params: {
    /** telephony1, telephony2 or telephony3. */
    carrier: string;
  };
}

/**
 * Get the configuration of all carriers: `GET /api/accounts/me/telephony_config`. Needs the scope `read`.
 */
export type GetAccountTelephonyConfigInput = RequestOptions;

/**
 * Change several carriers at once; null removes a carrier, absent carriers stay unchanged: `PATCH
 * /api/accounts/me/telephony_config`. Needs the scope `admin`.
 */
export interface UpdateAccountTelephonyConfigInput extends RequestOptions {
  readonly body?: AccountTelephonyConfigPatch | undefined;
}

/**
 * Start a call of an agent, by the webhook of a carrier; its signature is the credential: `POST
 * /api/agents/{agent_id}/telephony_xml`. Needs no API key.
 */
export interface AnswerCarrierInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
}

export interface TelephonyOperations {
  /** Get the configuration of a carrier. */
  "GET /api/telephony_configs/{carrier}": { input: GetTelephonyConfigInput; output: TelephonyConfig };
  /** Configure a carrier. */
  "POST /api/telephony_configs/{carrier}": { input: CreateTelephonyConfigInput; output: TelephonyConfig };
  /** Change the configuration of a carrier. */
  "PATCH /api/telephony_configs/{carrier}": { input: UpdateTelephonyConfigInput; output: TelephonyConfig };
  /** Delete the configuration of a carrier, including its secrets. */
  "DELETE /api/telephony_configs/{carrier}": { input: DeleteTelephonyConfigInput; output: undefined };
  /** Get the configuration of all carriers. */
  "GET /api/accounts/me/telephony_config": { input: GetAccountTelephonyConfigInput; output: AccountTelephonyConfig };
  /** Change several carriers at once; null removes a carrier, absent carriers stay unchanged. */
  "PATCH /api/accounts/me/telephony_config": { input: UpdateAccountTelephonyConfigInput; output: AccountTelephonyConfig };
  /** Start a call of an agent, by the webhook of a carrier; its signature is the credential. */
  "POST /api/agents/{agent_id}/telephony_xml": { input: AnswerCarrierInput; output: Response };
}
