/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  AccountTelephonyConfig,
  AccountTelephonyConfigPatch,
  CallDial,
  DiallingRules,
  DiallingRulesPatch,
  DiallingUse,
  PhoneNumber,
  PhoneNumberPage,
  PhoneNumberWrite,
  TelephonyCheck,
  TelephonyConfig,
  TelephonyConfigPatch,
  TelephonyConfigWrite,
  TelephonyUrls,
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
 * Ask the carrier whether its configuration works: `POST /api/telephony_configs/{carrier}/check`. Needs the
 * scope `calls`.
 */
export interface CheckTelephonyConfigInput extends RequestOptions {
  readonly params: {
    /** telephony1, telephony2 or telephony3. */
    carrier: string;
  };
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

/**
 * Start a call of the agent that answers the called number, by the webhook of a carrier: `POST
 * /api/accounts/{account_id}/telephony_xml`. Needs no API key.
 */
export interface AnswerCarrierNumberInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    account_id: string;
  };
}

/** Get what the account may dial: `GET /api/accounts/me/dialling_rules`. Needs the scope `read`. */
export type GetDiallingRulesInput = RequestOptions;

/** Change what the account may dial: `PATCH /api/accounts/me/dialling_rules`. Needs the scope `admin`. */
export interface UpdateDiallingRulesInput extends RequestOptions {
  readonly body?: DiallingRulesPatch | undefined;
}

/**
 * Get the calls and minutes that were dialled within the last 24 hours: `GET /api/accounts/me/dialling_use`.
 * Needs the scope `read`.
 */
export type GetDiallingUseInput = RequestOptions;

/**
 * Get the URLs to enter at a carrier for calls that come in: `GET /api/accounts/me/telephony_urls`. Needs the
 * scope `read`.
 */
export type GetTelephonyUrlsInput = RequestOptions;

/**
 * Get the progress of a dialled call at its carrier, which is kept for two days: `GET
 * /api/calls/{call_id}/dial`. Needs the scope `read`.
 */
export interface GetCallDialInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/** Stop dialling; the call ends as unjoined: `DELETE /api/calls/{call_id}/dial`. Needs the scope `calls`. */
export interface CancelCallDialInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/**
 * List the numbers of the account and the agents that answer them: `GET /api/phone_numbers`. Needs the scope
 * `read`.
 */
export interface ListPhoneNumbersInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * Let an agent answer calls to a number; a number that has an agent gets the new one: `POST
 * /api/phone_numbers`. Needs the scope `admin`.
 */
export interface AssignPhoneNumberInput extends RequestOptions {
  readonly body: PhoneNumberWrite;
}

/**
 * Remove a number; no agent answers it any more: `DELETE /api/phone_numbers/{number}`. Needs the scope
 * `admin`.
 */
export interface RemovePhoneNumberInput extends RequestOptions {
  readonly params: {
    /** At most 256 characters. */
    number: string;
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
  /** Ask the carrier whether its configuration works. */
  "POST /api/telephony_configs/{carrier}/check": { input: CheckTelephonyConfigInput; output: TelephonyCheck };
  /** Start a call of an agent, by the webhook of a carrier; its signature is the credential. */
  "POST /api/agents/{agent_id}/telephony_xml": { input: AnswerCarrierInput; output: Response };
  /** Start a call of the agent that answers the called number, by the webhook of a carrier. */
  "POST /api/accounts/{account_id}/telephony_xml": { input: AnswerCarrierNumberInput; output: Response };
  /** Get what the account may dial. */
  "GET /api/accounts/me/dialling_rules": { input: GetDiallingRulesInput; output: DiallingRules };
  /** Change what the account may dial. */
  "PATCH /api/accounts/me/dialling_rules": { input: UpdateDiallingRulesInput; output: DiallingRules };
  /** Get the calls and minutes that were dialled within the last 24 hours. */
  "GET /api/accounts/me/dialling_use": { input: GetDiallingUseInput; output: DiallingUse };
  /** Get the URLs to enter at a carrier for calls that come in. */
  "GET /api/accounts/me/telephony_urls": { input: GetTelephonyUrlsInput; output: TelephonyUrls };
  /** Get the progress of a dialled call at its carrier, which is kept for two days. */
  "GET /api/calls/{call_id}/dial": { input: GetCallDialInput; output: CallDial };
  /** Stop dialling; the call ends as unjoined. */
  "DELETE /api/calls/{call_id}/dial": { input: CancelCallDialInput; output: undefined };
  /** List the numbers of the account and the agents that answer them. */
  "GET /api/phone_numbers": { input: ListPhoneNumbersInput; output: PhoneNumberPage; row: PhoneNumber };
  /** Let an agent answer calls to a number; a number that has an agent gets the new one. */
  "POST /api/phone_numbers": { input: AssignPhoneNumberInput; output: PhoneNumber };
  /** Remove a number; no agent answers it any more. */
  "DELETE /api/phone_numbers/{number}": { input: RemovePhoneNumberInput; output: undefined };
}
