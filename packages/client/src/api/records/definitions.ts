/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { ExactlyOne } from "../../choices.ts";

/**
 * A tool: what the model sees, its parameters and where it runs. It has exactly one of `http`, `client`,
 * `dataConnection` and `mcp`, or `staticResponse` alone. A `staticResponse` beside one of them is returned
 * immediately, and the actual result is not awaited.
 */
export interface BaseToolDefinition {
  modelToolName?: string | undefined;
  /** In an agent, texts in here are template strings, filled at call creation. At most 16384 characters. */
  description?: string | undefined;
  /** At most 64 entries. */
  dynamicParameters?: Array<{
    /** At most 128 characters. */
    name: string;
    location?:
      | "PARAMETER_LOCATION_QUERY"
      | "PARAMETER_LOCATION_PATH"
      | "PARAMETER_LOCATION_HEADER"
      | "PARAMETER_LOCATION_BODY"
      | undefined;
    /** JSON Schema. Absent: any text. */
    schema?: Record<string, unknown> | undefined;
    required?: boolean | undefined;
  }> | undefined;
  /** At most 64 entries. */
  staticParameters?: Array<{
    /** At most 128 characters. */
    name: string;
    location?:
      | "PARAMETER_LOCATION_QUERY"
      | "PARAMETER_LOCATION_PATH"
      | "PARAMETER_LOCATION_HEADER"
      | "PARAMETER_LOCATION_BODY"
      | undefined;
    /** Absent: nothing is sent. Null is sent as null. */
    value?: unknown;
  }> | undefined;
  /** At most 64 entries. */
  automaticParameters?: Array<{
    /** At most 128 characters. */
    name: string;
    location?:
      | "PARAMETER_LOCATION_QUERY"
      | "PARAMETER_LOCATION_PATH"
      | "PARAMETER_LOCATION_HEADER"
      | "PARAMETER_LOCATION_BODY"
      | undefined;
    knownValue:
      | "KNOWN_PARAM_CALL_ID"
      | "KNOWN_PARAM_CONVERSATION_HISTORY"
      | "KNOWN_PARAM_OUTPUT_SAMPLE_RATE"
      | "KNOWN_PARAM_CALL_STATE"
      | "KNOWN_PARAM_CALL_STAGE_ID"
      | "KNOWN_PARAM_THREAD_ID"
      | "KNOWN_PARAM_THREAD_STATES"
      | "KNOWN_PARAM_CALL_METADATA";
  }> | undefined;
  requirements?: {
    httpSecurityOptions?: {
      /** At most 16 entries. */
      options?: Array<{
        requirements?: Record<string, ExactlyOne<{
          queryApiKey: {
            name: string;
          };
          headerApiKey: {
            name: string;
          };
          httpAuth: {
            scheme: string;
          };
        }>> | undefined;
        serviceCallTokenRequirement?: {
          scopes?: string[] | undefined;
        } | undefined;
      }> | undefined;
    } | undefined;
    /** At most 64 entries. */
    requiredParameterOverrides?: string[] | undefined;
  } | undefined;
  /** A duration in seconds, such as `30s`. At most 40s. Default: `"2.5s"`. */
  timeout?: string | undefined;
  /** Default: `false`. */
  precomputable?: boolean | undefined;
  http?: {
    /** `{name}` is replaced by the PATH parameter of that name. At most 2048 characters. */
    baseUrlPattern: string;
    /** One of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS; case is ignored. */
    httpMethod?: string | undefined;
  } | undefined;
  client?: Record<string, never> | undefined;
  dataConnection?: Record<string, never> | undefined;
  mcp?: {
    /** A URL. At most 2048 characters. */
    serverUrl: string;
    /** Unset: all tools of the server. */
    toolName?: string | undefined;
    headers?: Record<string, string> | undefined;
  } | undefined;
  /** Default: `"AGENT_REACTION_SPEAKS"`. */
  defaultReaction?: "AGENT_REACTION_SPEAKS" | "AGENT_REACTION_LISTENS" | "AGENT_REACTION_SPEAKS_ONCE" | undefined;
  staticResponse?: {
    responseText?: string | undefined;
  } | undefined;
}
