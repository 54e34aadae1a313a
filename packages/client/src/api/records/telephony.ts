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
