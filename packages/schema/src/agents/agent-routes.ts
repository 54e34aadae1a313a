/** Routes of agents and of their calls. */

import { z } from "zod";
import { StartAgentCallRequest } from "../calls/call-requests.ts";
import { CallPage } from "../calls/call-routes.ts";
import { Call } from "../calls/call.ts";
import { ListAgentsQuery, PageQuery, StartAgentCallQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { Agent, AgentPatch, AgentWrite } from "./agent.ts";

const AgentParams = z.strictObject({ agent_id: Uuid });

/** Pages have one schema each, so that the OpenAPI document names them. */
export const AgentPage = pageOf(Agent);

export const agentRoutes = {
  listAgents: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/agents",
    tag: "agents",
    summary: "List agents",
    query: ListAgentsQuery,
    responses: { 200: json(AgentPage, "A page of agents.") },
  },
  createAgent: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/agents",
    tag: "agents",
    summary: "Create an agent",
    idempotent: true,
    request: AgentWrite,
    responses: { 201: json(Agent, "The new agent.") },
    errors: ["conflict"],
  },
  getAgent: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/agents/{agent_id}",
    tag: "agents",
    summary: "Get an agent",
    params: AgentParams,
    responses: { 200: json(Agent, "The agent.") },
    errors: ["not_found"],
  },
  updateAgent: {
    ...plain,
    method: "PATCH",
    scope: "admin",
    path: "/api/agents/{agent_id}",
    tag: "agents",
    summary: "Change an agent; `callTemplate` replaces the whole stored template",
    params: AgentParams,
    request: AgentPatch,
    partial: true,
    responses: { 200: json(Agent, "The changed agent.") },
    errors: ["not_found"],
  },
  deleteAgent: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/agents/{agent_id}",
    tag: "agents",
    summary: "Delete an agent; its calls stay",
    params: AgentParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  listAgentCalls: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/agents/{agent_id}/calls",
    tag: "agents",
    summary: "List the calls of an agent",
    params: AgentParams,
    query: PageQuery,
    responses: { 200: json(CallPage, "A page of calls.") },
    errors: ["not_found"],
  },
  createAgentCall: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: "/api/agents/{agent_id}/calls",
    tag: "agents",
    summary: "Create a call of an agent",
    idempotent: true,
    takesTraceParent: true,
    params: AgentParams,
    query: StartAgentCallQuery,
    request: StartAgentCallRequest,
    responses: { 201: json(Call, "The new call.") },
    errors: ["not_found", "conflict", "not_available", "no_capacity"],
  },
} as const satisfies Record<string, Route>;
