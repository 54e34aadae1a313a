/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  SipCheck,
  SipCheckRequest,
  SipConfig,
  SipConfigPatch,
  SipRegistration,
  SipRegistrationPage,
  SipRegistrationPatch,
  SipRegistrationWrite,
  SipRules,
  SipRulesPatch,
} from "../records/sip.ts";

/** Get the SIP configuration: `GET /api/sip`. Needs the scope `read`. */
export type GetSipConfigInput = RequestOptions;

/** Change the SIP configuration: `PATCH /api/sip`. Needs the scope `admin`. */
export interface UpdateSipConfigInput extends RequestOptions {
  readonly body?: SipConfigPatch | undefined;
}

/** Get the rules for calls over SIP: `GET /api/sip/rules`. Needs the scope `read`. */
export type GetSipRulesInput = RequestOptions;

/** Change the rules for calls over SIP: `PATCH /api/sip/rules`. Needs the scope `admin`. */
export interface UpdateSipRulesInput extends RequestOptions {
  readonly body?: SipRulesPatch | undefined;
}

/**
 * Check the SIP configuration, and whether a trunk answers: `POST /api/sip/check`. Needs the scope `calls`.
 */
export interface CheckSipInput extends RequestOptions {
  readonly body?: SipCheckRequest | undefined;
}

/** List SIP registrations: `GET /api/sip/registrations`. Needs the scope `read`. */
export interface ListSipRegistrationsInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** Create a SIP registration: `POST /api/sip/registrations`. Needs the scope `admin`. */
export interface CreateSipRegistrationInput extends RequestOptions {
  readonly body: SipRegistrationWrite;
}

/** Get a SIP registration: `GET /api/sip/registrations/{registration_id}`. Needs the scope `read`. */
export interface GetSipRegistrationInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    registration_id: string;
  };
}

/** Change a SIP registration: `PATCH /api/sip/registrations/{registration_id}`. Needs the scope `admin`. */
export interface UpdateSipRegistrationInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    registration_id: string;
  };
  readonly body?: SipRegistrationPatch | undefined;
}

/** Delete a SIP registration: `DELETE /api/sip/registrations/{registration_id}`. Needs the scope `admin`. */
export interface DeleteSipRegistrationInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    registration_id: string;
  };
}

/**
 * Ask the registrar with the stored password, without registering: `POST
 * /api/sip/registrations/{registration_id}/check`. Needs the scope `calls`.
 */
export interface CheckSipRegistrationInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    registration_id: string;
  };
}

export interface SipOperations {
  /** Get the SIP configuration. */
  "GET /api/sip": { input: GetSipConfigInput; output: SipConfig };
  /** Change the SIP configuration. */
  "PATCH /api/sip": { input: UpdateSipConfigInput; output: SipConfig };
  /** Get the rules for calls over SIP. */
  "GET /api/sip/rules": { input: GetSipRulesInput; output: SipRules };
  /** Change the rules for calls over SIP. */
  "PATCH /api/sip/rules": { input: UpdateSipRulesInput; output: SipRules };
  /** Check the SIP configuration, and whether a trunk answers. */
  "POST /api/sip/check": { input: CheckSipInput; output: SipCheck };
  /** List SIP registrations. */
  "GET /api/sip/registrations": { input: ListSipRegistrationsInput; output: SipRegistrationPage; row: SipRegistration };
  /** Create a SIP registration. */
  "POST /api/sip/registrations": { input: CreateSipRegistrationInput; output: SipRegistration };
  /** Get a SIP registration. */
  "GET /api/sip/registrations/{registration_id}": { input: GetSipRegistrationInput; output: SipRegistration };
  /** Change a SIP registration. */
  "PATCH /api/sip/registrations/{registration_id}": { input: UpdateSipRegistrationInput; output: SipRegistration };
  /** Delete a SIP registration. */
  "DELETE /api/sip/registrations/{registration_id}": { input: DeleteSipRegistrationInput; output: undefined };
  /** Ask the registrar with the stored password, without registering. */
  "POST /api/sip/registrations/{registration_id}/check": { input: CheckSipRegistrationInput; output: SipCheck };
}
