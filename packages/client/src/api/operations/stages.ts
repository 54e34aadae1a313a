/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  CallTool,
  Message,
  MessagePage,
} from "../records/calls.ts";
import type {
  CallStage,
  CallStagePage,
} from "../records/stages.ts";

/**
 * Get the part of the recording that contains a message: `GET
 * /api/calls/{call_id}/stages/{call_stage_id}/messages/{call_stage_message_index}/audio`. Needs the scope
 * `read`.
 */
export interface GetCallStageMessageAudioInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
    /** A UUID. */
    call_stage_id: string;
    /** From 0 to 2147483647. */
    call_stage_message_index: number;
  };
}

/** List the stages of a call: `GET /api/calls/{call_id}/stages`. Needs the scope `read`. */
export interface ListCallStagesInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** Get a stage: `GET /api/calls/{call_id}/stages/{call_stage_id}`. Needs the scope `read`. */
export interface GetCallStageInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
    /** A UUID. */
    call_stage_id: string;
  };
}

/**
 * List the messages of a stage: `GET /api/calls/{call_id}/stages/{call_stage_id}/messages`. Needs the scope
 * `read`.
 */
export interface ListCallStageMessagesInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
    /** A UUID. */
    call_stage_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * List the tools that were available in a stage: `GET /api/calls/{call_id}/stages/{call_stage_id}/tools`.
 * Needs the scope `read`.
 */
export interface ListCallStageToolsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
    /** A UUID. */
    call_stage_id: string;
  };
}

export interface StagesOperations {
  /** Get the part of the recording that contains a message. */
  "GET /api/calls/{call_id}/stages/{call_stage_id}/messages/{call_stage_message_index}/audio": { input: GetCallStageMessageAudioInput; output: Response };
  /** List the stages of a call. */
  "GET /api/calls/{call_id}/stages": { input: ListCallStagesInput; output: CallStagePage; row: CallStage };
  /** Get a stage. */
  "GET /api/calls/{call_id}/stages/{call_stage_id}": { input: GetCallStageInput; output: CallStage };
  /** List the messages of a stage. */
  "GET /api/calls/{call_id}/stages/{call_stage_id}/messages": { input: ListCallStageMessagesInput; output: MessagePage; row: Message };
  /** List the tools that were available in a stage. */
  "GET /api/calls/{call_id}/stages/{call_stage_id}/tools": { input: ListCallStageToolsInput; output: CallTool[] };
}
