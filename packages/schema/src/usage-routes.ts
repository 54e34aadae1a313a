/** The operations that tell how much was used. */

import { z } from "zod";
import { json, plain, type Route } from "./route.ts";
import {
  AgentUsage,
  BillingUsageQuery,
  CallUsage,
  CallUsageQuery,
  ConcurrencyQuery,
  ConcurrencyResponse,
  UsageResponse,
} from "./usage.ts";

export const usageRoutes = {
  listAgentUsage: {
    ...plain,
    method: "GET",
    path: "/api/agents/usage",
    tag: "agents",
    summary: "Tell how much each agent was used, day by day",
    query: CallUsageQuery,
    responses: { 200: json(z.array(AgentUsage), "Agents with calls, deleted agents included.") },
  },
  getCallUsage: {
    ...plain,
    method: "GET",
    path: "/api/accounts/me/usage/calls",
    tag: "account",
    summary: "Tell how many calls there were, for how long, by day and by hour",
    query: CallUsageQuery,
    responses: { 200: json(CallUsage, "Figures of the calls that match, deleted ones included.") },
  },
  getBillingUsage: {
    ...plain,
    method: "GET",
    path: "/api/accounts/me/billing/usage",
    tag: "account",
    summary: "Tell how many minutes were billed, day by day",
    query: BillingUsageQuery,
    responses: { 200: json(UsageResponse, "Billed minutes.") },
  },
  getConcurrencyUsage: {
    ...plain,
    method: "GET",
    path: "/api/accounts/me/usage/concurrency",
    tag: "account",
    summary: "Tell how many calls there were at a time",
    query: ConcurrencyQuery,
    responses: { 200: json(ConcurrencyResponse, "One point for each bucket of the time asked for.") },
  },
} as const satisfies Record<string, Route>;
