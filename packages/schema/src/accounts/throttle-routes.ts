/** Routes of call throttles. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { CallThrottle, CallThrottlePatch, CallThrottleWrite } from "./throttle.ts";

const ThrottleParams = z.strictObject({ throttle_id: Uuid });

export const CallThrottlePage = pageOf(CallThrottle);

export const throttleRoutes = {
  listCallThrottles: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/call_throttles",
    tag: "throttles",
    summary: "List call throttles",
    query: PageQuery,
    responses: { 200: json(CallThrottlePage, "A page of throttles, newest first.") },
  },
  createCallThrottle: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/call_throttles",
    tag: "throttles",
    summary: "Create a call throttle, for the `throttle` parameter of requests that create calls",
    request: CallThrottleWrite,
    responses: { 201: json(CallThrottle, "The new throttle.") },
  },
  getCallThrottle: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Get a call throttle",
    params: ThrottleParams,
    responses: { 200: json(CallThrottle, "The throttle.") },
    errors: ["not_found"],
  },
  replaceCallThrottle: {
    ...plain,
    method: "PUT",
    scope: "admin",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Replace a call throttle; calls created with it before count towards the new rules",
    params: ThrottleParams,
    request: CallThrottleWrite,
    responses: { 200: json(CallThrottle, "The changed throttle.") },
    errors: ["not_found"],
  },
  updateCallThrottle: {
    ...plain,
    method: "PATCH",
    scope: "admin",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Change a call throttle; `rules` replaces the whole stored list",
    params: ThrottleParams,
    request: CallThrottlePatch,
    partial: true,
    responses: { 200: json(CallThrottle, "The changed throttle.") },
    errors: ["not_found"],
  },
  deleteCallThrottle: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Delete a call throttle; requests that name it are refused afterwards",
    params: ThrottleParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
