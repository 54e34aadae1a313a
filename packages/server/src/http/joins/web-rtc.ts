/** Joins by WebRTC over plain requests (D117): an offer, later changes of its network, and the hang-up. */

import { ApiError, WEB_RTC_CONNECTION_PATH, WEB_RTC_JOIN_PATH } from "@parley/schema";
import type { FindJoinInput, WebRtcAnswer, WebRtcConnection } from "../../joins/api.ts";
import type { Answer, HandlerDeps } from "../api/endpoint.ts";
import { rateLimited } from "../api/rate-limit.ts";
import { checkJoin, expired, noCapacity, runsElsewhere, unknownAddress } from "./join-lookup.ts";
import { parseJoinPath, parseJoinQuery } from "./join-path.ts";
import { roomRoutes } from "./room-upgrades.ts";
import type { PlainRequest, PlainRoute } from "../pages/plain-routes.ts";

const SDP_TYPE = "application/sdp";
const FRAGMENT_TYPE = "application/trickle-ice-sdpfrag";
/** Offers of browsers have 2 to 6 KB with one audio line and a data channel. */
const MAX_SDP_BYTES = 64 * 1024;
/**
 * Offers that are answered concurrently; bounds the database load of a flood of them. A join URL has one of these places
 * at most, so that it cannot take those of others.
 */
const MAX_PENDING_OFFERS = 64;

/** @param counted called once per attempt, for the metrics */
export function webRtcRoutes(deps: HandlerDeps, counted: (outcome: string) => void): PlainRoute[] {
  const pending = new Set<string>();
  const answered = async (request: PlainRequest): Promise<Answer> => {
    const join = parseJoinPath(request.url.split("?", 1)[0] ?? "");
    if (join === null) throw unknownAddress();
    // With the token: a stranger who knows the call only must not block it.
    const place = `${join.callId}/${join.token}`;
    if (pending.has(place)) throw offerPending();
    if (pending.size >= MAX_PENDING_OFFERS) throw noCapacity("Too many joins are waiting");
    pending.add(place);
    try {
      return await answerOffer(deps, request, join);
    } finally {
      pending.delete(place);
    }
  };
  const offered = async (request: PlainRequest): Promise<Answer> => {
    try {
      const answer = await answered(request);
      counted("connected");
      return answer;
    } catch (error) {
      counted(error instanceof ApiError ? error.code : "internal");
      throw error;
    }
  };
  const route = (method: PlainRoute["method"], path: string, answer: PlainRoute["answer"]): PlainRoute => ({
    method,
    path,
    answer,
    maxBytes: MAX_SDP_BYTES,
    frequent: false,
  });
  return [
    route("POST", WEB_RTC_JOIN_PATH, offered),
    route("PATCH", WEB_RTC_CONNECTION_PATH, (request) => patch(deps, request)),
    route("DELETE", WEB_RTC_CONNECTION_PATH, (request) => hangUp(deps, request)),
    ...roomRoutes(deps),
  ];
}

async function answerOffer(deps: HandlerDeps, request: PlainRequest, join: FindJoinInput): Promise<Answer> {
  const [, search] = request.url.split("?", 2);
  const found = await deps.findJoin(join, request.clientAddress);
  // The offer is passed to the node that runs the call.
  if (found !== "elsewhere") checkJoin(found, { draining: deps.draining(), closing: false });
  const { callId } = join;
  const { webRtc, logger } = deps.http;
  const sdp = textOf(request, SDP_TYPE);
  const answer = await webRtc.offer({ callId, sdp, query: parseJoinQuery(new URLSearchParams(search)) });
  logger.info({ requestId: request.requestId, callId, medium: "web_rtc", outcome: answer.kind }, "join");
  if (answer.kind !== "answered") throw refusalOf(answer);
  return {
    status: 201,
    headers: {
      "content-type": SDP_TYPE,
      location: `${deps.publicUrl()}/calls/${callId}/web_rtc/${join.token}/${answer.connectionId}`,
      ...(webRtc.iceServerLinks.length === 0 ? {} : { link: webRtc.iceServerLinks.join(", ") }),
    },
    body: answer.sdp,
  };
}

function refusalOf(answer: Exclude<WebRtcAnswer, { kind: "answered" }>): ApiError {
  if (answer.kind === "joined") {
    return new ApiError("conflict", "The call is already joined by another connection.");
  }
  if (answer.kind === "refused") return new ApiError("validation_failed", `The offer ${answer.reason}.`);
  if (answer.kind === "pending") return offerPending();
  if (answer.kind === "too_many") return rateLimited("Too many offers of this call", answer.waitMs);
  if (answer.kind === "elsewhere") return runsElsewhere();
  return answer.kind === "gone" ? expired() : noCapacity("No more connections can be accepted");
}

function offerPending(): ApiError {
  return new ApiError("conflict", "Another offer of the call is being answered.");
}

async function patch(deps: HandlerDeps, request: PlainRequest): Promise<Answer> {
  const connection = await knownConnection(deps, request);
  const patched = await deps.http.webRtc.patch(connection, textOf(request, FRAGMENT_TYPE));
  if (patched.kind === "unknown") throw unknownAddress();
  if (patched.kind === "elsewhere") throw runsElsewhere();
  if (patched.kind === "refused") throw new ApiError("validation_failed", `The fragment ${patched.reason}.`);
  if (patched.kind === "too_many")
    throw rateLimited("Too many network restarts of this call", patched.waitMs);
  if (patched.fragment === null) return { status: 204, headers: {}, body: null };
  return { status: 200, headers: { "content-type": FRAGMENT_TYPE }, body: patched.fragment };
}

async function hangUp(deps: HandlerDeps, request: PlainRequest): Promise<Answer> {
  const connection = await knownConnection(deps, request);
  const hungUp = await deps.http.webRtc.hangUp(connection);
  if (hungUp === "elsewhere") throw runsElsewhere();
  if (hungUp === "unknown") throw unknownAddress();
  return { status: 200, headers: {}, body: null };
}

/** The token is the credential here as well: a connection's id alone gives no access. */
async function knownConnection(
  deps: HandlerDeps,
  { params, url, clientAddress }: PlainRequest,
): Promise<WebRtcConnection> {
  const connectionId = params["connection_id"] ?? "";
  const join = parseJoinPath((url.split("?", 1)[0] ?? "").replace(/\/[^/]*\/?$/, ""));
  if (join === null) throw unknownAddress();
  const found = await deps.findJoin({ ...join, isOfConnection: true }, clientAddress);
  if (found === "not_found") throw unknownAddress();
  return { callId: join.callId, connectionId };
}

function textOf({ headers, body }: PlainRequest, wanted: string): string {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  if (type.trim().toLowerCase() !== wanted) {
    throw new ApiError("unsupported_media_type", `The body must be sent as ${wanted}.`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body ?? new Uint8Array());
  } catch (cause) {
    throw new ApiError("validation_failed", "The body is not UTF-8.", { cause });
  }
}
