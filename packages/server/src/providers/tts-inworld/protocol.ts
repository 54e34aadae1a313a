/** What Inworld sends on a socket, and what its statuses mean. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { bounded } from "../sockets/failure-text.ts";
import type { SocketProtocol } from "../sockets/socket-protocol.ts";
import { jsonObject } from "../sockets/vendor-json.ts";
import { GRPC, InworldServerMessage } from "./contract.ts";

export type InworldResult = Extract<InworldServerMessage, { readonly result: unknown }>["result"];

export function inworldProtocol(key: string): SocketProtocol<InworldResult> {
  return {
    read(data) {
      const parsed = InworldServerMessage.safeParse(jsonObject(data));
      if (!parsed.success) throw new Error("a message of an unknown form");
      const message = parsed.data;
      if ("result" in message) {
        const { result } = message;
        const to = result.contextId ?? result.context_id ?? "";
        // An answer to an empty text that keeps the connection open has no context.
        if (to !== "") return { to, message: result };
        return (result.status?.code ?? 0) === 0 || result.status?.code === GRPC.notFound
          ? null
          : { lost: statusFailure(result.status ?? {}, { isCreated: true, key }) };
      }
      const { contextId, ...status } = message.error;
      if (contextId !== undefined && contextId !== "")
        return { to: contextId, message: { contextId, status } };
      return status.code === GRPC.notFound ? null : { lost: statusFailure(status, { isCreated: true, key }) };
    },
  };
}

/** The vendor refuses the key or the account. */
const REFUSED: readonly number[] = [GRPC.unauthenticated, GRPC.permissionDenied];
/** Before a context is created they are about its voice, its model or its settings, and later about a text. */
const REFUSED_AT_FIRST: readonly number[] = [GRPC.invalidArgument, GRPC.notFound, GRPC.unimplemented];
const NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(GRPC).map(([name, code]) => [code, name]),
);

export interface StatusContext {
  readonly isCreated: boolean;
  readonly key: string;
}

export function statusFailure(
  { code = 2, message = "" }: { readonly code?: number | undefined; readonly message?: string | undefined },
  { isCreated, key }: StatusContext,
): EngineFailure {
  const words = bounded(message, [key]);
  const name = NAMES[code] ?? `status ${String(code)}`;
  return new EngineFailure(`Inworld answered ${name}${words === "" ? "" : `: ${words}`}`, {
    isPermanent: REFUSED.includes(code) || (!isCreated && REFUSED_AT_FIRST.includes(code)),
    type: name,
  });
}
