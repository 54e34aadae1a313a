/** Thread entry: the kinds of media that one thread holds. */

import { initResampler } from "../../media/resample.ts";
import { hostLegs } from "../../transports/rtc/leg-host.ts";
import { openLocalLeg } from "../../transports/rtc/local-leg.ts";
import { warmOpus } from "../../transports/rtc/opus.ts";
import { openWeriftPeer, warmWerift } from "../../transports/rtc/werift-peer.ts";
import { openHostedRtpLeg } from "../../transports/sip/media/hosted-rtp-leg.ts";
import { openWebRtcTransport } from "../../transports/webrtc/webrtc-transport.ts";

const WEBRTC_PARTS = { openPeer: openWeriftPeer, openTransport: openWebRtcTransport };

await hostLegs(
  {
    webRtc: ({ offer, options }) => openLocalLeg(WEBRTC_PARTS, offer, options),
    rtp: ({ options }) => openHostedRtpLeg(options),
  },
  [warmWerift, warmOpus, () => initResampler(process)],
);
