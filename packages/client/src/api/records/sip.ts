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

export interface SipRulesPatch {
  /**
   * What becomes of a REFER, by which the far side of a call wants it to go elsewhere. `refuse`: 603.
   * `follow`: the service calls the number in place of the far side, if the dialling rules name its prefix.
   */
  incomingRefer?: "refuse" | "follow" | null | undefined;
  /**
   * Encryption of the media of calls that the service dials over TLS. `required`: a far side without SRTP is
   * not called. `preferred`: one that refuses SRTP is called again without it. `off`: never. Without TLS,
   * media are not encrypted.
   */
  dialledSrtp?: "required" | "preferred" | "off" | null | undefined;
}

export interface SipCheckRequest {
  /**
   * A trunk, which gets an OPTIONS request. Absent: the configuration alone is checked. At most 200
   * characters.
   */
  to?: string | undefined;
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
  /** Whether the account can use SIP: the deployment has it, and the operator has allowed the account. */
  enabled: boolean;
}

export interface SipRules {
  /**
   * What becomes of a REFER, by which the far side of a call wants it to go elsewhere. `refuse`: 603.
   * `follow`: the service calls the number in place of the far side, if the dialling rules name its prefix.
   */
  incomingRefer: "refuse" | "follow";
  /**
   * Encryption of the media of calls that the service dials over TLS. `required`: a far side without SRTP is
   * not called. `preferred`: one that refuses SRTP is called again without it. `off`: never. Without TLS,
   * media are not encrypted.
   */
  dialledSrtp: "required" | "preferred" | "off";
}

export interface SipCheck {
  /** No finding is an error. */
  ok: boolean;
  findings: Array<{
    /** `error`: calls fail. `warning`: some calls fail, or those in one direction. */
    severity: "error" | "warning";
    /** The field of the configuration. Null: none is the cause. */
    field: string | null;
    /** What is wrong, and what to do. */
    message: string;
  }>;
  /** The final answers to the requests of the check. */
  answers: Array<{
    request: "OPTIONS" | "REGISTER";
    transport: "udp" | "tcp" | "tls";
    /** Where the answer came from. */
    address: string;
    status: number;
    reason: string;
    /** Of the challenge, where the answer is one. */
    realm: string | null;
    /** What the other side says about itself. */
    software: string | null;
  }>;
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
  /**
   * Status of the last answer. Without an answer, 408 (no response), 503 (no connection or no address) or 403
   * (an address that is not allowed). Null before the first attempt has ended.
   */
  lastStatus: number | null;
  /** The words of the answer, or why there is none. */
  lastReason: string | null;
  /** When the last attempt ended. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  lastAttempt: string | null;
  /** When the registration is refreshed or tried again. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  nextAttempt: string | null;
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
