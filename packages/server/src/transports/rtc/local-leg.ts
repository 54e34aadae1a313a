/** A leg of WebRTC in the thread that asks for it. */

import type { TransportListener } from "../../ports/transport.ts";
import type { HostedLeg, HostedTransport } from "./hosted-leg.ts";
import type { LegOpening } from "./leg-request.ts";
import type { Leg, WebRtcTransportOptions } from "./leg.ts";
import { type OpusCodec, openOpus } from "./opus.ts";
import type { OpenPeer, Peer, PeerFaults, PeerOptions } from "./peer.ts";

export interface PeerTransport extends HostedTransport {
  /** A restart of the network is under way: the silence counts from now. */
  restarting(): void;
}

/** Takes over a connected peer and the codec. The listener is not called before this has returned. */
export type OpenPeerTransport = (
  peer: Peer,
  codec: OpusCodec,
  options: WebRtcTransportOptions,
  listener: TransportListener,
) => PeerTransport;

export interface LocalLegParts {
  readonly openPeer: OpenPeer;
  readonly openTransport: OpenPeerTransport;
}

/** @throws what the library makes of an offer that it cannot answer; NoPortError */
export async function openLocalLeg(
  { openPeer, openTransport }: LocalLegParts,
  offer: string,
  options: PeerOptions,
): Promise<LocalLeg> {
  const peer = await openPeer(offer, options);
  try {
    return new LocalLeg(peer, await openOpus(), openTransport);
  } catch (error) {
    await peer.close();
    throw error;
  }
}

export class LocalLeg implements Leg, HostedLeg {
  readonly #peer: Peer;
  readonly #codec: OpusCodec;
  readonly #openTransport: OpenPeerTransport;
  #transport: PeerTransport | null = null;

  constructor(peer: Peer, codec: OpusCodec, openTransport: OpenPeerTransport) {
    this.#peer = peer;
    this.#codec = codec;
    this.#openTransport = openTransport;
  }

  get answer(): string {
    return this.#peer.answer;
  }

  get opening(): LegOpening {
    return { kind: "webRtc", answer: this.#peer.answer };
  }

  get connected(): Promise<boolean> {
    return this.#peer.connected;
  }

  /** Resolves when the leg is ended for the faults of the other side, otherwise never. */
  get faulty(): Promise<PeerFaults> {
    return this.#peer.faulty;
  }

  /** An error of this leg that nobody has caught. False: it does not count. */
  fault(detail: string): boolean {
    return this.#peer.fault(detail);
  }

  get transport(): PeerTransport | null {
    return this.#transport;
  }

  attach(options: WebRtcTransportOptions, listener: TransportListener): PeerTransport {
    if (this.#transport !== null) throw new Error("the leg is already the medium of a call");
    this.#transport = this.#openTransport(this.#peer, this.#codec, options, listener);
    return this.#transport;
  }

  async restart(offer: string): Promise<string> {
    this.#transport?.restarting();
    return this.#peer.restart(offer);
  }

  async close(): Promise<void> {
    if (this.#transport === null) this.#codec.close();
    else this.#transport.close(1000, "");
    await this.#peer.close();
  }
}
