/** UDP, TCP and TLS together: what the agent sends and receives. */

import type { Clock } from "../../../pacing/clock.ts";
import type { Hop, SendFailed } from "../transactions/wire.ts";
import type { SipSource } from "../user-agent.ts";
import { FloodGate, type FloodLimits } from "./flood-gate.ts";
import type { TlsOptions } from "./inbound.ts";
import { openStreams } from "./streams.ts";
import { openUdp } from "./udp.ts";

/** The network as the agent sees it; tests have one that loses messages. */
export interface SipNetwork {
  readonly bound: readonly SipSource[];
  /** `failed` is called later, and at most once, when it is known that the message does not arrive. */
  send(bytes: Buffer, hop: Hop, failed: SendFailed): void;
  isOpen(connection: number): boolean;
  close(): Promise<void>;
}

export interface NetworkListener {
  /** One whole message, from a source that has not sent too many. `hop` is the way back. */
  received(bytes: Buffer, hop: Hop): void;
}

export interface SocketOptions {
  readonly clock: Clock;
  /** Address of the sockets: `0.0.0.0`, `::` or one of this machine. */
  readonly bind: string;
  /** Of UDP and TCP; 0 chooses one. */
  readonly port: number;
  /** Null: neither calls in nor out over TLS. */
  readonly tls: TlsOptions | null;
  /** Trunks and registrars of accounts, which may send more. */
  readonly isKnown: (address: string) => boolean;
  readonly floodLimits?: FloodLimits;
  readonly listener: NetworkListener;
}

/** @throws when an address cannot be bound */
export async function openSockets(options: SocketOptions): Promise<SipNetwork> {
  const { clock, bind, tls, isKnown, listener } = options;
  const gate = new FloodGate(options.floodLimits);
  const inbound = {
    admit: (address: string) => gate.admit(address, isKnown(address), clock.nowMs()),
    isKnown,
    received: (bytes: Buffer, hop: Hop) => {
      listener.received(bytes, hop);
    },
  };
  const udp = await openUdp({ bind, port: options.port, ...inbound });
  const closers: (() => Promise<void>)[] = [() => udp.close()];
  try {
    const streams = await openStreams({ clock, bind, port: udp.bound.port, tls, ...inbound });
    closers.push(() => streams.close());
    return {
      bound: [udp.bound, ...streams.bound],
      send: (bytes, hop, failed) => {
        if (hop.transport === "udp") udp.send(bytes, hop, failed);
        else streams.send(bytes, hop, failed);
      },
      isOpen: (connection) => streams.isOpen(connection),
      close: async () => {
        await Promise.all(closers.map((close) => close()));
      },
    };
  } catch (error) {
    await udp.close();
    throw error;
  }
}
