/** Thread entry: the kinds of media that one thread holds. */

import { initResampler } from "../../media/resample.ts";
import { hostLegs } from "../../transports/rtc/leg-host.ts";
import { type LocalLegParts, openLocalLeg } from "../../transports/rtc/local-leg.ts";
import { warmOpus } from "../../transports/rtc/opus.ts";
import { openWeriftPeer, warmWerift } from "../../transports/rtc/werift-peer.ts";
import { openHostedRtpLeg } from "../../transports/sip/media/hosted-rtp-leg.ts";
import { openWebRtcTransport } from "../../transports/webrtc/webrtc-transport.ts";

const WEBRTC_PARTS = { openPeer: openWeriftPeer, openTransport: openWebRtcTransport };
const ROOM_PARTS: LocalLegParts = {
  // Loaded by the first room alone: its messages are a large library.
  openPeer: async (offer, options) => {
    const { ROOM_DIALECT } = await import("../../transports/livekit/room-dialect.ts");
    return openWeriftPeer(offer, options, ROOM_DIALECT);
  },
  openTransport: openWebRtcTransport,
};

await hostLegs(
  {
    webRtc: ({ offer, options }) =>
      openLocalLeg(options.dialect === "room" ? ROOM_PARTS : WEBRTC_PARTS, offer, options),
    rtp: ({ options }) => openHostedRtpLeg(options),
  },
  [warmWerift, warmOpus, () => initResampler(process)],
);
