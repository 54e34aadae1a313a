/** A peer whose packets come over a faulty network. Texts and signs of life come as they are. */

import { FaultyNetwork, type NetworkFaults } from "../../../media/testing/faulty-network.ts";
import type { RtpPiece } from "../../../media/rtp-order.ts";
import type { Peer, PeerListener } from "../../rtc/peer.ts";

export function faultyPeer(peer: Peer, faults: NetworkFaults): Peer {
  const network = new FaultyNetwork<RtpPiece>(faults);
  const received = (listener: PeerListener) => (piece: RtpPiece) => {
    const nowMs = performance.now();
    // The payload is the library's own memory.
    const arrival = network.send({ ...piece, payload: Uint8Array.from(piece.payload) }, nowMs);
    if (arrival !== null) setTimeout(() => listener.packet(arrival.packet), arrival.atMs - nowMs);
  };
  return {
    answer: peer.answer,
    connected: peer.connected,
    faulty: peer.faulty,
    fault: (detail) => peer.fault(detail),
    get unsentBytes() {
      return peer.unsentBytes;
    },
    listen: (listener) => {
      peer.listen({
        sign: () => listener.sign(),
        packet: received(listener),
        text: (message) => listener.text(message),
        channelOpened: () => listener.channelOpened(),
        hungUp: () => listener.hungUp(),
      });
    },
    sendAudio: (payload, place) => peer.sendAudio(payload, place),
    sendText: (text) => peer.sendText(text),
    restart: (offer) => peer.restart(offer),
    close: () => peer.close(),
  };
}
