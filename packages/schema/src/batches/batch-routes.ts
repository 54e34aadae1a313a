/** Routes of batches, scheduled calls and the do-not-call list. */

import { z } from "zod";
import {
  BatchPatch,
  BatchSettings,
  BatchWrite,
  MAX_BATCH_BYTES,
  MAX_BATCH_CALLS,
  ScheduledCall,
  ScheduledCallBatch,
  ScheduledCallStatus,
  ScheduledCallWrite,
} from "./batch.ts";
import { CallPage } from "../calls/call-routes.ts";
import { DoNotCallEntry, DoNotCallWrite } from "./do-not-call.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf, pageQuery } from "../values/page.ts";
import { DialledAddress } from "../values/phone-number.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";

const AgentParams = z.strictObject({ agent_id: Uuid });
const BatchParams = z.strictObject({ agent_id: Uuid, batch_id: Uuid });

export const ScheduledCallBatchPage = pageOf(ScheduledCallBatch);
export const ScheduledCallPage = pageOf(ScheduledCall);
export const DoNotCallPage = pageOf(DoNotCallEntry);

const ListScheduledCallsQuery = z.strictObject({ ...pageQuery, status: ScheduledCallStatus.optional() });
const ListDoNotCallQuery = z.strictObject({
  ...pageQuery,
  search: z.string().min(1).max(1000).optional().describe("Part of the number or the note; case is ignored."),
});

const BATCHES = "/api/agents/{agent_id}/scheduled_batches";
const BATCH = `${BATCHES}/{batch_id}` as const;

const one = { ...plain, tag: "batches", params: BatchParams, errors: ["not_found"] } as const;

const scheduledBatchRoutes = {
  listScheduledBatches: {
    ...plain,
    method: "GET",
    scope: "read",
    path: BATCHES,
    tag: "batches",
    summary: "List the batches of an agent",
    params: AgentParams,
    query: PageQuery,
    responses: { 200: json(ScheduledCallBatchPage, "A page of batches, newest first.") },
    errors: ["not_found"],
  },
  createScheduledBatch: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: BATCHES,
    tag: "batches",
    summary: "Create a batch of calls; one invalid call refuses the whole batch and is named by its position",
    params: AgentParams,
    request: BatchWrite,
    idempotent: true,
    longList: {
      field: "calls",
      entry: ScheduledCallWrite,
      rest: BatchSettings,
      maxEntries: MAX_BATCH_CALLS,
      maxBytes: MAX_BATCH_BYTES,
    },
    responses: { 201: json(ScheduledCallBatch, "The new batch, without its calls.") },
    errors: ["not_found", "conflict"],
  },
  getScheduledBatch: {
    ...one,
    method: "GET",
    scope: "read",
    path: BATCH,
    summary: "Get a batch",
    responses: { 200: json(ScheduledCallBatch, "The batch, without its calls.") },
  },
  updateScheduledBatch: {
    ...one,
    method: "PATCH",
    scope: "calls",
    path: BATCH,
    summary: "Change a batch that has not ended; its calls cannot change",
    request: BatchPatch,
    partial: true,
    responses: { 200: json(ScheduledCallBatch, "The changed batch.") },
    errors: ["not_found", "conflict"],
  },
  deleteScheduledBatch: {
    ...one,
    method: "DELETE",
    scope: "calls",
    path: BATCH,
    summary: "Delete a batch; scheduled calls that have not started are dropped, created calls stay",
    responses: { 204: noContent },
  },
  listScheduledCalls: {
    ...one,
    method: "GET",
    scope: "read",
    path: `${BATCH}/scheduled_calls`,
    summary: "List the scheduled calls of a batch",
    query: ListScheduledCallsQuery,
    responses: { 200: json(ScheduledCallPage, "A page of scheduled calls, in the order of the request.") },
  },
  listCreatedCalls: {
    ...one,
    method: "GET",
    scope: "read",
    path: `${BATCH}/created_calls`,
    summary: "List the calls that a batch has created",
    query: PageQuery,
    responses: { 200: json(CallPage, "A page of calls, newest first.") },
  },
} as const satisfies Record<string, Route>;

const doNotCallRoutes = {
  listDoNotCall: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/do_not_call",
    tag: "batches",
    summary: "List the numbers that scheduled calls do not dial",
    query: ListDoNotCallQuery,
    responses: { 200: json(DoNotCallPage, "A page of numbers, newest first.") },
  },
  addDoNotCall: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: "/api/do_not_call",
    tag: "batches",
    summary: "Add a number to the do-not-call list, or change its note",
    request: DoNotCallWrite,
    responses: { 201: json(DoNotCallEntry, "The number in the form in which it is compared.") },
  },
  deleteDoNotCall: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/do_not_call/{number}",
    tag: "batches",
    summary: "Remove a number from the do-not-call list",
    params: z.strictObject({ number: DialledAddress }),
    responses: { 204: noContent },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;

export const batchRoutes = { ...scheduledBatchRoutes, ...doNotCallRoutes } as const;
