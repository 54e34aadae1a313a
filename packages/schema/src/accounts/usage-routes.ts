/** Routes of usage figures. */

import { z } from "zod";
import { json, plain, type Route } from "../routes/route.ts";
import {
  AgentUsage,
  BillingUsageQuery,
  CallUsage,
  CallUsageQuery,
  ConcurrencyQuery,
  ConcurrencyResponse,
  EngineUsageQuery,
  EngineUsageResponse,
  UsageResponse,
} from "./usage.ts";

export const usageRoutes = {
  listAgentUsage: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/agents/usage",
    tag: "agents",
    summary: "Get the usage of each agent, by day",
    query: CallUsageQuery,
    responses: { 200: json(z.array(AgentUsage), "Agents with calls, deleted agents included.") },
  },
  getCallUsage: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me/usage/calls",
    tag: "account",
    summary: "Get the number and duration of calls, by day and by hour",
    query: CallUsageQuery,
    responses: { 200: json(CallUsage, "Figures of the matching calls, deleted calls included.") },
  },
  getEngineUsage: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me/usage/engines",
    tag: "account",
    summary: "Get the requests, amounts and costs of each engine",
    query: EngineUsageQuery,
    responses: {
      200: json(EngineUsageResponse, "Sums of calls that have ended, deleted calls included."),
    },
  },
  getBillingUsage: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me/billing/usage",
    tag: "account",
    summary: "Get the billed minutes, by day",
    query: BillingUsageQuery,
    responses: { 200: json(UsageResponse, "Billed minutes.") },
  },
  getConcurrencyUsage: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/accounts/me/usage/concurrency",
    tag: "account",
    summary: "Get the number of simultaneous calls over time",
    query: ConcurrencyQuery,
    responses: { 200: json(ConcurrencyResponse, "One point per bucket of the requested period.") },
  },
} as const satisfies Record<string, Route>;
