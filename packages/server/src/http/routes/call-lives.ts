import { ApiError, type callLifeRoutes } from "@parley/schema";
import { deleteCall, type Deletion } from "../../store/calls/deleted-calls.ts";
import { getMessage } from "../../store/calls/messages.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { callOrNotFound, notAvailable, noRecording, notFound, recordingAnswer } from "./shared.ts";

/** Retry-After for clients that request something that exists only after the end of a call. */
const RETRY_SECONDS = 5;

function tooEarly(detail: string): ApiError {
  return new ApiError("too_early", detail, { retryAfterSeconds: RETRY_SECONDS });
}

const remove: Handler<"deleteCall"> = async ({ accountId, params, change }, { http }) => {
  const { call_id: callId } = params;
  const isDone = (result: Deletion): boolean => result === "deleted";
  const deletion = await change((tx) => deleteCall(tx, accountId, callId), { isDone });
  if (deletion === "not_found") throw notFound("call");
  if (deletion === "too_early") {
    throw tooEarly("The call can be deleted when it has ended and is billed; hang_up ends a running call.");
  }
  await http.removeFiles(callId);
  return { status: 204 };
};

const sipLogs: Handler<"getCallSipLogs"> = async ({ accountId, params }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if (call.mediumKind !== "sip") throw notFound("SIP log");
  if (call.endedAt === null) throw tooEarly("The SIP log is ready when the call has ended.");
  throw notAvailable("This version stores no SIP logs.");
};

const messageAudio: Handler<"getCallStageMessageAudio"> = async ({ accountId, params }, deps) => {
  const { call_stage_id: stageId, call_stage_message_index: index } = params;
  const call = await callOrNotFound(deps, accountId, params.call_id);
  const message = await getMessage(deps.http.store.db, accountId, call.callId, stageId, index);
  if (message === null) throw notFound("message of this stage");
  const isSaid = message.role === "user" || message.role === "agent";
  const { timespan } = message;
  if (!isSaid || message.medium !== "voice" || timespan === null) throw notFound("audio of this message");
  if (call.settings["recordingEnabled"] !== true) throw notFound("audio of this message");
  if (call.endedAt === null) throw tooEarly("The audio is ready when the call has ended.");
  const part = await deps.http.recordings.openPart(call.callId, timespan.startMs, timespan.endMs);
  if (part === null) throw noRecording(deps, call, "audio of this message");
  return recordingAnswer(part, `${call.callId}-${stageId}-${String(index)}`);
};

export const callLifeHandlers: HandlersOf<typeof callLifeRoutes> = {
  deleteCall: remove,
  getCallSipLogs: sipLogs,
  getCallStageMessageAudio: messageAudio,
};
