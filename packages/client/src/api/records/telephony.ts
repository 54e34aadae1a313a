/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

export type TelephonyConfigWrite =
  | {
    /** At most 100 characters. */
    accountSid: string;
    /** At most 500 characters. Never returned. */
    authToken: string;
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds?: string[] | undefined;
    /** Default: `false`. */
    callCreationAllowAllAgents?: boolean | undefined;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping?: Record<string, string> | undefined;
  }
  | {
    /** At most 100 characters. */
    accountSid: string;
    /** At most 500 characters. Never returned. */
    apiKey: string;
    /** At most 500 characters. Never returned. */
    publicKey: string;
    /** At most 40 characters. */
    applicationSid: string;
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds?: string[] | undefined;
    /** Default: `false`. */
    callCreationAllowAllAgents?: boolean | undefined;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping?: Record<string, string> | undefined;
  }
  | {
    /** At most 100 characters. */
    authId: string;
    /** At most 500 characters. Never returned. */
    authToken: string;
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds?: string[] | undefined;
    /** Default: `false`. */
    callCreationAllowAllAgents?: boolean | undefined;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping?: Record<string, string> | undefined;
  };

export type TelephonyConfigPatch =
  | {
    /** At most 100 characters. */
    accountSid?: string | null | undefined;
    /** At most 500 characters. Never returned. */
    authToken?: string | null | undefined;
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds?: string[] | null | undefined;
    /** Default: `false`. */
    callCreationAllowAllAgents?: boolean | null | undefined;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping?: Record<string, string> | null | undefined;
  }
  | {
    /** At most 100 characters. */
    accountSid?: string | null | undefined;
    /** At most 500 characters. Never returned. */
    apiKey?: string | null | undefined;
    /** At most 500 characters. Never returned. */
    publicKey?: string | null | undefined;
    /** At most 40 characters. */
    applicationSid?: string | null | undefined;
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds?: string[] | null | undefined;
    /** Default: `false`. */
    callCreationAllowAllAgents?: boolean | null | undefined;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping?: Record<string, string> | null | undefined;
  }
  | {
    /** At most 100 characters. */
    authId?: string | null | undefined;
    /** At most 500 characters. Never returned. */
    authToken?: string | null | undefined;
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds?: string[] | null | undefined;
    /** Default: `false`. */
    callCreationAllowAllAgents?: boolean | null | undefined;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping?: Record<string, string> | null | undefined;
  };

export interface AccountTelephonyConfigPatch {
  telephony1?:
    | {
      /** At most 100 characters. */
      accountSid?: string | null | undefined;
      /** At most 500 characters. Never returned. */
      authToken?: string | null | undefined;
      /** Agents that the carrier may start calls of. At most 100 entries. */
      callCreationAllowedAgentIds?: string[] | null | undefined;
      /** Default: `false`. */
      callCreationAllowAllAgents?: boolean | null | undefined;
      /**
       * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
       * Dots separate nested fields.
       */
      requestContextMapping?: Record<string, string> | null | undefined;
    }
    | null
    | undefined;
  telephony2?:
    | {
      /** At most 100 characters. */
      accountSid?: string | null | undefined;
      /** At most 500 characters. Never returned. */
      apiKey?: string | null | undefined;
      /** At most 500 characters. Never returned. */
      publicKey?: string | null | undefined;
      /** At most 40 characters. */
      applicationSid?: string | null | undefined;
      /** Agents that the carrier may start calls of. At most 100 entries. */
      callCreationAllowedAgentIds?: string[] | null | undefined;
      /** Default: `false`. */
      callCreationAllowAllAgents?: boolean | null | undefined;
      /**
       * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
       * Dots separate nested fields.
       */
      requestContextMapping?: Record<string, string> | null | undefined;
    }
    | null
    | undefined;
  telephony3?:
    | {
      /** At most 100 characters. */
      authId?: string | null | undefined;
      /** At most 500 characters. Never returned. */
      authToken?: string | null | undefined;
      /** Agents that the carrier may start calls of. At most 100 entries. */
      callCreationAllowedAgentIds?: string[] | null | undefined;
      /** Default: `false`. */
      callCreationAllowAllAgents?: boolean | null | undefined;
      /**
       * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
       * Dots separate nested fields.
       */
      requestContextMapping?: Record<string, string> | null | undefined;
    }
    | null
    | undefined;
}

export interface DiallingRulesPatch {
  /**
   * Numbers that the service may dial begin with one of these, such as `+49`. Empty: all numbers. At most 300
   * entries.
   */
  allowedPrefixes?: string[] | null | undefined;
  /** Calls that the service dials within 24 hours. Null: no limit. From 0 to 1000000. */
  maxCallsPerDay?: number | null | undefined;
  /**
   * Minutes of dialled calls within 24 hours, after which no further call is dialled. Null: no limit. From 0
   * to 10000000.
   */
  maxMinutesPerDay?: number | null | undefined;
}

export interface PhoneNumberWrite {
  /** An E.164 number or a SIP URI, as the carrier names it in `To`. At most 256 characters. */
  number: string;
  /** The agent that answers calls to the number. A UUID. */
  agentId: string;
}

export type TelephonyConfig =
  | {
    /** At most 100 characters. */
    accountSid: string;
    /** The first four characters of the secret; none of a secret shorter than eight. */
    authTokenPrefix: {
      prefix: string;
    };
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds: string[];
    callCreationAllowAllAgents: boolean;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping: Record<string, string>;
  }
  | {
    /** At most 100 characters. */
    accountSid: string;
    /** At most 40 characters. */
    applicationSid: string;
    /** The first four characters of the secret; none of a secret shorter than eight. */
    apiKeyPrefix: {
      prefix: string;
    };
    /** The first four characters of the secret; none of a secret shorter than eight. */
    publicKeyPrefix: {
      prefix: string;
    };
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds: string[];
    callCreationAllowAllAgents: boolean;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping: Record<string, string>;
  }
  | {
    /** At most 100 characters. */
    authId: string;
    /** The first four characters of the secret; none of a secret shorter than eight. */
    authTokenPrefix: {
      prefix: string;
    };
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds: string[];
    callCreationAllowAllAgents: boolean;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping: Record<string, string>;
  };

export interface AccountTelephonyConfig {
  telephony1?: {
    /** At most 100 characters. */
    accountSid: string;
    /** The first four characters of the secret; none of a secret shorter than eight. */
    authTokenPrefix: {
      prefix: string;
    };
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds: string[];
    callCreationAllowAllAgents: boolean;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping: Record<string, string>;
  } | undefined;
  telephony2?: {
    /** At most 100 characters. */
    accountSid: string;
    /** At most 40 characters. */
    applicationSid: string;
    /** The first four characters of the secret; none of a secret shorter than eight. */
    apiKeyPrefix: {
      prefix: string;
    };
    /** The first four characters of the secret; none of a secret shorter than eight. */
    publicKeyPrefix: {
      prefix: string;
    };
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds: string[];
    callCreationAllowAllAgents: boolean;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping: Record<string, string>;
  } | undefined;
  telephony3?: {
    /** At most 100 characters. */
    authId: string;
    /** The first four characters of the secret; none of a secret shorter than eight. */
    authTokenPrefix: {
      prefix: string;
    };
    /** Agents that the carrier may start calls of. At most 100 entries. */
    callCreationAllowedAgentIds: string[];
    callCreationAllowAllAgents: boolean;
    /**
     * Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`.
     * Dots separate nested fields.
     */
    requestContextMapping: Record<string, string>;
  } | undefined;
}

export interface TelephonyCheck {
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
}

export interface DiallingRules {
  /**
   * Numbers that the service may dial begin with one of these, such as `+49`. Empty: all numbers. At most 300
   * entries.
   */
  allowedPrefixes: string[];
  /** Calls that the service dials within 24 hours. Null: no limit. From 0 to 1000000. */
  maxCallsPerDay: number | null;
  /**
   * Minutes of dialled calls within 24 hours, after which no further call is dialled. Null: no limit. From 0
   * to 10000000.
   */
  maxMinutesPerDay: number | null;
}

export interface DiallingUse {
  /** Calls that the service dialled within the last 24 hours. At least 0. */
  calls: number;
  /** Their length, with that of running calls until now. A duration in seconds, such as `30s`. */
  talked: string;
}

export interface TelephonyUrls {
  /** The address of this service. Carriers connect only to `https`. */
  publicUrl: string;
  /** Calls are answered by the agent of the called number. */
  accountUrl: string;
  /** Calls are answered by one agent. Replace `{agent_id}` with its id. */
  agentUrl: string;
}

export interface CallDial {
  /** A UUID. */
  callId: string;
  /** `requested`: the carrier was asked. Not every carrier reports that the phone rings. */
  state: "requested" | "ringing" | "answered" | "ended";
  /** The carrier's id of the call. Null until the carrier has answered. */
  carrierCallId: string | null;
  /** When the service asked the carrier. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  dialled: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  ringing: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  answered: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  ended: string | null;
  /** How the call ended at the carrier. `refused`: nobody was dialled. Null until it has ended. */
  result: "completed" | "busy" | "no_answer" | "failed" | "canceled" | "machine" | "refused" | null;
  /** The carrier's words about a failure. */
  detail: string | null;
  /**
   * How long the carrier connected the call. Null if it did not say. A duration in seconds, such as `30s`.
   */
  talked: string | null;
}

export interface PhoneNumber {
  /** At most 256 characters. */
  number: string;
  /** A UUID. */
  agentId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
}

export interface PhoneNumberPage {
  results: PhoneNumber[];
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
