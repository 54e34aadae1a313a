/** The operations on call throttles. */

import { z } from "zod";
import { Uuid } from "./fields.ts";
import { pageOf } from "./page.ts";
import { PageQuery } from "./queries.ts";
import { json, noContent, plain, type Route } from "./route.ts";
import { CallThrottle, CallThrottlePatch, CallThrottleWrite } from "./throttle.ts";

const ThrottleParams = z.strictObject({ throttle_id: Uuid });

export const CallThrottlePage = pageOf(CallThrottle);

export const throttleRoutes = {
  listCallThrottles: {
    ...plain,
    method: "GET",
    path: "/api/call_throttles",
    tag: "throttles",
    summary: "List call throttles",
    query: PageQuery,
    responses: { 200: json(CallThrottlePage, "A page of throttles, newest first.") },
  },
  createCallThrottle: {
    ...plain,
    method: "POST",
    path: "/api/call_throttles",
    tag: "throttles",
    summary: "Create a call throttle, for the `throttle` parameter of requests that create calls",
    request: CallThrottleWrite,
    responses: { 201: json(CallThrottle, "The new throttle.") },
  },
  getCallThrottle: {
    ...plain,
    method: "GET",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Read a call throttle",
    params: ThrottleParams,
    responses: { 200: json(CallThrottle, "The throttle.") },
    errors: ["not_found"],
  },
  replaceCallThrottle: {
    ...plain,
    method: "PUT",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Replace a call throttle as a whole; calls created through it before count under the new rules",
    params: ThrottleParams,
    request: CallThrottleWrite,
    responses: { 200: json(CallThrottle, "The changed throttle.") },
    errors: ["not_found"],
  },
  updateCallThrottle: {
    ...plain,
    method: "PATCH",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Change a call throttle; a list of rules replaces the stored one as a whole",
    params: ThrottleParams,
    request: CallThrottlePatch,
    partial: true,
    responses: { 200: json(CallThrottle, "The changed throttle.") },
    errors: ["not_found"],
  },
  deleteCallThrottle: {
    ...plain,
    method: "DELETE",
    path: "/api/call_throttles/{throttle_id}",
    tag: "throttles",
    summary: "Delete a call throttle; requests that name it are refused from then on",
    params: ThrottleParams,
    responses: { 204: noContent },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
