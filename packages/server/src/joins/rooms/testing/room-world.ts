/** One call over a room without the rest of the service: `/call` is its join URL, `/room/rtc/v1` its signalling. */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { WebSocket, WebSocketServer } from "ws";
import { TransportRecord } from "../../../ports/testing/transport-conformance.ts";
import { ROOM_DIALECT } from "../../../transports/livekit/room-dialect.ts";
import type { LegTransport, OpenLeg } from "../../../transports/rtc/leg.ts";
import { openLocalLeg } from "../../../transports/rtc/local-leg.ts";
import { openWeriftPeer } from "../../../transports/rtc/werift-peer.ts";
import { openWebRtcTransport } from "../../../transports/webrtc/webrtc-transport.ts";
import type { Rooms } from "../../api.ts";
import { openWebRtcJoins } from "../../webrtc-joins.ts";
import { RoomSockets } from "../room-sockets.ts";
import { openRooms } from "../rooms.ts";

export const CALL = "call";
const QUERY = { clientVersion: "app", apiVersion: null, experimentalMessages: [] };
const MEDIUM = {
  kind: "webRtc",
  inputSampleRateHz: 16_000,
  outputSampleRateHz: 16_000,
  clientBufferSizeMs: 60,
  mediaIdleTimeoutMs: null,
} as const;

export interface RoomInfo {
  readonly roomUrl: string;
  readonly token: string;
}

/** The socket of a client at the join URL. */
export interface OpenRoom {
  readonly room: WebSocket;
  readonly roomInfo: RoomInfo;
  /** With which it was closed. */
  readonly codes: readonly number[];
}

export interface RoomWorld {
  readonly url: string;
  /** Of all connections of the call. */
  readonly record: TransportRecord;
  /** Versions that the clients of the connections have named. */
  readonly clients: readonly (string | null)[];
  /** Calls that were ended because their client has left. */
  readonly ended: readonly string[];
  /** The last connection of the call. */
  readonly transport: LegTransport | null;
  /** Another client has the call. */
  isTaken: boolean;
  openRoomSocket(): Promise<OpenRoom>;
  close(): Promise<void>;
}

const openLeg: OpenLeg = (offer, options) =>
  openLocalLeg(
    {
      openPeer: (sdp, of) => openWeriftPeer(sdp, of, ROOM_DIALECT),
      openTransport: openWebRtcTransport,
    },
    offer,
    options,
  );

async function serve(rooms: Rooms): Promise<{ readonly server: Server; readonly url: string }> {
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer();
  server.on("upgrade", (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (connected) => {
      const joinRequest = new URL(request.url ?? "", "http://x").searchParams.get("join_request");
      const opened =
        joinRequest === null
          ? rooms.open({
              callId: CALL,
              socket: connected,
              query: QUERY,
              roomUrl: `${url}/room`,
              token: "t",
              joined: () => undefined,
            })
          : rooms.signal({ callId: CALL, socket: connected, joinRequest, answered: () => undefined });
      void opened.then((outcome) => outcome === "joined" && connected.close(4409));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return { server, url };
}

export async function openRoomWorld(): Promise<RoomWorld> {
  const record = new TransportRecord();
  const clients: (string | null)[] = [];
  const ended: string[] = [];
  const sockets: WebSocket[] = [];
  let transport: LegTransport | null = null;
  let isTaken = false;
  const awaitsJoin = async () => (isTaken ? "joined" : "joinable");
  const logger = pino({ level: "silent" });
  const roomSockets = new RoomSockets({ endCall: (callId) => void ended.push(callId) });
  const joins = openWebRtcJoins({
    host: "127.0.0.1",
    settings: { iceServers: [], portRange: null, announcedAddress: null },
    liveCalls: {
      accountOf: () => "account",
      awaitsJoin,
      connectCall: async (_callId, open, { clientVersion }) => {
        clients.push(clientVersion);
        transport = open(MEDIUM, record) as LegTransport;
        return "connected";
      },
    },
    openLeg,
    roomSockets,
    logger,
  });
  const rooms = openRooms({
    webRtc: joins,
    roomSockets,
    liveCalls: { awaitsJoin },
    iceServers: [],
    logger,
  });
  const { server, url } = await serve(rooms);
  return {
    url,
    record,
    clients,
    ended,
    get transport() {
      return transport;
    },
    get isTaken() {
      return isTaken;
    },
    set isTaken(given) {
      isTaken = given;
    },
    openRoomSocket: async () => {
      const room = new WebSocket(`${url}/call`);
      sockets.push(room);
      const codes: number[] = [];
      room.on("close", (code) => codes.push(code));
      const [data] = (await once(room, "message")) as [Buffer];
      return { room, roomInfo: JSON.parse(data.toString()) as RoomInfo, codes };
    },
    close: async () => {
      for (const room of sockets) room.terminate();
      await joins.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
