/** All operations under `/api`, as data. */

import type { z } from "zod";
import { accountRoutes } from "../accounts/account-routes.ts";
import { apiKeyRoutes } from "../accounts/api-key-routes.ts";
import { auditRoutes } from "../accounts/audit-routes.ts";
import { throttleRoutes } from "../accounts/throttle-routes.ts";
import { usageRoutes } from "../accounts/usage-routes.ts";
import { agentRoutes } from "../agents/agent-routes.ts";
import { batchRoutes } from "../batches/batch-routes.ts";
import { callLifeRoutes } from "../calls/call-life-routes.ts";
import { callRoutes } from "../calls/call-routes.ts";
import { deletedCallRoutes } from "../calls/deleted-call-routes.ts";
import { stageRoutes } from "../calls/stage-routes.ts";
import { corpusQueryRoutes } from "../corpora/corpus-query-routes.ts";
import { corpusRoutes } from "../corpora/corpus-routes.ts";
import { engineRoutes } from "../deployment/engine-routes.ts";
import { diallingRoutes } from "../telephony/dialling-routes.ts";
import { sipRoutes } from "../telephony/sip-routes.ts";
import { telephonyRoutes } from "../telephony/telephony-routes.ts";
import { toolRoutes } from "../tools/tool-routes.ts";
import { voiceRoutes } from "../voices/voice-routes.ts";
import { webhookRoutes } from "../webhooks/webhook-routes.ts";
import type { Route } from "./route.ts";
import { aboutRoutes } from "./about-routes.ts";

type AgentRoutes = typeof agentRoutes;
type CallRoutes = typeof callRoutes;
type CallLifeRoutes = typeof callLifeRoutes;
type StageRoutes = typeof stageRoutes;
type ToolRoutes = typeof toolRoutes;
type VoiceRoutes = typeof voiceRoutes;
type CorpusRoutes = typeof corpusRoutes;
type CorpusQueryRoutes = typeof corpusQueryRoutes;
type BatchRoutes = typeof batchRoutes;
type ThrottleRoutes = typeof throttleRoutes;
type WebhookRoutes = typeof webhookRoutes;
type TelephonyRoutes = typeof telephonyRoutes;
type DiallingRoutes = typeof diallingRoutes;
type SipRoutes = typeof sipRoutes;
type DeletedCallRoutes = typeof deletedCallRoutes;
type UsageRoutes = typeof usageRoutes;
type AccountRoutes = typeof accountRoutes;
type ApiKeyRoutes = typeof apiKeyRoutes;
type AuditRoutes = typeof auditRoutes;
type EngineRoutes = typeof engineRoutes;
type AboutRoutes = typeof aboutRoutes;

/** An interface, so that published declarations refer to the parts; a type that repeats them takes 1 MB. */
interface Routes
  extends
    AgentRoutes,
    CallRoutes,
    CallLifeRoutes,
    StageRoutes,
    ToolRoutes,
    VoiceRoutes,
    CorpusRoutes,
    CorpusQueryRoutes,
    BatchRoutes,
    ThrottleRoutes,
    WebhookRoutes,
    TelephonyRoutes,
    DiallingRoutes,
    SipRoutes,
    DeletedCallRoutes,
    UsageRoutes,
    AccountRoutes,
    ApiKeyRoutes,
    AuditRoutes,
    EngineRoutes,
    AboutRoutes {}

/** Keyed by name; the name is the `operationId` in the OpenAPI document. */
export const routes: Routes = {
  ...agentRoutes,
  ...callRoutes,
  ...callLifeRoutes,
  ...stageRoutes,
  ...toolRoutes,
  ...voiceRoutes,
  ...corpusRoutes,
  ...corpusQueryRoutes,
  ...batchRoutes,
  ...throttleRoutes,
  ...webhookRoutes,
  ...telephonyRoutes,
  ...diallingRoutes,
  ...sipRoutes,
  ...deletedCallRoutes,
  ...usageRoutes,
  ...accountRoutes,
  ...apiKeyRoutes,
  ...auditRoutes,
  ...engineRoutes,
  ...aboutRoutes,
};

export type RouteName = keyof typeof routes;
export type RouteParams<N extends RouteName> = z.output<(typeof routes)[N]["params"]>;
export type RouteQuery<N extends RouteName> = z.output<(typeof routes)[N]["query"]>;
/** `undefined` for routes that accept no body. */
export type RouteBody<N extends RouteName> = (typeof routes)[N]["request"] extends infer S
  ? S extends z.ZodType
    ? z.output<S>
    : undefined
  : never;
/** The texts beside the file of a form; `undefined` if the route has none or the request was no form. */
export type RouteForm<N extends RouteName> = (typeof routes)[N]["upload"] extends {
  readonly texts: infer S extends z.ZodType;
}
  ? z.output<S> | undefined
  : undefined;

export const ROUTE_NAMES = Object.keys(routes) as RouteName[];

/** The route with its general type, for code that handles all routes. */
export function routeOf(name: RouteName): Route {
  return routes[name];
}
