/** A network between user agents on a manual clock: delays messages, and loses and doubles some by a seed. */

import type { Clock } from "../../../pacing/clock.ts";
import { parseHostPort } from "../message/uri.ts";
import type { NetworkListener, SipNetwork } from "../sockets/sockets.ts";
import type { Hop } from "../transactions/wire.ts";
import type { SipTransportName } from "../user-agent.ts";

export interface LossyNetworkOptions {
  readonly clock: Clock;
  /** 0 to 1, of each message. */
  readonly random: () => number;
  readonly lost: number;
  readonly doubled: number;
  /** Each message takes 1 ms to this many. */
  readonly mostDelayMs: number;
}

/** A message that was sent; `drop` is asked before it is delivered. */
export interface Carried {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export class LossyNetwork {
  readonly #options: LossyNetworkOptions;
  readonly #ends = new Map<string, NetworkListener>();
  readonly carried: Carried[] = [];
  /** Also loses what this function names. */
  drop: (message: Carried) => boolean = () => false;

  constructor(options: LossyNetworkOptions) {
    this.#options = options;
  }

  /** `openNetwork` of a user agent with this address. What it sends arrives as datagrams, whatever the transport is. */
  at(
    address: string,
    port = 5060,
    transports: readonly SipTransportName[] = ["udp"],
  ): (listener: NetworkListener) => Promise<SipNetwork> {
    const own = `${address}:${String(port)}`;
    return (listener) => {
      this.#ends.set(own, listener);
      return Promise.resolve({
        bound: transports.map((transport) => ({ transport, address, port })),
        send: (bytes: Buffer, hop: Hop) => {
          this.#carry(own, `${hop.address}:${String(hop.port)}`, bytes);
        },
        isOpen: () => false,
        close: () => {
          this.#ends.delete(own);
          return Promise.resolve();
        },
      });
    };
  }

  /** A message from an address that has no user agent. */
  inject(from: string, to: string, text: string): void {
    this.#carry(from, to, Buffer.from(text, "utf8"));
  }

  #carry(from: string, to: string, bytes: Buffer): void {
    const { clock, random, lost, doubled, mostDelayMs } = this.#options;
    const message = { from, to, text: bytes.toString("utf8") };
    this.carried.push(message);
    const copies = random() < doubled ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const delayMs = 1 + Math.floor(random() * mostDelayMs);
      if (random() < lost || this.drop(message)) continue;
      clock.after(delayMs, () => {
        const source = parseHostPort(from);
        const hop: Hop = {
          transport: "udp",
          address: source?.host ?? "",
          port: source?.port ?? 0,
          connection: null,
          serverName: null,
        };
        this.#ends.get(to)?.received(Buffer.from(bytes), hop);
      });
    }
  }
}
