import { ApiError, type callLifeRoutes } from "@parley/schema";
import { deleteCall, type Deletion } from "../../store/calls/deleted-calls.ts";
import { getCall } from "../../store/calls/calls.ts";
import { readDialState } from "../../store/telephony/dial-progress.ts";
import type { HttpDeps } from "../deps.ts";
import { getMessage } from "../../store/calls/messages.ts";
import { hasSipMessages, listSipMessages } from "../../store/telephony/sip-messages.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import { sipLogPath } from "../pages/sip-log-page.ts";
import { sipMessageResource } from "../resources/carrier-resources.ts";
import { callOrNotFound, noRecording, notFound, recordingAnswer } from "./shared.ts";

/** Retry-After for clients that request something that exists only after the end of a call. */
const RETRY_SECONDS = 5;

/** From the end of a call until its last messages are stored: the BYE, its answer, and the wait for a batch. */
const LOG_COMPLETE_MS = 3_000;

function tooEarly(detail: string): ApiError {
  return new ApiError("too_early", detail, { retryAfterSeconds: RETRY_SECONDS });
}

const remove: Handler<"deleteCall"> = async ({ accountId, params, change }, { http }) => {
  const { call_id: callId } = params;
  const isDone = (result: Deletion): boolean => result === "deleted";
  const deletion = await change((tx) => deleteCall(tx, accountId, callId), { isDone });
  if (deletion === "not_found") throw notFound("call");
  if (deletion === "too_early") {
    const how = await howItEnds(http, accountId, callId);
    throw tooEarly(`The call can be deleted when it has ended and is billed; ${how}.`);
  }
  await http.removeFiles(callId);
  return { status: 204 };
};

/** What the client can do, as the end of a sentence. */
async function howItEnds(http: HttpDeps, accountId: string, callId: string): Promise<string> {
  const { db } = http.store;
  const call = await getCall(db, accountId, callId);
  if (call === null || call.endedAt !== null) return "its end is being recorded";
  if (call.joinedAt !== null) return "hang_up by send_data_message ends it";
  if ((await readDialState(db, accountId, callId)) !== null)
    return `DELETE /api/calls/${callId}/dial stops the dialling`;
  return "nobody has joined it, so it ends after its joinTimeout";
}

const sipLogs: Handler<"getCallSipLogs"> = async ({ accountId, params }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  if (call.mediumKind !== "sip") throw notFound("SIP log");
  const { db } = deps.http.store;
  const nowMs = deps.http.nowMs();
  if (call.endedAt === null || nowMs - Date.parse(call.endedAt) < LOG_COMPLETE_MS) {
    throw tooEarly("The SIP log is ready some seconds after the end of the call.");
  }
  if (!(await hasSipMessages(db, accountId, call.callId))) throw notFound("SIP log");
  const token = deps.sipLogLinks.write({ accountId, callId: call.callId }, nowMs);
  const location = `${deps.publicUrl()}${sipLogPath(call.callId, token)}`;
  return { status: 302, text: "", headers: { location } };
};

const sipMessages: Handler<"listCallSipMessages"> = async ({ accountId, params, list }, deps) => {
  const call = await callOrNotFound(deps, accountId, params.call_id);
  const page = await pageAnswer(
    list,
    (wanted) => listSipMessages(deps.http.store.db, accountId, call.callId, wanted),
    sipMessageResource,
  );
  return { status: 200, json: page };
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
  listCallSipMessages: sipMessages,
  getCallStageMessageAudio: messageAudio,
};
