/** Opens what joins this process to the other nodes: its announcements, its internal listener and the directory of calls. */

import type { Logger } from "pino";
import manifest from "../../../package.json" with { type: "json" };
import type { Config } from "../../config/config.ts";
import { isLoopbackUrl, readLoopbackId } from "../../net/loopback.ts";
import { printNodeAddress } from "../../net/node-address.ts";
import { openAnnouncer, type Announcer } from "../../nodes/announcer.ts";
import { createCallDirectory } from "../../nodes/directory/call-directory.ts";
import { openInternalClient } from "../../nodes/directory/internal-client.ts";
import { openInternalListener, type InternalListener } from "../../nodes/directory/internal-listener.ts";
import { nodeKey } from "../../nodes/directory/signatures.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { CallDirectory, CallOperation } from "../../ports/nodes/call-directory.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import type { Store } from "../../store/opening/open-store.ts";
import { StoreStartError } from "../../store/database/store-errors.ts";

/** Null: the operation is not known here, or its members are wrong. */
export type PerformOperation = (callId: string, operation: CallOperation) => Promise<unknown>;

export interface NodeDirectory {
  readonly directory: CallDirectory;
  readonly announcer: Announcer;
  /** From now on, operations of other nodes on the calls of this one are carried out. */
  serve(perform: PerformOperation): void;
}

export interface NodeDirectoryParts {
  readonly config: Pick<Config, "databaseUrl" | "nodeAddress">;
  readonly store: Pick<Store, "recordsDb" | "leaseDb">;
  readonly secretsKey: Uint8Array;
  readonly node: NodeBoot;
  readonly nodeLeaseMs: number | undefined;
  /** The service cannot go on, and must be started again. */
  readonly onLost: (reason: string) => void;
  readonly logger: Logger;
}

/** @throws StoreStartError when another node runs, and one of the two has no address, or it cannot be listened at. */
export async function openNodeDirectory(
  opened: AsyncDisposableStack,
  { config, store, secretsKey, node, nodeLeaseMs, onLost, logger }: NodeDirectoryParts,
): Promise<NodeDirectory> {
  const { recordsDb: db, leaseDb } = store;
  // The embedded database has one process.
  const address = config.databaseUrl === null ? null : config.nodeAddress;
  const key = nodeKey(secretsKey);
  let announcer: Announcer | null = null;
  // The clock of the machine is within minutes of it until the first announcement.
  const nowMs = (): number => announcer?.nowMs() ?? Date.now();
  let perform: PerformOperation = () => Promise.reject(new Error("the node is starting"));
  const listening = async (): Promise<InternalListener | null> => {
    if (address === null) return null;
    const deps = {
      key,
      bootId: node.bootId,
      nowMs,
      perform: (callId: string, operation: CallOperation) => perform(callId, operation),
      logger,
    };
    const at = { host: address.bind, port: address.port };
    return openInternalListener(deps, at).catch((error: unknown) => {
      throw new StoreStartError(`The port of NODE_ADDRESS cannot be listened at: ${messageOf(error)}.`, {
        cause: error,
      });
    });
  };
  const listener = await listening();
  opened.defer(() => listener?.close());
  const announced = address === null || listener === null ? null : printNodeAddress(address, listener.port);
  announcer = await openAnnouncer({
    db,
    leaseDb,
    node,
    address: announced,
    loopbackId: await readLoopbackId(),
    isLoopback: isLoopbackUrl,
    onTaken: () => onLost("Another process runs as this node; the service must be started again."),
    version: manifest.version,
    leaseMs: nodeLeaseMs,
    logger,
  });
  const announcing = announcer;
  opened.defer(() => announcing.close());
  if (announced !== null) logger.info(`node: ${node.nodeId}, reached by other nodes at ${announced}`);
  const client = announced === null ? null : openInternalClient({ key, nowMs });
  opened.defer(() => client?.close());
  return {
    directory: createCallDirectory({ db, node, client, logger }),
    announcer,
    serve: (performs) => void (perform = performs),
  };
}
