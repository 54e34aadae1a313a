/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  Call,
  CallEvent,
  CallEventPage,
  CallPage,
  CallTool,
  DeletedCall,
  DeletedCallPage,
  Message,
  MessagePage,
  SipMessage,
  SipMessagePage,
} from "../records/calls.ts";
import type {
  SendCallDataMessage,
  StartCallRequest,
} from "../records/requests.ts";

/** List calls: `GET /api/calls`. Needs the scope `read`. */
export interface ListCallsInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** At most 100 entries. */
    agentIds?: string[] | undefined;
    /** From join to end, inclusive. A duration in seconds, such as `30s`. */
    durationMin?: string | undefined;
    /** A duration in seconds, such as `30s`. */
    durationMax?: string | undefined;
    /** Time of creation, inclusive. */
    fromDate?: string | undefined;
    /** A date or date-time; a bare date means its last moment and no offset means UTC. */
    toDate?: string | undefined;
    /** Time of day of the creation, UTC. */
    timeOfDayStart?: string | undefined;
    timeOfDayEnd?: string | undefined;
    /** Each `metadata.{key}` must equal the call's metadata for that key. */
    metadata?: Record<string, string> | undefined;
    /**
     * Part of the agent's name, of a summary or of a metadata value, in upper or lower case; or the whole id
     * of a call. At most 1000 characters.
     */
    search?: string | undefined;
    /** A UUID. */
    voiceId?: string | undefined;
    /** `waiting`: nobody has joined yet. `running`: joined and not ended. */
    status?: "waiting" | "running" | "ended" | undefined;
    endReason?: "unjoined" | "hangup" | "agent_hangup" | "timeout" | "connection_error" | "system_error" | undefined;
    /** `true`: an engine failed, or an event has the severity `error`. `false`: all other calls. */
    hasErrors?: boolean | undefined;
    /**
     * Words that the caller or the agent said, in any order and in upper or lower case. All of them must
     * occur. A word of three letters and more also finds longer words that begin with it. Finds calls some
     * seconds after their end. Pages can have fewer results than `pageSize` while `next` is not null. Needs
     * the sort `created` or `-created`. At most 200 characters.
     */
    transcriptSearch?: string | undefined;
    /** A leading `-` sorts in descending order. Default: `"-created"`. */
    sort?:
      | "created"
      | "-created"
      | "joined"
      | "-joined"
      | "ended"
      | "-ended"
      | "billedDuration"
      | "-billedDuration"
      | "endReason"
      | "-endReason"
      | undefined;
  } | undefined;
}

/** Create a call: `POST /api/calls`. Needs the scope `calls`. */
export interface CreateCallInput extends RequestOptions {
  readonly query?: {
    /**
     * Adds an instruction to greet to the first generation, if the history does not need a reply. Default:
     * `true`.
     */
    enableGreetingPrompt?: boolean | undefined;
    /** A call whose messages become the history of the new call. A UUID. */
    priorCallId?: string | undefined;
    /** Name or id of a call throttle. */
    throttle?: string | undefined;
  } | undefined;
  readonly body?: StartCallRequest | undefined;
}

/** Get a call: `GET /api/calls/{call_id}`. Needs the scope `read`. */
export interface GetCallInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/**
 * Delete an ended call with its messages, events and recording; a record without content remains: `DELETE
 * /api/calls/{call_id}`. Needs the scope `admin`.
 */
export interface DeleteCallInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/** List the messages of a call: `GET /api/calls/{call_id}/messages`. Needs the scope `read`. */
export interface ListCallMessagesInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** Default: `"last_stage"`. */
    mode?: "last_stage" | "in_call" | undefined;
  } | undefined;
}

/** List the events of a call: `GET /api/calls/{call_id}/events`. Needs the scope `read`. */
export interface ListCallEventsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** Default: `"info"`. */
    minimum_severity?: "debug" | "info" | "warning" | "error" | undefined;
    /** At most 50 characters. */
    type?: string | undefined;
  } | undefined;
}

/** Get the recording of a call: `GET /api/calls/{call_id}/recording`. Needs the scope `read`. */
export interface GetCallRecordingInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/**
 * Send a data message to a running call: a user message, words for the agent, or a hang-up: `POST
 * /api/calls/{call_id}/send_data_message`. Needs the scope `calls`.
 */
export interface SendDataMessageInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
  readonly body: SendCallDataMessage;
}

/**
 * List the tools that were available in a call: `GET /api/calls/{call_id}/tools`. Needs the scope `read`.
 */
export interface ListCallToolsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/**
 * Get the event log of the conversation engine: `GET /api/calls/{call_id}/event_log`. Needs the scope `read`.
 */
export interface GetCallEventLogInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/**
 * Get the SIP messages of an ended SIP call: `GET /api/calls/{call_id}/sip_logs`. Needs the scope `read`.
 */
export interface GetCallSipLogsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

/**
 * List the SIP messages of a call, also while it runs: `GET /api/calls/{call_id}/sip_messages`. Needs the
 * scope `read`.
 */
export interface ListCallSipMessagesInput extends RequestOptions {
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

/**
 * List deleted calls; filters on deleted content match nothing: `GET /api/deleted_calls`. Needs the scope
 * `read`.
 */
export interface ListDeletedCallsInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** At most 100 entries. */
    agentIds?: string[] | undefined;
    /** From join to end, inclusive. A duration in seconds, such as `30s`. */
    durationMin?: string | undefined;
    /** A duration in seconds, such as `30s`. */
    durationMax?: string | undefined;
    /** Time of creation, inclusive. */
    fromDate?: string | undefined;
    /** A date or date-time; a bare date means its last moment and no offset means UTC. */
    toDate?: string | undefined;
    /** Time of day of the creation, UTC. */
    timeOfDayStart?: string | undefined;
    timeOfDayEnd?: string | undefined;
    /** Each `metadata.{key}` must equal the call's metadata for that key. */
    metadata?: Record<string, string> | undefined;
    /** At most 1000 characters. */
    search?: string | undefined;
    /** A UUID. */
    voiceId?: string | undefined;
  } | undefined;
}

/** Get a deleted call: `GET /api/deleted_calls/{call_id}`. Needs the scope `read`. */
export interface GetDeletedCallInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    call_id: string;
  };
}

export interface CallsOperations {
  /** List calls. */
  "GET /api/calls": { input: ListCallsInput; output: CallPage; row: Call };
  /** Create a call. */
  "POST /api/calls": { input: CreateCallInput; output: Call };
  /** Get a call. */
  "GET /api/calls/{call_id}": { input: GetCallInput; output: Call };
  /** Delete an ended call with its messages, events and recording; a record without content remains. */
  "DELETE /api/calls/{call_id}": { input: DeleteCallInput; output: undefined };
  /** List the messages of a call. */
  "GET /api/calls/{call_id}/messages": { input: ListCallMessagesInput; output: MessagePage; row: Message };
  /** List the events of a call. */
  "GET /api/calls/{call_id}/events": { input: ListCallEventsInput; output: CallEventPage; row: CallEvent };
  /** Get the recording of a call. */
  "GET /api/calls/{call_id}/recording": { input: GetCallRecordingInput; output: Response };
  /** Send a data message to a running call: a user message, words for the agent, or a hang-up. */
  "POST /api/calls/{call_id}/send_data_message": { input: SendDataMessageInput; output: undefined };
  /** List the tools that were available in a call. */
  "GET /api/calls/{call_id}/tools": { input: ListCallToolsInput; output: CallTool[] };
  /** Get the event log of the conversation engine. */
  "GET /api/calls/{call_id}/event_log": { input: GetCallEventLogInput; output: Response };
  /** Get the SIP messages of an ended SIP call. */
  "GET /api/calls/{call_id}/sip_logs": { input: GetCallSipLogsInput; output: Response };
  /** List the SIP messages of a call, also while it runs. */
  "GET /api/calls/{call_id}/sip_messages": { input: ListCallSipMessagesInput; output: SipMessagePage; row: SipMessage };
  /** List deleted calls; filters on deleted content match nothing. */
  "GET /api/deleted_calls": { input: ListDeletedCallsInput; output: DeletedCallPage; row: DeletedCall };
  /** Get a deleted call. */
  "GET /api/deleted_calls/{call_id}": { input: GetDeletedCallInput; output: DeletedCall };
}
