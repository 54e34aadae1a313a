import { Readable } from "node:stream";
import { ApiError } from "@parley/schema";
import type { OpenedRecording } from "../../ports/recordings.ts";
import { type CallRow, getCall } from "../../store/calls/calls.ts";
import type { HandlerDeps, HandlerResult } from "../api/endpoint.ts";

/** One answer for what does not exist and for what belongs to another account. */
export function notFound(what: string): ApiError {
  return new ApiError("not_found", `There is no such ${what}.`);
}

/** For what this deployment cannot do, such as a voice of a provider without an adapter; `detail` says what is missing. */
export function notAvailable(detail: string): ApiError {
  return new ApiError("not_available", detail);
}

export async function callOrNotFound(deps: HandlerDeps, accountId: string, callId: string): Promise<CallRow> {
  const row = await getCall(deps.http.store.db, accountId, callId);
  if (row === null) throw notFound("call");
  return row;
}

/** A recording of another node is in the shared store after this time, if that store works. */
const SHARED_WITHIN_MS = 600_000;
const SHARED_RETRY_SECONDS = 5;

/** For an ended call that was to be recorded, where no recording is found. */
export function noRecording(deps: HandlerDeps, call: Pick<CallRow, "endedAt">, what: string): ApiError {
  const { recordings, nowMs } = deps.http;
  const endedAtMs = call.endedAt === null ? nowMs() : Date.parse(call.endedAt);
  if (!recordings.isShared || nowMs() - endedAtMs > SHARED_WITHIN_MS) return notFound(what);
  const detail = "The recording is not available yet: another process of the service is uploading it.";
  return new ApiError("too_early", detail, { retryAfterSeconds: SHARED_RETRY_SECONDS });
}

/** Answers with a recording, or a part of one. */
export function recordingAnswer(recording: OpenedRecording, name: string): HandlerResult {
  const headers = {
    "content-type": "audio/wav",
    "content-length": String(recording.byteLength),
    "content-disposition": `inline; filename="${name}.wav"`,
  };
  return { status: 200, stream: Readable.fromWeb(recording.stream), headers };
}

/** `-created` is `created`, descending. Undefined: the list's own order. */
export function sortOf<Field extends string>(
  sort: Field | `-${Field}` | undefined,
): { readonly field: Field; readonly descending: boolean } | undefined {
  if (sort === undefined) return undefined;
  const descending = sort.startsWith("-");
  return { field: (descending ? sort.slice(1) : sort) as Field, descending };
}
