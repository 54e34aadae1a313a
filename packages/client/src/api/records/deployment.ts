/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

export interface UpdateEnginesBody {
  stt?:
    | {
      /**
       * With the version, such as `http://127.0.0.1:11434/v1`; it may be a private address. Absent: OpenAI's. A
       * URL. At most 2048 characters.
       */
      baseUrl?: string | undefined;
      /**
       * Sent to this server only, stored encrypted, and never returned. Absent: the stored key stays if the
       * server is the same. Empty: no key. At most 4096 characters.
       */
      apiKey?: string | undefined;
      /** Required, except at OpenAI, which has a usual one. At most 200 characters. */
      model?: string | undefined;
    }
    | null
    | undefined;
  llm?:
    | {
      /**
       * With the version, such as `http://127.0.0.1:11434/v1`; it may be a private address. Absent: OpenAI's. A
       * URL. At most 2048 characters.
       */
      baseUrl?: string | undefined;
      /**
       * Sent to this server only, stored encrypted, and never returned. Absent: the stored key stays if the
       * server is the same. Empty: no key. At most 4096 characters.
       */
      apiKey?: string | undefined;
      /** Required, except at OpenAI, which has a usual one. At most 200 characters. */
      model?: string | undefined;
    }
    | null
    | undefined;
  tts?:
    | {
      /**
       * With the version, such as `http://127.0.0.1:11434/v1`; it may be a private address. Absent: OpenAI's. A
       * URL. At most 2048 characters.
       */
      baseUrl?: string | undefined;
      /**
       * Sent to this server only, stored encrypted, and never returned. Absent: the stored key stays if the
       * server is the same. Empty: no key. At most 4096 characters.
       */
      apiKey?: string | undefined;
      /** Required, except at OpenAI, which has a usual one. At most 200 characters. */
      model?: string | undefined;
      /** The default voice. Absent: `alloy`. At most 200 characters. */
      voice?: string | undefined;
    }
    | null
    | undefined;
}

export interface TestEngineBody {
  engine: "stt" | "llm" | "tts";
}

export interface GetEnginesOutput {
  /** Whether the deployment has an operator key, so that requests can change its engines. */
  canChange: boolean;
  /** Whether this request may see addresses and test engines: by its account, or by the operator key. */
  isOperator: boolean;
  /** The recogniser. */
  stt: {
    /**
     * What chose the engine: environment variables, settings stored with the operator key, or neither, so
     * that the engine that comes with the service is used.
     */
    source: "environment" | "stored" | "built_in";
    /** The engine in words. */
    description: string;
    /** The address of its server. Null: it has none, or it is not shown to this account. */
    baseUrl: string | null;
    model: string | null;
    /** The default voice. Null for engines that do not speak. */
    voice: string | null;
    /** The first four characters of the key for the server. Null: it has none, or it is not shown. */
    apiKey: string | null;
    /** The environment variable that selects the engine. Null: none does. */
    selectedBy: string | null;
    /** The environment variable that sets each field. Such a field cannot be changed by a request. */
    setBy: {
      baseUrl: string | null;
      apiKey: string | null;
      model: string | null;
      voice: string | null;
    };
    /** Whether settings for this engine are stored. */
    isStored: boolean;
    /** Why the stored settings are not used. Null: they are used, or there are none. */
    unusedReason: string | null;
    /** What the last look at the server found wrong. Null: nothing. */
    warning: string | null;
    /** This engine and those that take over when it fails, in their order. Empty: nothing takes over. */
    list: Array<{
      name: string;
      /** Whether it failed lately, so that requests go to the next engine of the list. */
      isOut: boolean;
      /**
       * Its latest failure since its latest success, otherwise what the last look at its server found wrong.
       * Null: nothing, or it is not shown to this account.
       */
      error: string | null;
    }>;
  };
  /** The language model. */
  llm: {
    /**
     * What chose the engine: environment variables, settings stored with the operator key, or neither, so
     * that the engine that comes with the service is used.
     */
    source: "environment" | "stored" | "built_in";
    /** The engine in words. */
    description: string;
    /** The address of its server. Null: it has none, or it is not shown to this account. */
    baseUrl: string | null;
    model: string | null;
    /** The default voice. Null for engines that do not speak. */
    voice: string | null;
    /** The first four characters of the key for the server. Null: it has none, or it is not shown. */
    apiKey: string | null;
    /** The environment variable that selects the engine. Null: none does. */
    selectedBy: string | null;
    /** The environment variable that sets each field. Such a field cannot be changed by a request. */
    setBy: {
      baseUrl: string | null;
      apiKey: string | null;
      model: string | null;
      voice: string | null;
    };
    /** Whether settings for this engine are stored. */
    isStored: boolean;
    /** Why the stored settings are not used. Null: they are used, or there are none. */
    unusedReason: string | null;
    /** What the last look at the server found wrong. Null: nothing. */
    warning: string | null;
    /** This engine and those that take over when it fails, in their order. Empty: nothing takes over. */
    list: Array<{
      name: string;
      /** Whether it failed lately, so that requests go to the next engine of the list. */
      isOut: boolean;
      /**
       * Its latest failure since its latest success, otherwise what the last look at its server found wrong.
       * Null: nothing, or it is not shown to this account.
       */
      error: string | null;
    }>;
  };
  /** The voice. */
  tts: {
    /**
     * What chose the engine: environment variables, settings stored with the operator key, or neither, so
     * that the engine that comes with the service is used.
     */
    source: "environment" | "stored" | "built_in";
    /** The engine in words. */
    description: string;
    /** The address of its server. Null: it has none, or it is not shown to this account. */
    baseUrl: string | null;
    model: string | null;
    /** The default voice. Null for engines that do not speak. */
    voice: string | null;
    /** The first four characters of the key for the server. Null: it has none, or it is not shown. */
    apiKey: string | null;
    /** The environment variable that selects the engine. Null: none does. */
    selectedBy: string | null;
    /** The environment variable that sets each field. Such a field cannot be changed by a request. */
    setBy: {
      baseUrl: string | null;
      apiKey: string | null;
      model: string | null;
      voice: string | null;
    };
    /** Whether settings for this engine are stored. */
    isStored: boolean;
    /** Why the stored settings are not used. Null: they are used, or there are none. */
    unusedReason: string | null;
    /** What the last look at the server found wrong. Null: nothing. */
    warning: string | null;
    /** This engine and those that take over when it fails, in their order. Empty: nothing takes over. */
    list: Array<{
      name: string;
      /** Whether it failed lately, so that requests go to the next engine of the list. */
      isOut: boolean;
      /**
       * Its latest failure since its latest success, otherwise what the last look at its server found wrong.
       * Null: nothing, or it is not shown to this account.
       */
      error: string | null;
    }>;
  };
}

export interface TestEngineOutput {
  works: boolean;
  /**
   * Until the first text, the first sound or the transcript; if it failed, until the failure. At least 0.
   */
  latencyMs: number;
  /** What the engine gave, or the failure with the words of its server. */
  detail: string;
}

export interface ListLocalServersRow {
  /** A program that usually has this port. */
  name: string;
  baseUrl: string;
  /** What it can be used for, by the names of its models. */
  engines: Array<"stt" | "llm" | "tts">;
  /** The first models of its list. */
  models: string[];
}
