/** A leg in the thread that asks for it. */

import type { TransportListener } from "../../ports/transport.ts";
import type { Leg, WebRtcTransportOptions } from "./leg.ts";
import { type OpusCodec, openOpus } from "./opus.ts";
import type { OpenPeer, Peer, PeerOptions } from "./peer.ts";
import { openWebRtcTransport, type WebRtcTransport } from "./webrtc-transport.ts";

/** @throws what the library makes of an offer that it cannot answer; NoPortError */
export async function openLocalLeg(
  openPeer: OpenPeer,
  offer: string,
  options: PeerOptions,
): Promise<LocalLeg> {
  const peer = await openPeer(offer, options);
  try {
    return new LocalLeg(peer, await openOpus());
  } catch (error) {
    await peer.close();
    throw error;
  }
}

export class LocalLeg implements Leg {
  readonly #peer: Peer;
  readonly #codec: OpusCodec;
  #transport: WebRtcTransport | null = null;

  constructor(peer: Peer, codec: OpusCodec) {
    this.#peer = peer;
    this.#codec = codec;
  }

  get answer(): string {
    return this.#peer.answer;
  }

  get connected(): Promise<boolean> {
    return this.#peer.connected;
  }

  get transport(): WebRtcTransport | null {
    return this.#transport;
  }

  attach(options: WebRtcTransportOptions, listener: TransportListener): WebRtcTransport {
    if (this.#transport !== null) throw new Error("the leg is a call's medium already");
    this.#transport = openWebRtcTransport(this.#peer, this.#codec, options, listener);
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
