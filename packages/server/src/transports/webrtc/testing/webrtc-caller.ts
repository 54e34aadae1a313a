/** A caller for tests: a whole peer connection on the loopback, through a relay that can lose and cut. */

import {
  RtcpRrPacket,
  type RTCDataChannel,
  RTCPeerConnection,
  type RTCRtpSender,
  RtpHeader,
  RtpPacket,
} from "werift";
import { eventually, type TransportUnderTest } from "../../../ports/testing/transport-conformance.ts";
import type { TransportListener } from "../../../ports/transport.ts";
import type { Leg, LegTransport, OpenLeg } from "../../rtc/leg.ts";
import { openOpus } from "../../rtc/opus.ts";
import { announcedAnswer, checkedOffer } from "../../rtc/sdp.ts";
import { UdpRelay } from "./udp-relay.ts";

export const SILENCE_LIMIT_MS = 1_000;
export const LOOPBACK = { bindAddresses: ["127.0.0.1"], portRange: null, connectLimitMs: 5_000 };

export const OWNER = { callId: "call", accountId: "account" };

export interface WebRtcCaller extends TransportUnderTest {
  readonly transport: LegTransport;
  readonly leg: Leg;
  readonly relay: UdpRelay;
  readonly client: RTCPeerConnection;
  /** The SSRC of what is sent from now on. */
  readonly changeSource: (ssrc: number) => void;
  /** A packet of another kind than was agreed on. */
  readonly sendForeign: (payloadType: number) => void;
  /** Makes a new offer for a restarted network, and takes the answer. */
  readonly restart: () => Promise<void>;
}

export function loopbackClient(): RTCPeerConnection {
  return new RTCPeerConnection({
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceInterfaceAddresses: { udp4: "127.0.0.1" },
  });
}

/** Through the relay: everything that was told to go to the leg's own port. */
function relayed(answer: string, serverPort: number, relayPort: number): string {
  return announcedAnswer(answer, null).replaceAll(` ${String(serverPort)} typ`, ` ${String(relayPort)} typ`);
}

export function portOf(answer: string): number {
  return Number(/a=candidate:\S+ 1 udp \d+ \S+ (\d+)/.exec(answer)?.[1]);
}

export async function connectCaller(openLeg: OpenLeg, listener: TransportListener): Promise<WebRtcCaller> {
  const client = loopbackClient();
  const codec = await openOpus();
  const frames: Int16Array[] = [];
  const messages: unknown[] = [];
  let closeCode: number | null = null;
  const { sender } = client.addTransceiver("audio");
  const channel: RTCDataChannel = client.createDataChannel("messages");
  channel.onMessage.subscribe((data) => messages.push(JSON.parse(String(data))));
  channel.stateChanged.subscribe((state) => {
    // WebRTC has no codes: the channel's end is the call's.
    if (state === "closed") closeCode = 1000;
  });
  await client.setLocalDescription(await client.createOffer());
  const leg = await openLeg(checkedOffer(client.localDescription?.sdp ?? ""), LOOPBACK, OWNER);
  const relay = new UdpRelay();
  const serverPort = portOf(leg.answer);
  const relayPort = await relay.open(serverPort);
  await client.setRemoteDescription({ type: "answer", sdp: relayed(leg.answer, serverPort, relayPort) });
  for (const dtls of client.dtlsTransports) {
    dtls.onRtp.subscribe(({ payload }) => frames.push(codec.decode(payload).slice()));
  }
  if (!(await leg.connected)) throw new Error("the caller was not connected");
  const transport = leg.attach({ silenceLimitMs: SILENCE_LIMIT_MS }, listener);
  await eventually(() => channel.readyState === "open", "the data channel");
  const { send, changeSource } = openSender(client, sender);
  // A browser sends all the time; what is no sound for the tests is still a packet.
  const keepAlive = () => void client.dtlsTransports[0]?.sendRtcp([new RtcpRrPacket({ ssrc: sender.ssrc })]);
  const alive = setInterval(() => relay.isCut || channel.readyState !== "open" || keepAlive(), 20);
  const cut = (): void => {
    relay.isCut = true;
  };
  return {
    transport,
    leg,
    relay,
    client,
    changeSource,
    sendForeign: (payloadType) => send(Uint8Array.of(1, 2, 3), payloadType),
    restart: async () => {
      client.restartIce();
      await client.setLocalDescription(await client.createOffer());
      const answer = await leg.restart(checkedOffer(client.localDescription?.sdp ?? ""));
      await client.setRemoteDescription({ type: "answer", sdp: relayed(answer, serverPort, relayPort) });
      // As in the peer: where encryption stands already the library does not look at the network again by itself.
      await Promise.all(client.iceTransports.map((ice) => ice.start()));
    },
    peer: {
      audio: () => Int16Array.from(frames.flatMap((frame) => [...frame])),
      messages: () => messages,
      closeCode: () => closeCode,
      /** Whole frames; a part of one is filled up with silence. */
      sendAudio: (samples) => {
        const frame = new Int16Array(320);
        frame.set(samples.subarray(0, 320));
        send(codec.encode(frame), null);
      },
      sendText: (text) => channel.send(text),
      hangUp: () => void client.close(),
      vanish: cut,
      freeze: cut,
    },
    dispose: async () => {
      clearInterval(alive);
      transport.close(1000, "");
      await leg.close();
      await client.close();
      relay.close();
      codec.close();
    },
  };
}

/** `payloadType` null: the one that was agreed on. */
type Send = (payload: Uint8Array, payloadType: number | null) => void;

/** Numbers that wrap around at once, so that every test sees that they do. */
function openSender(
  client: RTCPeerConnection,
  sender: RTCRtpSender,
): { readonly send: Send; readonly changeSource: (ssrc: number) => void } {
  let sequence = 65_530;
  let timestamp = 4_294_960_000;
  let source: number | null = null;
  return {
    changeSource: (ssrc) => {
      source = ssrc;
    },
    send: (payload, payloadType) => {
      const header = new RtpHeader({ sequenceNumber: sequence, timestamp, payloadType: 0, ssrc: 0 });
      sequence = (sequence + 1) & 0xffff;
      timestamp = (timestamp + 960) >>> 0;
      if (source === null && payloadType === null) {
        void sender.sendRtp(new RtpPacket(header, Buffer.from(payload)));
        return;
      }
      // What the library's own sender does not do: another source, or another kind.
      header.ssrc = source ?? sender.ssrc;
      header.payloadType = payloadType ?? sender.codec?.payloadType ?? 0;
      void client.dtlsTransports[0]?.sendRtp(Buffer.from(payload), header);
    },
  };
}
