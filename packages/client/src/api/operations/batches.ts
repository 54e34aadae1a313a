/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  BatchPatch,
  BatchWrite,
  DoNotCallEntry,
  DoNotCallPage,
  DoNotCallWrite,
  ScheduledCall,
  ScheduledCallBatch,
  ScheduledCallBatchPage,
  ScheduledCallPage,
} from "../records/batches.ts";
import type {
  Call,
  CallPage,
} from "../records/calls.ts";

/** List the batches of an agent: `GET /api/agents/{agent_id}/scheduled_batches`. Needs the scope `read`. */
export interface ListScheduledBatchesInput extends RequestOptions {
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

/**
 * Create a batch of calls; one invalid call refuses the whole batch and is named by its position: `POST
 * /api/agents/{agent_id}/scheduled_batches`. Needs the scope `calls`.
 */
export interface CreateScheduledBatchInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
  };
  readonly body: BatchWrite;
}

/** Get a batch: `GET /api/agents/{agent_id}/scheduled_batches/{batch_id}`. Needs the scope `read`. */
export interface GetScheduledBatchInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
    /** A UUID. */
    batch_id: string;
  };
}

/**
 * Change a batch that has not ended; its calls cannot change: `PATCH
 * /api/agents/{agent_id}/scheduled_batches/{batch_id}`. Needs the scope `calls`.
 */
export interface UpdateScheduledBatchInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
    /** A UUID. */
    batch_id: string;
  };
  readonly body?: BatchPatch | undefined;
}

/**
 * Delete a batch; scheduled calls that have not started are dropped, created calls stay: `DELETE
 * /api/agents/{agent_id}/scheduled_batches/{batch_id}`. Needs the scope `calls`.
 */
export interface DeleteScheduledBatchInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
    /** A UUID. */
    batch_id: string;
  };
}

/**
 * List the scheduled calls of a batch: `GET
 * /api/agents/{agent_id}/scheduled_batches/{batch_id}/scheduled_calls`. Needs the scope `read`.
 */
export interface ListScheduledCallsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
    /** A UUID. */
    batch_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    status?: "FUTURE" | "PENDING" | "SUCCESS" | "EXPIRED" | "ERROR" | undefined;
  } | undefined;
}

/**
 * List the calls that a batch has created: `GET
 * /api/agents/{agent_id}/scheduled_batches/{batch_id}/created_calls`. Needs the scope `read`.
 */
export interface ListCreatedCallsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    agent_id: string;
    /** A UUID. */
    batch_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** List the numbers that scheduled calls do not dial: `GET /api/do_not_call`. Needs the scope `read`. */
export interface ListDoNotCallInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** Part of the number or the note; case is ignored. At most 1000 characters. */
    search?: string | undefined;
  } | undefined;
}

/**
 * Add a number to the do-not-call list, or change its note: `POST /api/do_not_call`. Needs the scope `calls`.
 */
export interface AddDoNotCallInput extends RequestOptions {
  readonly body: DoNotCallWrite;
}

/**
 * Remove a number from the do-not-call list: `DELETE /api/do_not_call/{number}`. Needs the scope `admin`.
 */
export interface DeleteDoNotCallInput extends RequestOptions {
  readonly params: {
    /** At most 256 characters. */
    number: string;
  };
}

export interface BatchesOperations {
  /** List the batches of an agent. */
  "GET /api/agents/{agent_id}/scheduled_batches": { input: ListScheduledBatchesInput; output: ScheduledCallBatchPage; row: ScheduledCallBatch };
  /** Create a batch of calls; one invalid call refuses the whole batch and is named by its position. */
  "POST /api/agents/{agent_id}/scheduled_batches": { input: CreateScheduledBatchInput; output: ScheduledCallBatch };
  /** Get a batch. */
  "GET /api/agents/{agent_id}/scheduled_batches/{batch_id}": { input: GetScheduledBatchInput; output: ScheduledCallBatch };
  /** Change a batch that has not ended; its calls cannot change. */
  "PATCH /api/agents/{agent_id}/scheduled_batches/{batch_id}": { input: UpdateScheduledBatchInput; output: ScheduledCallBatch };
  /** Delete a batch; scheduled calls that have not started are dropped, created calls stay. */
  "DELETE /api/agents/{agent_id}/scheduled_batches/{batch_id}": { input: DeleteScheduledBatchInput; output: undefined };
  /** List the scheduled calls of a batch. */
  "GET /api/agents/{agent_id}/scheduled_batches/{batch_id}/scheduled_calls": { input: ListScheduledCallsInput; output: ScheduledCallPage; row: ScheduledCall };
  /** List the calls that a batch has created. */
  "GET /api/agents/{agent_id}/scheduled_batches/{batch_id}/created_calls": { input: ListCreatedCallsInput; output: CallPage; row: Call };
  /** List the numbers that scheduled calls do not dial. */
  "GET /api/do_not_call": { input: ListDoNotCallInput; output: DoNotCallPage; row: DoNotCallEntry };
  /** Add a number to the do-not-call list, or change its note. */
  "POST /api/do_not_call": { input: AddDoNotCallInput; output: DoNotCallEntry };
  /** Remove a number from the do-not-call list. */
  "DELETE /api/do_not_call/{number}": { input: DeleteDoNotCallInput; output: undefined };
}
