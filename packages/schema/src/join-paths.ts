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
          "was lost may come back within ten seconds.",
        security: [],
        parameters: [
          pathParameter("call_id", { type: "string", format: "uuid" }),
          pathParameter("medium", { type: "string", enum: [...WEBSOCKET_MEDIA] }),
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
  };
}

function pathParameter(name: string, schema: JsonObject): JsonObject {
  return { name, in: "path", required: true, schema };
}

function queryParameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", required: false, description, schema };
}
