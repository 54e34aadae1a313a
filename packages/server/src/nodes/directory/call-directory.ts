/** The directory of calls over the database, and the internal requests between the processes that share it. */

import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { CallDirectory, CallOperation, Forwarded } from "../../ports/nodes/call-directory.ts";
import type { Db } from "../../store/database/db.ts";
import { claimCall, readOwnership, releaseClaim } from "../../store/nodes/call-claims.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import type { InternalClient, Sent } from "./internal-client.ts";

/** The owner that was read last, and the next one. */
const MAX_TRIES = 2;
/** Operations that change nothing more when they are carried out twice. */
const REPEATABLE: ReadonlySet<string> = new Set(["yield", "end", "endUnjoined", "hangUp"]);
/** Until the next try: a node that has just restarted claims its calls again. */
const RETRY_DELAY_MS = 100;

export interface CallDirectoryDeps {
  readonly db: Db;
  readonly node: NodeBoot;
  /** Null: this process has no address, so it is the only one. */
  readonly client: Pick<InternalClient, "send"> | null;
  readonly logger: Pick<Logger, "warn">;
}

export function createCallDirectory({ db, node, client, logger }: CallDirectoryDeps): CallDirectory {
  const send = async (
    callId: string,
    operation: CallOperation,
  ): Promise<Sent | { readonly kind: "no_owner" }> => {
    const { owner } = await readOwnership(db, callId);
    if (owner === null || owner.bootId === node.bootId) return { kind: "no_owner" };
    const { address } = owner;
    if (client === null || address === null) return { kind: "unreachable", reason: "has no NODE_ADDRESS" };
    return client.send({ ...owner, address }, callId, operation);
  };
  return {
    async ownerOf(callId) {
      const { state, owner } = await readOwnership(db, callId);
      const holder = owner === null ? "nobody" : owner.bootId === node.bootId ? "self" : "other";
      return { state, holder };
    },
    claim: (callId) => claimCall(db, node, callId),
    release: (callId) => releaseClaim(db, node, callId),
    async forward(callId, operation): Promise<Forwarded> {
      for (let tries = 1; ; tries += 1) {
        const sent = await send(callId, operation);
        if (sent.kind === "answered" || sent.kind === "no_owner") return sent;
        const { reason } = sent;
        const mayRepeat = sent.kind === "moved" || (sent.kind === "broken" && REPEATABLE.has(operation.kind));
        if (mayRepeat && tries < MAX_TRIES) {
          await wait(RETRY_DELAY_MS);
          continue;
        }
        logger.warn(
          { callId, operation: operation.kind, reason },
          "the node that runs a call was not reached",
        );
        return { kind: "unreachable", reason };
      }
    },
  };
}
