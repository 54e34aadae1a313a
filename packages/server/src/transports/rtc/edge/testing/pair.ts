/** A connection of our own with a client in the same process, whose inside an attacker may change. */

import { createSocket, type Socket } from "node:dgram";
import { RTCPeerConnection, RTCRtpCodecParameters } from "werift";
import { CHANNEL_LABEL, type Peer } from "../../peer.ts";
import { openWeriftPeer } from "../../werift-peer.ts";

const CONNECT_LIMIT_MS = 20_000;

export interface Heard {
  readonly texts: string[];
  /** Sequence numbers of Opus packets. */
  readonly packets: number[];
  hangUps: number;
  signs: number;
}

export interface Pair {
  readonly peer: Peer;
  readonly client: RTCPeerConnection;
  readonly heard: Heard;
  /** Where the service receives. */
  readonly port: number;
  /** Sends a text by the data channel. */
  readonly say: (text: string) => void;
  /** Sends bytes from the client's own address. */
  readonly sendAsClient: (data: Buffer) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** @param prepare changes the client before it gets the answer */
export async function openPair(
  prepare: (client: RTCPeerConnection) => void = () => undefined,
): Promise<Pair> {
  const client = new RTCPeerConnection({
    codecs: {
      audio: [new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2 })],
      video: [],
    },
    iceServers: [],
    iceUseTcp: false,
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceInterfaceAddresses: { udp4: "127.0.0.1" },
  });
  client.addTransceiver("audio");
  const channel = client.createDataChannel(CHANNEL_LABEL);
  await client.setLocalDescription(await client.createOffer());
  const peer = await openWeriftPeer(client.localDescription?.sdp ?? "", {
    bindAddresses: ["127.0.0.1"],
    portRange: null,
    connectLimitMs: CONNECT_LIMIT_MS,
  });
  const heard: Heard = { texts: [], packets: [], hangUps: 0, signs: 0 };
  peer.listen({
    sign: () => (heard.signs += 1),
    packet: ({ sequence }) => heard.packets.push(sequence),
    text: (message) => heard.texts.push(message.toString()),
    channelOpened: () => undefined,
    hungUp: () => (heard.hangUps += 1),
  });
  const port = Number(/^a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 (\d+) /m.exec(peer.answer)?.[1]);
  prepare(client);
  await client.setRemoteDescription({ type: "answer", sdp: peer.answer });
  return {
    peer,
    client,
    heard,
    port,
    say: (text) => channel.send(text),
    sendAsClient: async (data) => {
      const socket: unknown = Reflect.get(client.iceTransports[0]?.connection ?? {}, "protocols");
      const [{ transport }] = socket as [
        { transport: { send(data: Buffer, to: [string, number]): Promise<void> } },
      ];
      await transport.send(data, ["127.0.0.1", port]);
    },
    close: async () => {
      await peer.close();
      await client.close();
    },
  };
}

/** A UDP socket of somebody else, and what comes back to it. */
export async function openStranger(): Promise<{
  readonly answers: Buffer[];
  send(data: Buffer, port: number): Promise<void>;
  close(): void;
}> {
  const socket: Socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const answers: Buffer[] = [];
  socket.on("message", (data) => answers.push(data));
  return {
    answers,
    send: (data, port) => new Promise((resolve) => socket.send(data, port, "127.0.0.1", () => resolve())),
    close: () => socket.close(),
  };
}
