/** User agents on a manual clock and a network of tests, with listeners that write down what happens. */

import { seeded } from "../../../media/testing/seeded.ts";
import { openManualClock, type ManualClock } from "../../../runner/testing/manual-clock.ts";
import { openUserAgent, type UserAgentOptions } from "../agent/open-user-agent.ts";
import type { SipDns } from "../routing/locate.ts";
import type {
  IncomingInvite,
  IncomingRefer,
  OutgoingInviteListener,
  OutgoingInviteOptions,
  SipCall,
  SipCallEnd,
  SipCallListener,
  SipFailure,
  SipLogEntry,
  SipUserAgent,
} from "../user-agent.ts";
import { LossyNetwork } from "./lossy-network.ts";

export interface WorldOptions {
  readonly seed?: number;
  readonly lost?: number;
  readonly doubled?: number;
  readonly mostDelayMs?: number;
}

export const SDP_OFFER = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n";
export const SDP_ANSWER = "v=0\r\no=- 2 1 IN IP4 127.0.0.2\r\ns=-\r\nt=0 0\r\nm=audio 4002 RTP/AVP 0\r\n";

/** A DNS without records: tests name addresses. */
export const NO_DNS: SipDns = {
  naptr: () => Promise.resolve([]),
  srv: () => Promise.resolve([]),
  addresses: () => Promise.resolve([]),
};

export class SipWorld {
  readonly clock: ManualClock;
  readonly network: LossyNetwork;
  readonly #random: () => number;

  constructor({ seed = 1, lost = 0, doubled = 0, mostDelayMs = 20 }: WorldOptions = {}) {
    this.clock = openManualClock(1_700_000_000_000);
    this.#random = seeded(seed);
    this.network = new LossyNetwork({ clock: this.clock, random: this.#random, lost, doubled, mostDelayMs });
  }

  /** @param invited what the application does with a call; nothing unless given */
  async agent(
    address: string,
    invited: (invite: IncomingInvite) => void = () => undefined,
    options: Partial<UserAgentOptions> = {},
  ): Promise<WorldAgent> {
    const logs: SipLogEntry[] = [];
    const faults: Error[] = [];
    const invites: IncomingInvite[] = [];
    const agent = await openUserAgent({
      clock: this.clock,
      bind: address,
      port: 5060,
      tls: null,
      announcedAddress: address,
      allowed: true,
      isKnown: () => true,
      dns: NO_DNS,
      random: { token: () => this.#token(), fraction: this.#random },
      openNetwork: this.network.at(address),
      listener: {
        invited: (invite) => {
          invites.push(invite);
          invited(invite);
        },
        logged: (entry) => void logs.push(entry),
        faulted: (error) => void faults.push(error),
      },
      ...options,
    });
    return { agent, logs, faults, invites };
  }

  #token(): string {
    return Array.from({ length: 4 }, () => Math.floor(this.#random() * 65_536).toString(16)).join("");
  }
}

export interface WorldAgent {
  readonly agent: SipUserAgent;
  readonly logs: readonly SipLogEntry[];
  readonly faults: readonly Error[];
  readonly invites: readonly IncomingInvite[];
}

/** Listener of a call that answers offers and writes everything down. */
export class CallRecord implements SipCallListener {
  readonly events: string[] = [];
  readonly refers: IncomingRefer[] = [];
  end: SipCallEnd | null = null;
  answer: string | null = SDP_ANSWER;
  call: SipCall | null = null;

  offered(sdp: string): Promise<string | null> | string | null {
    this.events.push(`offered ${directionIn(sdp)}`);
    return this.answer;
  }

  offerWanted(): string | null {
    this.events.push("offer wanted");
    return SDP_OFFER;
  }

  answered(): void {
    this.events.push("answered");
  }

  digit(key: string, durationMs: number): void {
    this.events.push(`digit ${key} ${String(durationMs)}`);
  }

  referred(refer: IncomingRefer): void {
    this.refers.push(refer);
    this.events.push(`referred to ${refer.to}`);
  }

  ended(end: SipCallEnd): void {
    if (this.end !== null) throw new Error("the call ended twice");
    this.end = end;
    this.events.push(`ended ${end.cause}`);
  }
}

function directionIn(sdp: string): string {
  return /a=(sendonly|recvonly|inactive|sendrecv)/.exec(sdp)?.[1] ?? "sendrecv";
}

/** Listener of an outgoing call. */
export class InviteRecord implements OutgoingInviteListener {
  readonly events: string[] = [];
  readonly record = new CallRecord();
  call: SipCall | null = null;
  answer: string | null = null;
  failure: SipFailure | null = null;

  progressed(status: number): void {
    this.events.push(String(status));
  }

  answered(call: SipCall, answer: string): SipCallListener {
    if (this.isOver) throw new Error("the invite was settled twice");
    this.call = call;
    this.answer = answer;
    this.events.push("answered");
    return this.record;
  }

  failed(failure: SipFailure): void {
    if (this.isOver) throw new Error("the invite was settled twice");
    this.failure = failure;
    this.events.push(`failed ${failure.cause} ${String(failure.status)}`);
  }

  get isOver(): boolean {
    return this.call !== null || this.failure !== null;
  }
}

export function inviteOptions(options: Partial<OutgoingInviteOptions> = {}): OutgoingInviteOptions {
  return {
    to: "sip:agent_1@127.0.0.2",
    from: '"Caller" <sip:+4930123@127.0.0.1>',
    credentials: null,
    offer: SDP_OFFER,
    ...options,
  };
}
