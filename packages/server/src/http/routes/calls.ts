import { ApiError, parseDurationMs, toVendorName, type callRoutes } from "@parley/schema";
import { Readable } from "node:stream";
import { getAgent } from "../../store/agents/agents.ts";
import type { CallFilter } from "../../store/calls/call-filter.ts";
import { type CallSort, listCalls } from "../../store/calls/call-list.ts";
import { listCallTools } from "../../store/calls/call-tools.ts";
import { listCallEvents } from "../../store/calls/call-events.ts";
import type { CallRow } from "../../store/calls/calls.ts";
import { listMessages } from "../../store/calls/messages.ts";
import type { CreateCallInput } from "../../lifecycle/api.ts";
import { creationProblem } from "../api/creation-problems.ts";
import type { Handler, HandlerDeps, HandlerInput, HandlerResult, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { runsElsewhere } from "../joins/join-lookup.ts";
import { callEventResource, messageResource } from "../resources/resources.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { callOrNotFound, noRecording, notFound, recordingAnswer, sortOf } from "./shared.ts";

/** Retry-After for clients that create calls while the service drains: about the time until another process serves. */
const DRAINING_RETRY_SECONDS = 5;
/** The only order of a search of transcripts, in both directions. */
const BY_CREATION = { field: "created" } as const;
/** Retry-After for clients that request the recording or the event log of a running call. */
const RECORDING_RETRY_SECONDS = 5;

export function toCallResource(deps: HandlerDeps): (row: CallRow) => Resource {
  const spell = deps.http.settings.apiNames === "vendor" ? toVendorName : (medium: string) => medium;
  return (row) => deps.http.callResource(row, deps.publicUrl(), spell);
}

async function create(input: CreateCallInput, deps: HandlerDeps): Promise<HandlerResult> {
  if (deps.draining()) {
    const detail = "The service is shutting down and accepts no new calls; try again shortly.";
    throw new ApiError("no_capacity", detail, { retryAfterSeconds: DRAINING_RETRY_SECONDS });
  }
  const outcome = await deps.http.createCall(input);
  if (outcome.kind !== "created") throw creationProblem(outcome);
  const { callId } = outcome;
  const row = await callOrNotFound(deps, input.accountId, callId);
  const headers = { location: `${deps.publicUrl()}/api/calls/${callId}` };
  return { status: 201, json: toCallResource(deps)(row), headers };
}

const createCallRoute: Handler<"createCall"> = async (input, deps) => {
  const { accountId, body, query, traceParent } = input;
  return create({ accountId, agentId: null, request: body, query, traceParent }, deps);
};

export const createAgentCallRoute: Handler<"createAgentCall"> = async (input, deps) =>
  create(
    {
      accountId: input.accountId,
      agentId: input.params.agent_id,
      request: input.body,
      query: input.query,
      traceParent: input.traceParent,
    },
    deps,
  );

const getCallRoute: Handler<"getCall"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: toCallResource(deps)(await callOrNotFound(deps, accountId, params.call_id)),
});

/** For every query that takes the filters of call lists. */
export function filterOf(query: HandlerInput<"listCalls">["query"]): CallFilter {
  const { durationMin, durationMax, cursor: _, pageSize: __, sort: ___, ...same } = query;
  return {
    ...same,
    durationMinMs: durationMin === undefined ? undefined : parseDurationMs(durationMin),
    durationMaxMs: durationMax === undefined ? undefined : parseDurationMs(durationMax),
  };
}

const listCallsRoute: Handler<"listCalls"> = async ({ accountId, query, list }, deps) => {
  const filter = filterOf(query);
  const sort = sortOf<CallSort["field"]>(query.sort);
  if (filter.transcriptSearch !== undefined && (sort ?? BY_CREATION).field !== BY_CREATION.field) {
    const message = "must be created or -created in a search of transcripts";
    throw new ApiError("validation_failed", `sort ${message}.`, { errors: [{ field: "sort", message }] });
  }
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

const listCallMessagesRoute: Handler<"listCallMessages"> = async (input, deps) => {
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

const listCallEventsRoute: Handler<"listCallEvents"> = async (input, deps) => {
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

const listCallToolsRoute: Handler<"listCallTools"> = async ({ accountId, params }, deps) => {
  await callOrNotFound(deps, accountId, params.call_id);
  return { status: 200, json: await listCallTools(deps.http.store.db, accountId, params.call_id) };
};

const sendDataMessageRoute: Handler<"sendDataMessage"> = async ({ accountId, params, body }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  const sent = await deps.http.sendToCall(call.callId, body);
  if (sent === "accepted") return { status: 204 };
  if (sent === "elsewhere") throw runsElsewhere();
  if (call.endedAt !== null) throw new ApiError("wrong_state", "The call has ended.");
  if (call.joinedAt === null) throw new ApiError("wrong_state", "Nobody has joined the call yet.");
  throw new ApiError("wrong_state", "The call is about to end.");
};

const getCallRecordingRoute: Handler<"getCallRecording"> = async ({ accountId, params }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if (call.settings["recordingEnabled"] !== true) throw notFound("recording");
  if (call.endedAt === null) {
    const detail = "The recording is ready when the call has ended.";
    throw new ApiError("too_early", detail, { retryAfterSeconds: RECORDING_RETRY_SECONDS });
  }
  const { recordings } = deps.http;
  const link = await recordings.link(call.callId);
  // The answer of a link is for one call only, and for some minutes.
  if (link !== null)
    return { status: 302, headers: { location: link, "cache-control": "no-store" }, text: "" };
  const recording = await recordings.open(call.callId);
  if (recording === null) throw noRecording(deps, call, "recording");
  return recordingAnswer(recording, call.callId);
};

const getCallEventLogRoute: Handler<"getCallEventLog"> = async ({ accountId, params }, deps) => {
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

export const callHandlers: HandlersOf<typeof callRoutes> = {
  createCall: createCallRoute,
  getCall: getCallRoute,
  listCalls: listCallsRoute,
  listCallMessages: listCallMessagesRoute,
  listCallEvents: listCallEventsRoute,
  listCallTools: listCallToolsRoute,
  sendDataMessage: sendDataMessageRoute,
  getCallRecording: getCallRecordingRoute,
  getCallEventLog: getCallEventLogRoute,
};
