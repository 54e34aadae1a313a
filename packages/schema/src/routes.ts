/** Every operation under `/api` that this version serves, as data. */

import { z } from "zod";
import { Agent, AgentPatch, AgentWrite } from "./agent.ts";
import { CallEvent } from "./call-event.ts";
import { StartAgentCallRequest, StartCallRequest } from "./call-requests.ts";
import { Call, CallStage, CallTool } from "./call.ts";
import { SendCallDataMessage } from "./data-messages.ts";
import { FreeObject, Uuid } from "./fields.ts";
import { Message } from "./message.ts";
import { ModelAlias } from "./model-alias.ts";
import { pageOf } from "./page.ts";
import {
  DescriptionQuery,
  ListAgentsQuery,
  ListCallsQuery,
  ListEventsQuery,
  ListMessagesQuery,
  PageQuery,
  StartAgentCallQuery,
  StartCallQuery,
} from "./queries.ts";
import { json, noContent, plain, type Route } from "./route.ts";
import { accountRoutes } from "./account-routes.ts";
import { apiKeyRoutes } from "./api-key-routes.ts";
import { callLifeRoutes } from "./call-life-routes.ts";
import { batchRoutes } from "./batch-routes.ts";
import { corpusRoutes } from "./corpus-routes.ts";
import { deletedCallRoutes } from "./deleted-call-routes.ts";
import { sipRoutes } from "./sip-routes.ts";
import { telephonyRoutes } from "./telephony-routes.ts";
import { throttleRoutes } from "./throttle-routes.ts";
import { usageRoutes } from "./usage-routes.ts";
import { voiceRoutes } from "./voice-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";
import { toolRoutes } from "./tool-routes.ts";

const AgentParams = z.strictObject({ agent_id: Uuid });
const CallParams = z.strictObject({ call_id: Uuid });
const StageParams = z.strictObject({ call_id: Uuid, call_stage_id: Uuid });

/** Pages, one schema each, so that the description names them. */
export const AgentPage = pageOf(Agent);
export const CallPage = pageOf(Call);
export const CallEventPage = pageOf(CallEvent);
export const MessagePage = pageOf(Message);
export const CallStagePage = pageOf(CallStage);
export const ModelAliasPage = pageOf(ModelAlias);
const agentRoutes = {
  listAgents: {
    ...plain,
    method: "GET",
    path: "/api/agents",
    tag: "agents",
    summary: "List agents",
    query: ListAgentsQuery,
    responses: { 200: json(AgentPage, "A page of agents.") },
  },
  createAgent: {
    ...plain,
    method: "POST",
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
    path: "/api/agents/{agent_id}",
    tag: "agents",
    summary: "Read an agent",
    params: AgentParams,
    responses: { 200: json(Agent, "The agent.") },
    errors: ["not_found"],
  },
  updateAgent: {
    ...plain,
    method: "PATCH",
    path: "/api/agents/{agent_id}",
    tag: "agents",
    summary: "Change an agent; a call template replaces the stored one as a whole",
    params: AgentParams,
    request: AgentPatch,
    partial: true,
    responses: { 200: json(Agent, "The changed agent.") },
    errors: ["not_found"],
  },
  deleteAgent: {
    ...plain,
    method: "DELETE",
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
    path: "/api/agents/{agent_id}/calls",
    tag: "agents",
    summary: "Create a call of an agent",
    idempotent: true,
    params: AgentParams,
    query: StartAgentCallQuery,
    request: StartAgentCallRequest,
    responses: { 201: json(Call, "The new call.") },
    errors: ["not_found", "conflict", "not_available", "no_capacity"],
  },
} as const satisfies Record<string, Route>;

const callRoutes = {
  listCalls: {
    ...plain,
    method: "GET",
    path: "/api/calls",
    tag: "calls",
    summary: "List calls",
    query: ListCallsQuery,
    responses: { 200: json(CallPage, "A page of calls.") },
  },
  createCall: {
    ...plain,
    method: "POST",
    path: "/api/calls",
    tag: "calls",
    summary: "Create a call",
    idempotent: true,
    query: StartCallQuery,
    request: StartCallRequest,
    responses: { 201: json(Call, "The new call.") },
    errors: ["not_found", "conflict", "wrong_state", "not_available", "no_capacity"],
  },
  getCall: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}",
    tag: "calls",
    summary: "Read a call",
    params: CallParams,
    responses: { 200: json(Call, "The call.") },
    errors: ["not_found"],
  },
  listCallMessages: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/messages",
    tag: "calls",
    summary: "List what was said",
    params: CallParams,
    query: ListMessagesQuery,
    responses: { 200: json(MessagePage, "A page of messages, oldest first.") },
    errors: ["not_found"],
  },
  listCallEvents: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/events",
    tag: "calls",
    summary: "List what happened",
    params: CallParams,
    query: ListEventsQuery,
    responses: { 200: json(CallEventPage, "A page of call events, oldest first.") },
    errors: ["not_found"],
  },
  getCallRecording: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/recording",
    tag: "calls",
    summary: "Get the recording",
    params: CallParams,
    responses: {
      200: {
        description:
          "16-bit stereo WAV: the caller left, the agent right. Of a call with `recordingEnabled`, once it is over.",
        schema: null,
        contentType: "audio/wav",
      },
      302: {
        description:
          "The recording is at the address in `Location`, which needs no key and holds for some minutes; only where the deployment says so.",
        schema: null,
        contentType: null,
      },
    },
    errors: ["not_found", "too_early"],
  },
  sendDataMessage: {
    ...plain,
    method: "POST",
    path: "/api/calls/{call_id}/send_data_message",
    tag: "calls",
    summary: "Tell a running call something: a message of the user, words for the agent, or its end",
    params: CallParams,
    request: SendCallDataMessage,
    responses: { 204: { ...noContent, description: "Accepted; what it does shows in the call." } },
    errors: ["not_found", "wrong_state"],
  },
  listCallTools: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/tools",
    tag: "calls",
    summary: "List the tools that were available in a call",
    params: CallParams,
    responses: { 200: json(z.array(CallTool), "The tools of every stage in order, each once.") },
    errors: ["not_found"],
  },
  getCallEventLog: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/event_log",
    tag: "calls",
    summary: "Get all that the conversation engine went through",
    params: CallParams,
    responses: {
      200: {
        description:
          'JSON lines: first `{"plan": …}`, the settings that the call ran with, without secrets; then one event a line. ' +
          "Enough to replay the call. Of a call that is over, where the deployment keeps event logs.",
        schema: null,
        contentType: "application/x-ndjson",
      },
    },
    errors: ["not_found", "too_early"],
  },
} as const satisfies Record<string, Route>;

const stageRoutes = {
  listCallStages: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/stages",
    tag: "stages",
    summary: "List the stages of a call",
    params: CallParams,
    query: PageQuery,
    responses: { 200: json(CallStagePage, "A page of stages, oldest first.") },
    errors: ["not_found"],
  },
  getCallStage: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/stages/{call_stage_id}",
    tag: "stages",
    summary: "Read a stage",
    params: StageParams,
    responses: { 200: json(CallStage, "The stage.") },
    errors: ["not_found"],
  },
  listCallStageMessages: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/stages/{call_stage_id}/messages",
    tag: "stages",
    summary: "List the messages of a stage",
    params: StageParams,
    query: PageQuery,
    responses: { 200: json(MessagePage, "A page of messages, oldest first.") },
    errors: ["not_found"],
  },
  listCallStageTools: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/stages/{call_stage_id}/tools",
    tag: "stages",
    summary: "List the tools that were available in a stage",
    params: StageParams,
    responses: { 200: json(z.array(CallTool), "All tools of the stage.") },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;

const aboutRoutes = {
  listModels: {
    ...plain,
    method: "GET",
    path: "/api/models",
    tag: "service",
    summary: "List the names that a model may have",
    query: PageQuery,
    responses: { 200: json(ModelAliasPage, "A page of model names.") },
  },
  getDescription: {
    ...plain,
    method: "GET",
    path: "/api/schema/",
    tag: "service",
    summary: "Get this description",
    authenticated: false,
    query: DescriptionQuery,
    responses: { 200: json(FreeObject, "An OpenAPI 3.1 document.") },
  },
} as const satisfies Record<string, Route>;

/** By name; the name is the operation's id in the description. */
export const routes = {
  ...agentRoutes,
  ...callRoutes,
  ...callLifeRoutes,
  ...stageRoutes,
  ...toolRoutes,
  ...voiceRoutes,
  ...corpusRoutes,
  ...batchRoutes,
  ...throttleRoutes,
  ...webhookRoutes,
  ...telephonyRoutes,
  ...sipRoutes,
  ...deletedCallRoutes,
  ...usageRoutes,
  ...accountRoutes,
  ...apiKeyRoutes,
  ...aboutRoutes,
} as const;

export type RouteName = keyof typeof routes;
export type RouteParams<N extends RouteName> = z.output<(typeof routes)[N]["params"]>;
export type RouteQuery<N extends RouteName> = z.output<(typeof routes)[N]["query"]>;
/** `undefined` for routes that take no body. */
export type RouteBody<N extends RouteName> = (typeof routes)[N]["request"] extends infer S
  ? S extends z.ZodType
    ? z.output<S>
    : undefined
  : never;
/** The texts beside the file of a form; `undefined` where none are taken, or no form came. */
export type RouteForm<N extends RouteName> = (typeof routes)[N]["upload"] extends {
  readonly texts: infer S extends z.ZodType;
}
  ? z.output<S> | undefined
  : undefined;

export const ROUTE_NAMES = Object.keys(routes) as RouteName[];

/** The route as every route looks, for code that handles all of them alike. */
export function routeOf(name: RouteName): Route {
  return routes[name];
}
