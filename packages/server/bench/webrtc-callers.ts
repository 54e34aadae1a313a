/**
 * WebRTC callers in a separate process, so that their cost is not counted as the service's. Their speech is encoded
 * once, and what they receive is not decoded.
 */

import { RTCPeerConnection, type RTCRtpSender, RtpHeader, RtpPacket } from "werift";
import { OPUS_RATE_HZ } from "../src/transports/rtc/leg.ts";
import { openOpus } from "../src/transports/rtc/opus.ts";
import { speechClip } from "./load.ts";
import { type FromCallers, type ToCallers, wallMs } from "./webrtc-caller-protocol.ts";

const FRAME = OPUS_RATE_HZ / 50;
const FRAME_MS = 20;
/** Louder than the background noise of the recording. */
const LOUD = 2_000;

interface Caller {
  readonly peer: RTCPeerConnection;
  send(text: string): void;
  say(): void;
  stop(): void;
  packets: number;
}

const callers = new Map<number, Caller>();
const { quiet, speech } = await encoded();

function tell(message: FromCallers): void {
  process.send?.(message);
}

/** A second of silence, to be repeated, and the clip from its first loud sample on. */
async function encoded(): Promise<{ quiet: Uint8Array[]; speech: Uint8Array[] }> {
  const clip = await speechClip("cards_001");
  const start = clip.findIndex((sample) => Math.abs(sample) > LOUD);
  const opus = await openOpus();
  const frames = (samples: Int16Array): Uint8Array[] => {
    const packets: Uint8Array[] = [];
    for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
      packets.push(Uint8Array.from(opus.encode(samples.slice(at, at + FRAME))));
    }
    return packets;
  };
  return { quiet: frames(new Int16Array(OPUS_RATE_HZ)), speech: frames(clip.slice(start)) };
}

async function open(call: number, joinUrl: string): Promise<void> {
  const peer = new RTCPeerConnection({
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceInterfaceAddresses: { udp4: "127.0.0.1" },
  });
  const { sender } = peer.addTransceiver("audio");
  const channel = peer.createDataChannel("messages");
  const connected = new Promise<number>((resolve) => {
    peer.connectionStateChange.subscribe((state) => {
      if (state === "connected") resolve(wallMs());
    });
  });
  await peer.setLocalDescription(await peer.createOffer());
  const offeredMs = wallMs();
  const answer = await fetch(joinUrl.replace(/^ws/, "http"), {
    method: "POST",
    headers: { "Content-Type": "application/sdp" },
    body: peer.localDescription?.sdp ?? "",
  });
  if (answer.status !== 201) throw new Error(`the offer was answered by ${String(answer.status)}`);
  await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  const connectedMs = await connected;
  const talking = talk(call, sender);
  const caller: Caller = { peer, send: (text) => channel.send(text), ...talking, packets: 0 };
  for (const dtls of peer.dtlsTransports) {
    dtls.onRtp.subscribe(({ header }) => {
      caller.packets += 1;
      if (header.marker) tell({ type: "spokenTo", call, atMs: wallMs() });
    });
  }
  callers.set(call, caller);
  tell({ type: "opened", call, offeredMs, connectedMs });
}

/** 50 packets a second, counted against the clock, with its own phase. */
function talk(call: number, sender: RTCRtpSender): Pick<Caller, "say" | "stop"> {
  let sequence = call & 0xffff;
  let timestamp = 0;
  let sent = 0;
  let saying: number | null = null;
  const startMs = performance.now();
  const send = (payload: Uint8Array): void => {
    const header = new RtpHeader({ sequenceNumber: sequence, timestamp, payloadType: 0, ssrc: 0 });
    void sender.sendRtp(new RtpPacket(header, Buffer.from(payload)));
    sequence = (sequence + 1) & 0xffff;
    timestamp = (timestamp + 960) >>> 0;
  };
  const pump = setInterval(() => {
    const due = Math.floor((performance.now() - startMs) / FRAME_MS) + 1;
    for (; sent < due; sent += 1) {
      const payload = saying === null ? quiet[sent % quiet.length] : speech[saying];
      if (saying === 0) tell({ type: "said", call, atMs: wallMs() });
      if (saying !== null) saying = saying + 1 < speech.length ? saying + 1 : null;
      if (payload !== undefined) send(payload);
    }
  }, FRAME_MS / 4);
  return { say: () => (saying = 0), stop: () => clearInterval(pump) };
}

async function close(call: number): Promise<void> {
  const caller = callers.get(call);
  callers.delete(call);
  caller?.stop();
  await caller?.peer.close();
  tell({ type: "closed", call, packets: caller?.packets ?? 0 });
}

process.on("message", (message: ToCallers) => {
  const { call } = message;
  if (message.type === "say") callers.get(call)?.say();
  else if (message.type === "text") {
    callers.get(call)?.send(JSON.stringify({ type: "user_text_message", text: message.text }));
  } else {
    const doing = message.type === "open" ? open(call, message.joinUrl) : close(call);
    doing.catch((error: unknown) => tell({ type: "failed", call, detail: String(error) }));
  }
});
process.once("disconnect", () => process.exit());
tell({ type: "ready" });
