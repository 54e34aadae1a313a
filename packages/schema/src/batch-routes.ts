/** The operations on scheduled batches of calls, and on numbers that are not to be called. */

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
import { Call } from "./call.ts";
import { DoNotCallEntry, DoNotCallWrite } from "./do-not-call.ts";
import { Uuid } from "./fields.ts";
import { pageOf, pageQuery } from "./page.ts";
import { DialledAddress } from "./phone-number.ts";
import { PageQuery } from "./queries.ts";
import { json, noContent, plain, type Route } from "./route.ts";

const AgentParams = z.strictObject({ agent_id: Uuid });
const BatchParams = z.strictObject({ agent_id: Uuid, batch_id: Uuid });

export const ScheduledCallBatchPage = pageOf(ScheduledCallBatch);
export const ScheduledCallPage = pageOf(ScheduledCall);
const CreatedCallPage = pageOf(Call);
export const DoNotCallPage = pageOf(DoNotCallEntry);

const ListScheduledCallsQuery = z.strictObject({ ...pageQuery, status: ScheduledCallStatus.optional() });
const ListDoNotCallQuery = z.strictObject({
  ...pageQuery,
  search: z.string().min(1).max(1000).optional().describe("Part of the number or the note, in any case."),
});

const BATCHES = "/api/agents/{agent_id}/scheduled_batches";
const BATCH = `${BATCHES}/{batch_id}` as const;

const one = { ...plain, tag: "batches", params: BatchParams, errors: ["not_found"] } as const;

const scheduledBatchRoutes = {
  listScheduledBatches: {
    ...plain,
    method: "GET",
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
    path: BATCHES,
    tag: "batches",
    summary: "Create a batch of calls, all of them or none; one bad call refuses it with its position",
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
    path: BATCH,
    summary: "Read a batch",
    responses: { 200: json(ScheduledCallBatch, "The batch, without its calls.") },
  },
  updateScheduledBatch: {
    ...one,
    method: "PATCH",
    path: BATCH,
    summary: "Change a batch that has not ended; its calls stay as they are",
    request: BatchPatch,
    partial: true,
    responses: { 200: json(ScheduledCallBatch, "The changed batch.") },
    errors: ["not_found", "conflict"],
  },
  deleteScheduledBatch: {
    ...one,
    method: "DELETE",
    path: BATCH,
    summary: "Delete a batch; what has not started never starts, and created calls stay",
    responses: { 204: noContent },
  },
  listScheduledCalls: {
    ...one,
    method: "GET",
    path: `${BATCH}/scheduled_calls`,
    summary: "List the scheduled calls of a batch",
    query: ListScheduledCallsQuery,
    responses: { 200: json(ScheduledCallPage, "A page of scheduled calls, in the order given.") },
  },
  listCreatedCalls: {
    ...one,
    method: "GET",
    path: `${BATCH}/created_calls`,
    summary: "List the calls that a batch has created",
    query: PageQuery,
    responses: { 200: json(CreatedCallPage, "A page of calls, newest first.") },
  },
} as const satisfies Record<string, Route>;

const doNotCallRoutes = {
  listDoNotCall: {
    ...plain,
    method: "GET",
    path: "/api/do_not_call",
    tag: "batches",
    summary: "List the numbers that scheduled calls do not dial",
    query: ListDoNotCallQuery,
    responses: { 200: json(DoNotCallPage, "A page of numbers, newest first.") },
  },
  addDoNotCall: {
    ...plain,
    method: "POST",
    path: "/api/do_not_call",
    tag: "batches",
    summary: "Put a number on the do-not-call list; one that is there takes the new note",
    request: DoNotCallWrite,
    responses: { 201: json(DoNotCallEntry, "The number as it is compared.") },
  },
  deleteDoNotCall: {
    ...plain,
    method: "DELETE",
    path: "/api/do_not_call/{number}",
    tag: "batches",
    summary: "Take a number off the do-not-call list",
    params: z.strictObject({ number: DialledAddress }),
    responses: { 204: noContent },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;

export const batchRoutes = { ...scheduledBatchRoutes, ...doNotCallRoutes } as const;
