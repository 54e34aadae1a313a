/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  Agent,
  AgentPage,
  AgentPatch,
  AgentUsage,
  AgentWrite,
} from "../records/agents.ts";
import type {
  Call,
  CallPage,
} from "../records/calls.ts";
import type {
  StartAgentCallRequest,
} from "../records/requests.ts";

/** List agents: `GET /api/agents`. Needs the scope `read`. */
export interface ListAgentsInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** At most 1000 characters. */
    search?: string | undefined;
    /** A leading `-` sorts in descending order. Default: `"-created"`. */
    sort?: "name" | "-name" | "created" | "-created" | undefined;
  } | undefined;
}

/** Create an agent: `POST /api/agents`. Needs the scope `admin`. */
export interface CreateAgentInput extends RequestOptions {
  readonly body?: AgentWrite | undefined;
}

/** Get an agent: `GET /api/agents/{agent_id}`. Needs the scope `read`. */
export interface GetAgentInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
}

/**
 * Change an agent; `callTemplate` replaces the whole stored template: `PATCH /api/agents/{agent_id}`. Needs
 * the scope `admin`.
 */
export interface UpdateAgentInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
  readonly body?: AgentPatch | undefined;
}

/** Delete an agent; its calls stay: `DELETE /api/agents/{agent_id}`. Needs the scope `admin`. */
export interface DeleteAgentInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
}

/** List the calls of an agent: `GET /api/agents/{agent_id}/calls`. Needs the scope `read`. */
export interface ListAgentCallsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** Create a call of an agent: `POST /api/agents/{agent_id}/calls`. Needs the scope `calls`. */
export interface CreateAgentCallInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
  readonly query?: {
    /** Name or id of a call throttle. */
    throttle?: string | undefined;
    /** The web console sends true: the call is free, as `BILLING_STATUS_FREE_CONSOLE`. Default: `false`. */
    madeInConsole?: boolean | undefined;
  } | undefined;
  readonly body?: StartAgentCallRequest | undefined;
}

/** Get the usage of each agent, by day: `GET /api/agents/usage`. Needs the scope `read`. */
export interface ListAgentUsageInput extends RequestOptions {
  readonly query?: {
    /** At most 100 entries. */
    agentIds?: string[] | undefined;
    /** From join to end, inclusive. A duration in seconds, such as `30s`. */
    durationMin?: string | undefined;
    /** A duration in seconds, such as `30s`. */
    durationMax?: string | undefined;
    /** Time of creation, inclusive. */
    fromDate?: string | undefined;
    /** A date or date-time; a bare date means its last moment and no offset means UTC. */
    toDate?: string | undefined;
    /** Time of day of the creation, UTC. */
    timeOfDayStart?: string | undefined;
    timeOfDayEnd?: string | undefined;
    /** Each `metadata.{key}` must equal the call's metadata for that key. */
    metadata?: Record<string, string> | undefined;
    /** At most 1000 characters. */
    search?: string | undefined;
    /** A UUID. */
    voiceId?: string | undefined;
  } | undefined;
}

export interface AgentsOperations {
  /** List agents. */
  "GET /api/agents": { input: ListAgentsInput; output: AgentPage; row: Agent };
  /** Create an agent. */
  "POST /api/agents": { input: CreateAgentInput; output: Agent };
  /** Get an agent. */
  "GET /api/agents/{agent_id}": { input: GetAgentInput; output: Agent };
  /** Change an agent; `callTemplate` replaces the whole stored template. */
  "PATCH /api/agents/{agent_id}": { input: UpdateAgentInput; output: Agent };
  /** Delete an agent; its calls stay. */
  "DELETE /api/agents/{agent_id}": { input: DeleteAgentInput; output: undefined };
  /** List the calls of an agent. */
  "GET /api/agents/{agent_id}/calls": { input: ListAgentCallsInput; output: CallPage; row: Call };
  /** Create a call of an agent. */
  "POST /api/agents/{agent_id}/calls": { input: CreateAgentCallInput; output: Call };
  /** Get the usage of each agent, by day. */
  "GET /api/agents/usage": { input: ListAgentUsageInput; output: AgentUsage[] };
}
