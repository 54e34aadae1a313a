/**
 * One node of the cluster: the lease, the directory, the adoption, the sweeps and the records of the service, over the
 * simulated database, with a fake runner.
 */

import type { Logger } from "pino";
import { openCallReach, type CallReach } from "../../src/app/directory/call-reach.ts";
import type { PerformOperation } from "../../src/app/directory/node-directory.ts";
import type { CallSnapshot } from "../../src/call/adoption/snapshot.ts";
import { openAdoption } from "../../src/lifecycle/adoption/adoption.ts";
import { recoverCalls } from "../../src/lifecycle/end/recovery.ts";
import type { EndCall } from "../../src/lifecycle/end/ending.ts";
import { createCallStorage, type CallStorage } from "../../src/lifecycle/storage.ts";
import { createCallDirectory } from "../../src/nodes/directory/call-directory.ts";
import type { InternalClient } from "../../src/nodes/directory/internal-client.ts";
import { openAnnouncer, type Announcer } from "../../src/nodes/announcer.ts";
import { RoomSockets } from "../../src/joins/rooms/room-sockets.ts";
import { takeNode } from "../../src/nodes/node-identity.ts";
import { openClock } from "../../src/pacing/clock.ts";
import { ApiKeyCache } from "../../src/store/database/api-key-cache.ts";
import type { Db } from "../../src/store/database/db.ts";
import type { NodeBoot } from "../../src/store/nodes/node-claims.ts";
import type { Sealer } from "../../src/store/database/sealer.ts";
import { markEnded } from "../../src/store/testing/calls.ts";
import type { Draw } from "../draw.ts";
import { FakeRunner } from "./fake-runner.ts";
import type { Ledger } from "./ledger.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export const RESUME_TIMEOUT_MS = 30_000;

export interface NodeDeps {
  readonly process: SimulatedProcess;
  readonly database: SimulatedDatabase;
  readonly sealer: Sealer;
  /** The name in DATA_DIR. */
  readonly nodeId: string;
  /** Boots that DATA_DIR has had. */
  readonly endedBootIds: readonly string[];
  readonly snapshot: CallSnapshot;
  readonly draw: Draw;
  readonly ledger: Ledger;
  /** Another process runs as the node: this one ends. */
  readonly onTaken: () => void;
  /** Sends an operation to another process. */
  readonly send: InternalClient["send"];
  readonly closed: (callId: string) => void;
  readonly log: (line: string) => void;
}

export interface SimulatedNode {
  readonly process: SimulatedProcess;
  readonly nodeId: string;
  readonly db: Db;
  readonly runner: FakeRunner;
  readonly reach: CallReach;
  readonly perform: PerformOperation;
}

/** To be called in the process. */
export async function startNode(deps: NodeDeps): Promise<SimulatedNode> {
  const { process, database, log } = deps;
  const db: Db = {
    query: database.connect(process),
    sealer: deps.sealer,
    apiKeyCache: new ApiKeyCache(),
  };
  const logger = loggerOf(process.name, log);
  const boot = await bootOf(deps, db, logger);
  const announcer = await openAnnouncer({
    db,
    leaseDb: db,
    node: boot,
    address: `http://${boot.bootId}`,
    loopbackId: "simulated",
    isLoopback: () => false,
    onTaken: deps.onTaken,
    version: "simulated",
    logger,
  });
  const { runner, storage } = openCalls(deps, db, boot, announcer);
  const adoption = openAdoption({
    db,
    boot,
    liveCalls: runner,
    storage,
    isJournaled: () => false,
    trustsLeases: () => announcer.lease.trustsOthers(),
    clock: openClock(),
    logger,
  });
  let perform: PerformOperation = async () => null;
  const reach = openCallReach({
    store: { db, recordsDb: db, leaseDb: db },
    node: boot,
    announcer,
    directory: createCallDirectory({ db, node: boot, client: { send: deps.send }, logger }),
    serve: (operations) => void (perform = operations),
    liveCalls: runner,
    webRtc: noWebRtc,
    roomSockets: new RoomSockets({ endCall: (callId) => void runner.endCall(callId) }),
    iceServers: [],
    storage,
    adoption,
    journal: { callIds: () => [] },
    endLiveCall: endCallOn(db),
    resumeTimeoutMs: RESUME_TIMEOUT_MS,
    currency: null,
    logger,
  });
  const endCall = endCallOn(db);
  await recoverCalls({ db, boot, liveCalls: runner, storage, endCall, logger, journaled: [] });
  reach.start();
  return { process, nodeId: boot.nodeId, db, runner, reach, perform: (...asked) => perform(...asked) };
}

/** The lock of the node proves nothing here: what is known of earlier boots is in DATA_DIR. */
function bootOf({ process, nodeId, endedBootIds }: NodeDeps, db: Db, logger: Logger): Promise<NodeBoot> {
  const lock = { take: async () => false, close: async () => undefined };
  const bootId = process.name;
  let renamed = 0;
  const newId = (): string => `${nodeId}-${bootId}-${String((renamed += 1))}`;
  return takeNode({ db, boot: { bootId, endedBootIds }, lock, newId, logger }, nodeId);
}

function openCalls(
  { snapshot, draw, ledger, closed }: NodeDeps,
  db: Db,
  boot: NodeBoot,
  announcer: Announcer,
): { readonly runner: FakeRunner; readonly storage: CallStorage } {
  const runner: FakeRunner = new FakeRunner({
    bootId: boot.bootId,
    records: () => storage.records,
    isHeld: () => announcer.lease.isHeld(),
    snapshot,
    draw,
    ledger,
    closed,
  });
  const nothing = (): void => undefined;
  const storage = createCallStorage(
    db,
    { callEnded: nothing, turnInterrupted: nothing, engineFailed: nothing, turnCompleted: nothing },
    {
      endCall: endCallOn(db),
      finishLate: async () => undefined,
      deliver: nothing,
      boot,
      taken: (callId) => runner.abandon(callId),
    },
  );
  return { runner, storage };
}

/** Without the work that follows the end of a call. */
function endCallOn(db: Db): EndCall {
  return (accountId, callId, end, tx = db) => markEnded(tx, accountId, callId, end);
}

/** Calls of this simulation have websockets. */
const noWebRtc = {
  iceServerLinks: [],
  drop: () => undefined,
  offer: async () => ({ kind: "gone" }) as const,
  patch: async () => ({ kind: "unknown" }) as const,
  renegotiate: async () => ({ kind: "unknown" }) as const,
  hangUp: async () => "unknown" as const,
  close: async () => undefined,
};

function loggerOf(name: string, log: (line: string) => void): Logger {
  const write =
    (level: string) =>
    (fields: unknown, message = ""): void =>
      log(`${name} ${level} ${message} ${JSON.stringify(fields)}`);
  const logger = { debug: () => undefined, info: write("info"), warn: write("warn"), error: write("error") };
  return logger as unknown as Logger;
}
