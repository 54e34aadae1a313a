/** A leg as its own thread has it. */

import type { TransportListener } from "../../ports/transport.ts";
import type { AttachOptions } from "./leg-protocol.ts";
import type { LegOpening, LegRequest } from "./leg-request.ts";
import type { LegTransport } from "./leg.ts";
import type { PeerFaults } from "./peer.ts";
import type { MediaFigures, RtpMedia } from "./rtp-media.ts";

export interface HostedTransport extends LegTransport {
  /** A data message as it goes over the wire. */
  sendText(text: string): void;
  /** Of RTP: samples at the rate of the transport, in a loop while nothing else is to be sent; null: silence. */
  playMusic?(samples: Int16Array | null): void;
  /** Of RTP: from now on the other one sends what is heard here, and the listener gets no audio and no keys. */
  relayTo?(other: HostedTransport): void;
  /** Of RTP: one frame of what the other side of the bridge says. False: it was left out. */
  relayed?(frame: Int16Array): boolean;
}

export interface HostedListener extends TransportListener {
  figures(figures: MediaFigures): void;
}

export interface HostedLeg {
  readonly opening: LegOpening;
  /** Resolves when media flow, false when that did not come about within the limit or the leg was closed. */
  readonly connected: Promise<boolean>;
  /** Resolves when the leg is ended for the faults of the other side, otherwise never. */
  readonly faulty: Promise<PeerFaults>;
  /** An error of this leg that nobody has caught. False: it does not count. */
  fault(detail: string): boolean;
  /** Null until it is the medium of a call. */
  readonly transport: HostedTransport | null;
  /** @throws where the options are those of another kind of leg, or it is the medium of a call already */
  attach(options: AttachOptions, listener: HostedListener): HostedTransport;
  /** Of WebRTC: the answer to a new offer. */
  restart?(offer: string): Promise<string>;
  /** Of RTP. */
  agree?(media: RtpMedia): Promise<void>;
  close(): Promise<void>;
}

/** Opens one kind of leg. @throws NoPortError, and what the library makes of an offer that it cannot answer */
export type OpenHostedLeg<Kind extends LegRequest["kind"]> = (
  request: Extract<LegRequest, { readonly kind: Kind }>,
) => Promise<HostedLeg>;

export interface LegKinds {
  readonly webRtc: OpenHostedLeg<"webRtc">;
  readonly rtp: OpenHostedLeg<"rtp">;
}
