/** Child process: the phones and the WebRTC clients of `media-legs.ts`. They speak all the time and count what they hear. */

import { RTCPeerConnection, RtpHeader, RtpPacket } from "werift";
import { initResampler } from "../../src/media/resample.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import { TransportRecord } from "../../src/ports/testing/transport-conformance.ts";
import { openOpus } from "../../src/transports/rtc/opus.ts";
import { CODEC_RATE_HZ } from "../../src/transports/rtc/rtp-media.ts";
import { openAnsweringSipMedia } from "../../src/transports/sip/media/sip-media.ts";
import { mediaOptions, openLocalRtp } from "../../src/transports/sip/media/testing/sip-phone.ts";
import type { FromOtherSides, ToOtherSides } from "./protocol.ts";

const FRAME_MS = 20;
/** Each side has its own phase, as independent callers have: their packets do not come together. */
const TICK_MS = 2;
const TICKS_OF_FRAME = FRAME_MS / TICK_MS;

interface OtherSide {
  speak(frame: number): void;
  heard(): number;
  close(): Promise<void>;
}

const speech = readSpeechFixture("jfk.wav");
let sides: OtherSide[] = [];
let pending: RTCPeerConnection | null = null;
let frame = 0;

function say(message: FromOtherSides): void {
  process.send?.(message);
}

function frameOf(samples: Int16Array, rateHz: number): Int16Array {
  const size = rateHz / 50;
  const frames = Math.floor(samples.length / size);
  const at = (frame % frames) * size;
  return samples.subarray(at, at + size);
}

async function answerSip({ offer, codec, isSecure }: Extract<ToOtherSides, { type: "sip" }>): Promise<void> {
  const encryption = isSecure ? "required" : "off";
  const options = mediaOptions(openLocalRtp, { encryption, codecs: [codec] });
  const { media, answer } = await openAnsweringSipMedia(offer, options);
  const record = new TransportRecord();
  const transport = media.attach(record);
  const rateHz = CODEC_RATE_HZ[codec];
  const own = rateHz === 16_000 ? speech : speech.filter((_, index) => index % 2 === 0);
  sides.push({
    speak: () => void transport.sendAudio(frameOf(own, rateHz)),
    heard: () => record.heard.splice(0).length,
    close: () => media.close(),
  });
  say({ type: "answer", sdp: answer });
}

async function offerWebRtc(): Promise<void> {
  const client = new RTCPeerConnection({
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceInterfaceAddresses: { udp4: "127.0.0.1" },
  });
  client.addTransceiver("audio");
  client.createDataChannel("messages");
  await client.setLocalDescription(await client.createOffer());
  pending = client;
  say({ type: "offer", sdp: client.localDescription?.sdp ?? "" });
}

async function takeAnswer(sdp: string): Promise<void> {
  const client = pending;
  if (client === null) return;
  pending = null;
  let heard = 0;
  const codec = await openOpus();
  await client.setRemoteDescription({ type: "answer", sdp });
  for (const dtls of client.dtlsTransports) {
    dtls.onRtp.subscribe(() => {
      heard += 1;
    });
  }
  const [sender] = client.getSenders();
  let sequenceNumber = 1;
  sides.push({
    speak: () => {
      const header = new RtpHeader({
        sequenceNumber,
        timestamp: sequenceNumber * 960,
        payloadType: 0,
        ssrc: 0,
      });
      sequenceNumber += 1;
      const payload = Buffer.from(codec.encode(frameOf(speech, 16_000).slice()));
      sender?.sendRtp(new RtpPacket(header, payload)).catch(() => undefined);
    },
    heard: () => {
      const count = heard;
      heard = 0;
      return count;
    },
    close: async () => {
      codec.close();
      await client.close();
    },
  });
}

async function act(message: ToOtherSides): Promise<void> {
  if (message.type === "sip") await answerSip(message);
  else if (message.type === "webRtc") await offerWebRtc();
  else if (message.type === "answer") await takeAnswer(message.sdp);
  else if (message.type === "count") {
    say({ type: "counted", frames: sides.reduce((sum, side) => sum + side.heard(), 0) });
  } else {
    await Promise.all(sides.splice(0).map((side) => side.close()));
    sides = [];
    say({ type: "closed" });
  }
}

await initResampler(process);
const startedMs = performance.now();
let ticks = 0;
// Ticks are counted against the clock, so that late timers lose no frame.
setInterval(() => {
  for (; ticks * TICK_MS <= performance.now() - startedMs; ticks += 1) {
    frame = Math.floor(ticks / TICKS_OF_FRAME);
    for (let at = ticks % TICKS_OF_FRAME; at < sides.length; at += TICKS_OF_FRAME) sides[at]?.speak(frame);
  }
}, TICK_MS);
process.on("message", (message: ToOtherSides) => {
  act(message).catch((error: unknown) => say({ type: "failed", detail: String(error) }));
});
say({ type: "ready" });
