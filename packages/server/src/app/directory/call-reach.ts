/** Binds joins, and operations on calls of any node, to the directory and the calls of this process. */

import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { HttpDeps } from "../../http/deps.ts";
import type { ConnectOutcome, FindJoinInput, JoinLookup, Rooms, WebRtcSignalling } from "../../joins/api.ts";
import { claimJoin } from "../../joins/claim-join.ts";
import { findJoin } from "../../joins/find-join.ts";
import { JoiningCalls } from "../../joins/joining-calls.ts";
import type { RoomSockets } from "../../joins/rooms/room-sockets.ts";
import { openRooms } from "../../joins/rooms/rooms.ts";
import type { WebRtcJoins } from "../../joins/webrtc-joins.ts";
import type { Adoption } from "../../lifecycle/adoption/adoption.ts";
import type { EndCall } from "../../lifecycle/end/ending.ts";
import type { OpenedJournal } from "../../lifecycle/journal/record-journal.ts";
import { startWaiting } from "../../lifecycle/start-waiting.ts";
import type { CallStorage } from "../../lifecycle/storage.ts";
import type { Announcer } from "../../nodes/announcer.ts";
import { openCallSweeps } from "../../nodes/call-sweeps.ts";
import { letGo } from "../../nodes/let-go.ts";
import type { CallDirectory } from "../../ports/nodes/call-directory.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { Db } from "../../store/database/db.ts";
import type { NodeBoot } from "../../store/nodes/node-claims.ts";
import type { Store } from "../../store/opening/open-store.ts";
import { createOperations } from "./call-operations.ts";
import { callsAnywhere, webRtcAnywhere } from "./calls-anywhere.ts";
import type { NodeDirectory } from "./node-directory.ts";

export interface CallReach extends Pick<HttpDeps, "sendToCall" | "endUnjoined"> {
  findJoin(join: FindJoinInput): Promise<JoinLookup>;
  /** Claims a call that nobody has joined for this process. False: it is not to be had. */
  claim(callId: string): Promise<boolean>;
  /** Until the outcome is known, other nodes do not get the call. */
  connecting(callId: string, connect: () => Promise<ConnectOutcome>): Promise<ConnectOutcome>;
  readonly webRtc: WebRtcSignalling;
  readonly rooms: Rooms;
  /** Begins to look after calls that no process runs, and after those that others take. */
  start(): void;
  /** See `CallSweeps`. */
  leaveCalls(): void;
  /** See `Adoption`. */
  giveUpReleased(): Promise<void>;
  /** Waits for running work. Idempotent. */
  close(): Promise<void>;
}

export interface CallReachParts {
  readonly store: Pick<Store, "db" | "recordsDb" | "leaseDb">;
  readonly node: NodeBoot;
  readonly announcer: Announcer;
  readonly directory: CallDirectory;
  readonly serve: NodeDirectory["serve"];
  readonly liveCalls: LiveCalls;
  readonly webRtc: WebRtcJoins;
  readonly roomSockets: RoomSockets;
  readonly iceServers: Config["webRtc"]["iceServers"];
  readonly storage: CallStorage;
  readonly adoption: Adoption;
  readonly journal: Pick<OpenedJournal, "callIds">;
  readonly endLiveCall: EndCall;
  readonly resumeTimeoutMs: number;
  /** Of the prices of engines; null: there are none. */
  readonly currency: string | null;
  readonly logger: Logger;
}

export function openCallReach(parts: CallReachParts): CallReach {
  const { store, node, announcer, directory, liveCalls, webRtc, storage, journal, logger } = parts;
  const { db } = store;
  const joining = new JoiningCalls();
  const leave = async (callId: string): Promise<boolean> => {
    const left = await liveCalls.release(callId);
    if (!left) return false;
    storage.forget(callId);
    webRtc.drop(callId);
    parts.roomSockets.drop(callId);
    await parts.adoption.left(callId);
    return true;
  };
  const claims = {
    directory,
    liveCalls,
    joining,
    isDraining: () => announcer.isDraining(),
    leave,
    startWaiting: (callId: string) => startWaiting({ db, liveCalls, storage }, callId),
    adopt: (callId: string) => parts.adoption.resume(callId),
    giveUpLost: (callId: string) => parts.adoption.giveUpLost(callId),
  };
  parts.serve(createOperations({ ...claims, webRtc }));
  const claimed = (callId: string): Promise<JoinLookup> => claimJoin(claims, callId);
  const anywhere = callsAnywhere({ directory, liveCalls, claimJoin: claimed, logger });
  const anywhereWebRtc = webRtcAnywhere({ directory, liveCalls }, webRtc);
  const signalling: WebRtcSignalling = {
    ...anywhereWebRtc,
    offer: (input) => joining.during(input.callId, () => anywhereWebRtc.offer(input)),
  };
  const letGoOfCalls = lettingGo(parts, joining, leave);
  const sweeps = openCallSweeps({
    ...parts,
    db: store.recordsDb,
    lease: announcer.lease,
    // The connection of the lease is not for what can wait for others.
    letGo: () => letGoOfCalls(store.recordsDb, false),
    journaled: () => journal.callIds(),
    endCall: parts.endLiveCall,
  });
  return {
    ...anywhere,
    findJoin: (join) => findJoin({ ...claims, db, nodeId: node.nodeId }, join),
    claim: async (callId) => (await claimed(callId)) === "ok",
    connecting: (callId, connect) => joining.during(callId, connect),
    webRtc: signalling,
    rooms: openRooms({
      webRtc: signalling,
      roomSockets: parts.roomSockets,
      liveCalls,
      iceServers: parts.iceServers,
      logger,
    }),
    start() {
      announcer.start(
        () => liveCalls.count(),
        () => letGoOfCalls(store.leaseDb, true),
      );
      sweeps.start();
    },
    leaveCalls: () => sweeps.leaveCalls(),
    giveUpReleased: () => parts.adoption.giveUpReleased(),
    close: () => sweeps.close(),
  };
}

/** Stops the calls here that others have by now. */
function lettingGo(
  { node, liveCalls, storage, logger }: CallReachParts,
  joining: JoiningCalls,
  leave: (callId: string) => Promise<boolean>,
): (db: Db, hasLapsed: boolean) => Promise<void> {
  const abandon = (callId: string): void => {
    liveCalls.abandon(callId);
    storage.forget(callId);
  };
  // A call whose join is under way here is claimed in a moment, or refused.
  const release = async (callId: string): Promise<boolean> => joining.has(callId) || leave(callId);
  return (db, hasLapsed) => letGo({ db, node, liveCalls, release, abandon, hasLapsed, logger });
}
