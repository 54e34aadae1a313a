import { ApiError, parseDurationMs, toVendorName } from "@parley/schema";
import { Readable } from "node:stream";
import { getAgent } from "../../store/agents.ts";
import { type CallFilter, type CallSort, listCalls } from "../../store/call-list.ts";
import { listCallTools } from "../../store/call-tools.ts";
import { listCallEvents } from "../../store/call-events.ts";
import type { CallRow } from "../../store/calls.ts";
import { listMessages } from "../../store/messages.ts";
import type { CreateCallInput } from "../deps.ts";
import type { Handler, HandlerDeps, HandlerInput, HandlerResult } from "../endpoint.ts";
import { pageAnswer } from "../paging.ts";
import { callEventResource, callResource, messageResource, type Resource } from "../resources.ts";
import { callOrNotFound, noRecording, notFound, recordingAnswer, sortOf } from "./shared.ts";

/** Wait asked of clients that create calls while the service drains: about the time until another process serves. */
const DRAINING_RETRY_SECONDS = 5;
/** Wait asked of clients that want the recording or the event log of a running call. */
const RECORDING_RETRY_SECONDS = 5;

export function toCallResource(deps: HandlerDeps): (row: CallRow) => Resource {
  const spell = deps.http.settings.apiNames === "vendor" ? toVendorName : (medium: string) => medium;
  return (row) => callResource(row, deps.publicUrl(), spell);
}

async function create(input: CreateCallInput, deps: HandlerDeps): Promise<HandlerResult> {
  if (deps.draining()) {
    const detail = "The service is shutting down and takes no new calls; try again shortly.";
    throw new ApiError("no_capacity", detail, { retryAfterSeconds: DRAINING_RETRY_SECONDS });
  }
  const { callId } = await deps.http.createCall(input);
  const row = await callOrNotFound(deps, input.accountId, callId);
  const headers = { location: `${deps.publicUrl()}/api/calls/${callId}` };
  return { status: 201, json: toCallResource(deps)(row), headers };
}

export const createCallRoute: Handler<"createCall"> = async ({ accountId, body, query }, deps) =>
  create({ accountId, agentId: null, request: body, query }, deps);

export const createAgentCallRoute: Handler<"createAgentCall"> = async (input, deps) =>
  create(
    { accountId: input.accountId, agentId: input.params.agent_id, request: input.body, query: input.query },
    deps,
  );

export const getCallRoute: Handler<"getCall"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: toCallResource(deps)(await callOrNotFound(deps, accountId, params.call_id)),
});

/** Of every query that takes the filters of call lists. */
export function filterOf(query: HandlerInput<"listCalls">["query"]): CallFilter {
  const { durationMin, durationMax, cursor: _, pageSize: __, sort: ___, ...same } = query;
  return {
    ...same,
    durationMinMs: durationMin === undefined ? undefined : parseDurationMs(durationMin),
    durationMaxMs: durationMax === undefined ? undefined : parseDurationMs(durationMax),
  };
}

export const listCallsRoute: Handler<"listCalls"> = async ({ accountId, query, list }, deps) => {
  const filter = filterOf(query);
  const sort = sortOf<CallSort["field"]>(query.sort);
  const page = await pageAnswer(
    list,
    (wanted) => listCalls(deps.http.store.db, accountId, filter, wanted, sort),
    toCallResource(deps),
  );
  return { status: 200, json: page };
};

export const listAgentCallsRoute: Handler<"listAgentCalls"> = async ({ accountId, params, list }, deps) => {
  const { db } = deps.http.store;
  if ((await getAgent(db, accountId, params.agent_id)) === null) throw notFound("agent");
  const filter = { agentIds: [params.agent_id] };
  const page = await pageAnswer(
    list,
    (wanted) => listCalls(db, accountId, filter, wanted),
    toCallResource(deps),
  );
  return { status: 200, json: page };
};

export const listCallMessagesRoute: Handler<"listCallMessages"> = async (input, deps) => {
  const { accountId, params, query, list } = input;
  await callOrNotFound(deps, accountId, params.call_id);
  const filter = { mode: query.mode ?? "last_stage" };
  const page = await pageAnswer(
    list,
    (wanted) => listMessages(deps.http.store.db, accountId, params.call_id, filter, wanted),
    messageResource,
  );
  return { status: 200, json: page };
};

export const listCallEventsRoute: Handler<"listCallEvents"> = async (input, deps) => {
  const { accountId, params, query, list } = input;
  await callOrNotFound(deps, accountId, params.call_id);
  const filter = { minimumSeverity: query.minimum_severity ?? "info", type: query.type ?? null };
  const page = await pageAnswer(
    list,
    (wanted) => listCallEvents(deps.http.store.db, accountId, params.call_id, filter, wanted),
    callEventResource,
  );
  return { status: 200, json: page };
};

export const listCallToolsRoute: Handler<"listCallTools"> = async ({ accountId, params }, deps) => {
  await callOrNotFound(deps, accountId, params.call_id);
  return { status: 200, json: await listCallTools(deps.http.store.db, accountId, params.call_id) };
};

export const sendDataMessageRoute: Handler<"sendDataMessage"> = async ({ accountId, params, body }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if (deps.http.sendToCall(call.callId, body) === "accepted") return { status: 204 };
  if (call.endedAt !== null) throw new ApiError("wrong_state", "The call is over.");
  if (call.joinedAt === null) throw new ApiError("wrong_state", "Nobody has joined the call yet.");
  throw new ApiError("wrong_state", "The call is about to end, or another process of the service runs it.");
};

export const getCallRecordingRoute: Handler<"getCallRecording"> = async ({ accountId, params }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if (call.settings["recordingEnabled"] !== true) throw notFound("recording");
  if (call.endedAt === null) {
    const detail = "The recording is ready when the call has ended.";
    throw new ApiError("too_early", detail, { retryAfterSeconds: RECORDING_RETRY_SECONDS });
  }
  const { recordings } = deps.http;
  const link = await recordings.link(call.callId);
  // The answer of a link is one call's alone, and for some minutes.
  if (link !== null)
    return { status: 302, headers: { location: link, "cache-control": "no-store" }, text: "" };
  const recording = await recordings.open(call.callId);
  if (recording === null) throw noRecording(deps, call, "recording");
  return recordingAnswer(recording, call.callId);
};

export const getCallEventLogRoute: Handler<"getCallEventLog"> = async ({ accountId, params }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if (call.endedAt === null) {
    const detail = "The event log is ready when the call has ended.";
    throw new ApiError("too_early", detail, { retryAfterSeconds: RECORDING_RETRY_SECONDS });
  }
  const lines = await deps.http.readEventLog(accountId, call.callId);
  if (lines === null) throw notFound("event log");
  const headers = {
    "content-type": "application/x-ndjson",
    "content-disposition": `inline; filename="${call.callId}.ndjson"`,
  };
  return { status: 200, stream: Readable.from(lines), headers };
};
