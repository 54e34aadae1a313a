/** OpenAPI descriptions of the join paths, which are outside `/api` and need no API key. */

import { CARRIER_KINDS, MEDIUM_TRAITS } from "../media/media-kinds.ts";
import type { ErrorCode } from "../values/errors.ts";
import { statusOfCode } from "../values/errors.ts";
import type { JsonObject } from "../openapi/openapi-schemas.ts";

/** Media joined by websocket, as join URLs spell them. */
export const WEBSOCKET_MEDIA = [MEDIUM_TRAITS.serverWebSocket.path, ...CARRIER_KINDS] as const;

/** The path of join URLs. `medium` is the medium's name in snake_case. */
export const JOIN_PATH = "/calls/{call_id}/{medium}/{token}";

/** The path for offers of WebRTC calls, and the form of `Location` in the response. */
export const WEB_RTC_JOIN_PATH = "/calls/{call_id}/web_rtc/{token}";
export const WEB_RTC_CONNECTION_PATH = `${WEB_RTC_JOIN_PATH}/{connection_id}`;

/**
 * Websocket subprotocol for clients of WebRTC calls whose network blocks UDP: 16-bit little-endian mono samples at 16
 * kHz in both directions, otherwise like `server_web_socket`. Clients without it are refused at that address.
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
          "The `joinUrl` of a call, with the scheme ws or wss. Use it unchanged. Binary frames are 16-bit " +
          "little-endian mono audio at the medium's rates; text frames are data messages (`ClientDataMessage` from " +
          "the client, `ServerDataMessage` from the service). Valid until the call is joined; a lost connection can " +
          "reconnect within ten seconds. For a WebRTC call, name the subprotocol " +
          `\`${AUDIO_PROTOCOL}\`, with audio at 16 kHz in both directions. Without it the socket gets one message, \`room_info\`, ` +
          "with the address and the token of a LiveKit room, for client libraries that join such rooms. " +
          "The address of a telephony call is for the carrier: put it into the carrier's stream directive. Its messages " +
          "are the carrier's own.",
        security: [],
        parameters: [
          pathParameter("call_id", { type: "string", format: "uuid" }),
          pathParameter("medium", { type: "string", enum: [...WEBSOCKET_MEDIA, "web_rtc"] }),
          pathParameter("token", { type: "string" }),
          queryParameter("clientVersion", "Stored with the call.", { type: "string", maxLength: 120 }),
          queryParameter("apiVersion", "Has no effect.", { type: "string" }),
          ...messageLists(),
        ],
        responses: {
          "101": { description: "Switches to the websocket protocol." },
          ...problems(["not_found", "gone", "no_capacity", "call_elsewhere"]),
        },
      },
    },
    ...webRtcPaths(),
  };
}

function messageLists(): JsonObject[] {
  const schema: JsonObject = { type: "string" };
  return [
    queryParameter(
      "experimentalMessages",
      "A comma-separated list; `debug` turns debug messages on, `partials` the user's early words.",
      schema,
    ),
    queryParameter("additionalMessages", "The same as `experimentalMessages`.", schema),
  ];
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
          "and, for data messages, one ordered, reliable data channel named `messages` that the client opens. The " +
          "answer contains all candidates. `Location` is the connection; `Link` names STUN and TURN servers, if the " +
          "deployment has any. The call is joined when media flow. One offer of a call is answered at a time, and " +
          "another one meanwhile gets 409. An answered offer that is not connected yet is replaced by the next one. " +
          "At most five offers of a call are answered a minute; others get 429 with `Retry-After`.",
        ...open,
        parameters: [
          ...call,
          queryParameter("clientVersion", "Stored with the call.", { type: "string", maxLength: 120 }),
          ...messageLists(),
        ],
        requestBody: { required: true, content: sdp("application/sdp") },
        responses: {
          "201": { description: "The answer.", content: sdp("application/sdp") },
          ...problems([
            ...(["validation_failed", "not_found", "conflict", "gone", "payload_too_large"] as const),
            ...(["unsupported_media_type", "rate_limited", "no_capacity", "call_elsewhere"] as const),
          ]),
        },
      },
    },
    [WEB_RTC_CONNECTION_PATH]: {
      patch: {
        operationId: "patchWebRtcConnection",
        summary: "Send candidates or restart ICE",
        description:
          "An SDP fragment (RFC 8840). Candidates are accepted but not needed. New credentials restart ICE, at most ten " +
          "times a minute for a call; further ones get 429 with `Retry-After`, and the connection stays as it is.",
        ...open,
        parameters: connection,
        requestBody: { required: true, content: sdp("application/trickle-ice-sdpfrag") },
        responses: {
          "200": {
            description: "The answer to the restart.",
            content: sdp("application/trickle-ice-sdpfrag"),
          },
          "204": { description: "The candidates were accepted." },
          ...problems([
            ...(["validation_failed", "not_found", "payload_too_large"] as const),
            ...(["unsupported_media_type", "rate_limited"] as const),
          ]),
        },
      },
      delete: {
        operationId: "closeWebRtcConnection",
        summary: "Hang up",
        ...open,
        parameters: connection,
        responses: { "200": { description: "The call has ended." }, ...problems(["not_found"]) },
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
