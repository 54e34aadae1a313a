/** How joining is described: these paths lie outside `/api` and need no key. */

import type { ErrorCode } from "./errors.ts";
import { statusOfCode } from "./errors.ts";
import type { JsonObject } from "./openapi-schemas.ts";

/** Media that are joined by a websocket, as join URLs spell them. */
export const WEBSOCKET_MEDIA = [
  "server_web_socket",
  "telephony1",
  "telephony2",
  "telephony3",
  "telephony4",
] as const;

/** The path of join URLs. `medium` is the medium's name in snake_case. */
export const JOIN_PATH = "/calls/{call_id}/{medium}/{token}";

/** Where calls over WebRTC take their offer, and what the `Location` of its answer looks like. */
export const WEB_RTC_JOIN_PATH = "/calls/{call_id}/web_rtc/{token}";
export const WEB_RTC_CONNECTION_PATH = `${WEB_RTC_JOIN_PATH}/{connection_id}`;

/**
 * Websocket subprotocol by which a client whose network lets no UDP through joins a call over WebRTC all the same: 16-bit
 * little-endian mono samples at 16 kHz both ways, in all else as `server_web_socket`. Others are sent away from there.
 */
export const AUDIO_PROTOCOL = "parley.s16le.16000";

function problems(codes: readonly ErrorCode[]): JsonObject {
  return Object.fromEntries(
    codes.map((code) => [String(statusOfCode(code)), { $ref: `#/components/responses/${code}` }]),
  );
}

export function joinPaths(): { [path: string]: JsonObject } {
  return {
    [JOIN_PATH]: {
      get: {
        operationId: "joinCall",
        tags: ["join"],
        summary: "Join a call by websocket",
        description:
          "The `joinUrl` of a call, with the scheme ws or wss; clients take it as a whole. Binary frames are 16-bit " +
          "little-endian mono audio at the medium's rates; text frames are data messages (`ClientDataMessage` from " +
          "the client, `ServerDataMessage` from the service). Valid from creation until joined; a connection that " +
          "was lost may come back within ten seconds. A call over WebRTC is joined here by clients that name the " +
          `subprotocol \`${AUDIO_PROTOCOL}\`, with audio at 16 kHz both ways; others are closed with 4406.`,
        security: [],
        parameters: [
          pathParameter("call_id", { type: "string", format: "uuid" }),
          pathParameter("medium", { type: "string", enum: [...WEBSOCKET_MEDIA, "web_rtc"] }),
          pathParameter("token", { type: "string" }),
          queryParameter("clientVersion", "Kept with the call.", { type: "string", maxLength: 120 }),
          queryParameter("apiVersion", "Without effect.", { type: "string" }),
          queryParameter("experimentalMessages", "A comma list; `debug` turns debug messages on.", {
            type: "string",
          }),
        ],
        responses: {
          "101": { description: "The connection is a websocket now." },
          ...problems(["not_found", "gone", "no_capacity"]),
        },
      },
    },
    ...webRtcPaths(),
  };
}

function webRtcPaths(): { [path: string]: JsonObject } {
  const call = [
    pathParameter("call_id", { type: "string", format: "uuid" }),
    pathParameter("token", { type: "string" }),
  ];
  const connection = [...call, pathParameter("connection_id", { type: "string", format: "uuid" })];
  const sdp = (type: string): JsonObject => ({ [type]: { schema: { type: "string" } } });
  const open = { tags: ["join"], security: [] };
  return {
    [WEB_RTC_JOIN_PATH]: {
      post: {
        operationId: "joinCallByWebRtc",
        summary: "Join a call by WebRTC",
        description:
          "The `joinUrl` of a call over WebRTC, with the scheme http or https. The offer has one audio line with Opus " +
          "and, for data messages, one data channel named `messages` that the client makes (ordered, reliable). The " +
          "answer holds all candidates. `Location` is the connection; `Link` names STUN and TURN servers, if the " +
          "deployment has any. The call is joined when media flow.",
        ...open,
        parameters: [
          ...call,
          queryParameter("clientVersion", "Kept with the call.", { type: "string", maxLength: 120 }),
          queryParameter("experimentalMessages", "A comma list; `debug` turns debug messages on.", {
            type: "string",
          }),
        ],
        requestBody: { required: true, content: sdp("application/sdp") },
        responses: {
          "201": { description: "The answer.", content: sdp("application/sdp") },
          ...problems([
            ...(["validation_failed", "not_found", "conflict", "gone", "payload_too_large"] as const),
            ...(["unsupported_media_type", "no_capacity"] as const),
          ]),
        },
      },
    },
    [WEB_RTC_CONNECTION_PATH]: {
      patch: {
        operationId: "patchWebRtcConnection",
        summary: "Tell of candidates, or restart ICE",
        description:
          "A fragment (RFC 8840). Candidates are taken and not needed. New credentials restart the connection's network.",
        ...open,
        parameters: connection,
        requestBody: { required: true, content: sdp("application/trickle-ice-sdpfrag") },
        responses: {
          "200": { description: "The restart's answer.", content: sdp("application/trickle-ice-sdpfrag") },
          "204": { description: "The candidates were taken." },
          ...problems(["validation_failed", "not_found", "payload_too_large", "unsupported_media_type"]),
        },
      },
      delete: {
        operationId: "closeWebRtcConnection",
        summary: "Hang up",
        ...open,
        parameters: connection,
        responses: { "200": { description: "The call is over." }, ...problems(["not_found"]) },
      },
    },
  };
}

function pathParameter(name: string, schema: JsonObject): JsonObject {
  return { name, in: "path", required: true, schema };
}

function queryParameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", required: false, description, schema };
}
