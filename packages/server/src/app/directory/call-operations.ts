/** What other nodes ask of the calls of this one. The members of an operation are checked: the other node may be of another version. */

import { ClientDataMessage } from "@parley/schema";
import { yieldCall, type ClaimDeps } from "../../joins/claim-join.ts";
import type { JoinQuery } from "../../joins/api.ts";
import type { WebRtcJoins } from "../../joins/webrtc-joins.ts";
import type { CallOperation } from "../../ports/nodes/call-directory.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { PerformOperation } from "./node-directory.ts";

export interface OperationDeps extends Omit<
  ClaimDeps,
  "startWaiting" | "adopt" | "isDraining" | "liveCalls"
> {
  readonly liveCalls: Pick<
    LiveCalls,
    "awaitsJoin" | "capacity" | "endCall" | "endUnjoined" | "joinState" | "release" | "sendToCall"
  >;
  readonly webRtc: Pick<WebRtcJoins, "offer" | "patch" | "renegotiate" | "hangUp">;
}

export function createOperations(deps: OperationDeps): PerformOperation {
  const { liveCalls, webRtc } = deps;
  return async (callId, operation) => {
    switch (operation.kind) {
      case "yield":
        return yieldCall(deps, callId);
      case "send": {
        const message = ClientDataMessage.safeParse(operation["message"]);
        return message.success ? liveCalls.sendToCall(callId, message.data) : null;
      }
      case "endUnjoined":
        return liveCalls.endUnjoined(callId);
      case "end":
        return liveCalls.endUnjoined(callId) || liveCalls.endCall(callId);
      case "offer": {
        const sdp = textOf(operation, "sdp");
        const query = queryOf(operation["query"]);
        if (sdp === null || query === null) return null;
        const roomConnectionId = textOf(operation, "roomConnectionId");
        const ofRoom = roomConnectionId === null ? {} : { roomConnectionId };
        return webRtc.offer({ callId, sdp, query, ...ofRoom });
      }
      case "renegotiate": {
        const [connectionId, sdp] = [textOf(operation, "connectionId"), textOf(operation, "sdp")];
        return connectionId === null || sdp === null
          ? null
          : webRtc.renegotiate({ callId, connectionId }, sdp);
      }
      case "patch": {
        const [connectionId, text] = [textOf(operation, "connectionId"), textOf(operation, "text")];
        return connectionId === null || text === null ? null : webRtc.patch({ callId, connectionId }, text);
      }
      case "hangUp": {
        const connectionId = textOf(operation, "connectionId");
        return connectionId === null ? null : webRtc.hangUp({ callId, connectionId });
      }
      default:
        return null;
    }
  };
}

function textOf(operation: CallOperation, member: string): string | null {
  const value = operation[member];
  return typeof value === "string" ? value : null;
}

function queryOf(value: unknown): JoinQuery | null {
  if (typeof value !== "object" || value === null) return null;
  const { clientVersion, apiVersion, experimentalMessages } = value as Readonly<Record<string, unknown>>;
  const isText = (given: unknown): given is string | null => given === null || typeof given === "string";
  const isList = (given: unknown): given is string[] =>
    Array.isArray(given) && given.every((one) => typeof one === "string");
  if (!isText(clientVersion) || !isText(apiVersion) || !isList(experimentalMessages)) return null;
  return { clientVersion, apiVersion, experimentalMessages };
}
