/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

export interface SipConfigPatch {
  /** Source addresses that may call. At most 100 entries. */
  allowedCidrRanges?: string[] | null | undefined;
  /** Whether all agents can be called, at `agent_{agent_id}`. */
  allowAllAgents?: boolean | null | undefined;
  /** Agents that can be called. The first matching pattern applies. At most 20 entries. */
  allowedAgents?:
    | Array<{
      /** A UUID. */
      agentId: string;
      /**
       * A regular expression that must match the whole user part of the called address. No back-references or
       * look-around. At most 200 characters.
       */
      toUserPattern?: string | undefined;
    }>
    | null
    | undefined;
  fallbackHandler?:
    | {
      /** A URL. At most 2048 characters. */
      url: string;
      /**
       * Sign the requests. Absent: the stored secrets stay; if there are none, the service makes one. At most
       * 10 entries.
       */
      secrets?: string[] | undefined;
    }
    | null
    | undefined;
}

export interface SipRegistrationWrite {
  /** At most 60 characters. */
  username: string;
  /** At most 200 characters. Never returned. */
  password: string;
  /** At most 100 characters. */
  proxy: string;
  /** At most 100 characters. */
  outboundProxy?: string | undefined;
  /** Unset: the username. At most 60 characters. */
  authUser?: string | undefined;
}

export interface SipRegistrationPatch {
  /** At most 60 characters. */
  username?: string | null | undefined;
  /** At most 200 characters. Never returned. */
  password?: string | null | undefined;
  /** At most 100 characters. */
  proxy?: string | null | undefined;
  /** At most 100 characters. */
  outboundProxy?: string | null | undefined;
  /** At most 60 characters. */
  authUser?: string | null | undefined;
}

export interface SipConfig {
  /** Source addresses that may call. At most 100 entries. */
  allowedCidrRanges: string[];
  /** Whether all agents can be called, at `agent_{agent_id}`. */
  allowAllAgents: boolean;
  /** Agents that can be called. The first matching pattern applies. At most 20 entries. */
  allowedAgents: Array<{
    /** A UUID. */
    agentId: string;
    /**
     * A regular expression that must match the whole user part of the called address. No back-references or
     * look-around. At most 200 characters.
     */
    toUserPattern?: string | undefined;
  }>;
  /** Receives a request for each call that names no agent. */
  fallbackHandler: {
    /** A URL. At most 2048 characters. */
    url: string;
    /** At most 10 entries. */
    secrets: string[];
  } | null;
  /** The host part of the account's SIP addresses. */
  domain: string;
}

export interface SipRegistration {
  registrationId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** At most 60 characters. */
  username: string;
  /** At most 100 characters. */
  proxy: string;
  /** At most 100 characters. */
  outboundProxy: string | null;
  /** At most 60 characters. */
  authUser: string | null;
  /** Whether the registrar accepted the last attempt; null before its first response. */
  successful: boolean | null;
}

export interface SipRegistrationPage {
  results: SipRegistration[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}
