/** Calls over SIP between two user agents on the loopback address, as the port describes them. */

import { isIPv6 } from "node:net";
import { beforeAll } from "vitest";
import { initResampler } from "../../../media/resample.ts";
import {
  describeSipCalls,
  type SipPeer,
  type SipPeerCall,
} from "../../../ports/testing/sip-calls-conformance.ts";
import { TransportRecord } from "../../../ports/testing/transport-conformance.ts";
import type { SipCallListener as Application } from "../../../ports/sip-calls.ts";
import type { LegTransport } from "../../rtc/leg.ts";
import {
  openAnsweringSipMedia,
  openSipMedia,
  type SipMedia,
  type SipMediaOptions,
} from "../media/sip-media.ts";
import { hostPortText } from "../message/uri.ts";
import { mediaOptions, openLocalRtp } from "../media/testing/sip-phone.ts";
import { openLoopbackAgent } from "../testing/loopback-agent.ts";
import type {
  IncomingInvite,
  OutgoingInvite,
  SipCall,
  SipCallListener,
  SipHeader,
  SipUserAgent,
} from "../user-agent.ts";
import { SipCalls } from "./sip-calls.ts";

beforeAll(() => initResampler(process));

class PhoneCall implements SipPeerCall, SipCallListener {
  media: SipMedia | null = null;
  invite: OutgoingInvite | null = null;
  #status: number | null = null;
  #isOver = false;
  #call: SipCall | null = null;
  #transport: LegTransport | null = null;

  status(): number | null {
    return this.#status;
  }

  isOver(): boolean {
    return this.#isOver;
  }

  hangUp(): void {
    this.#call?.hangUp();
  }

  cancel(): void {
    this.invite?.cancel();
  }

  press(key: string): void {
    this.#transport?.sendDigits?.(key);
  }

  refused(status: number): void {
    this.#status = status;
  }

  begin(media: SipMedia, call: SipCall): void {
    this.#status = 200;
    this.#call = call;
    this.#transport = media.attach(new TransportRecord());
  }

  offered(sdp: string): string | null {
    return this.media?.answer(sdp) ?? null;
  }

  offerWanted(): string | null {
    return this.media?.offer() ?? null;
  }

  answered(): void {
    // Nothing is offered here.
  }

  digit(): void {
    // Keys are in the media.
  }

  referred(): void {
    // Nothing refers here.
  }

  ended(): void {
    this.#isOver = true;
    this.#transport?.hangUp();
  }
}

class Phone implements SipPeer {
  readonly called: PhoneCall[] = [];
  readonly made: PhoneCall[] = [];
  #agent: SipUserAgent | null = null;
  #behaviour: Parameters<SipPeer["behave"]>[0] = "answer";
  readonly #target: number;

  readonly address: string;

  /** @param target port of the user agent */
  constructor(target: number, address: string) {
    this.#target = target;
    this.address = address;
  }

  async open(): Promise<this> {
    this.#agent = await openLoopbackAgent(
      {
        invited: (invite) => void this.#invited(invite),
        logged: () => undefined,
        faulted: (error) => {
          throw error;
        },
      },
      { bind: this.address },
    );
    return this;
  }

  get uri(): string {
    return `sip:peer@${hostPortText(this.address, portOf(this.#agent))}`;
  }

  behave(how: Parameters<SipPeer["behave"]>[0]): void {
    this.#behaviour = how;
  }

  call(user: string, headers: readonly SipHeader[] = []): SipPeerCall {
    const call = new PhoneCall();
    this.made.push(call);
    void openSipMedia(this.#mediaOptions()).then((media) => {
      call.media = media;
      const to = `sip:${user}@${hostPortText(this.address, this.#target)}`;
      const options = { to, from: "sip:+4930123456@127.0.0.1", credentials: null };
      call.invite =
        this.#agent?.invite(
          { ...options, offer: media.offer(), headers },
          {
            progressed: () => undefined,
            failed: ({ cause, status }) => {
              // A call that was canceled is over when the service knows it (`canceled`).
              if (cause !== "canceled") call.refused(status);
            },
            answered: (answered, sdp) => {
              media.accept(sdp);
              call.begin(media, answered);
              return call;
            },
          },
        ) ?? null;
    });
    return call;
  }

  /** The service has read a CANCEL. */
  canceled(): void {
    for (const call of this.made) if (call.status() === null) call.refused(487);
  }

  async close(): Promise<void> {
    await this.#agent?.close();
    for (const { media } of [...this.called, ...this.made]) await media?.close();
  }

  /** Media of its own family alone. */
  #mediaOptions(): SipMediaOptions {
    const own = { bind: this.address, announced: this.address };
    const ways = isIPv6(this.address) ? { ipv4: null, ipv6: own } : { ipv4: own, ipv6: null };
    return mediaOptions(openLocalRtp, { ...ways, signallingAddress: this.address });
  }

  async #invited(invite: IncomingInvite): Promise<void> {
    const call = new PhoneCall();
    this.called.push(call);
    invite.onCanceled(() => call.refused(487));
    if (this.#behaviour === "ring") invite.progress(180);
    else if (this.#behaviour !== "answer") {
      call.refused(this.#behaviour.refuse);
      invite.reject(this.#behaviour.refuse);
    } else {
      const { media, answer } = await openAnsweringSipMedia(invite.offer ?? "", this.#mediaOptions());
      call.media = media;
      call.begin(media, invite.accept(answer, call));
    }
  }
}

const at = (address: string) => ({ bind: address, announced: address });

function portOf(agent: SipUserAgent | null): number {
  return agent?.bound.find(({ transport }) => transport === "udp")?.port ?? 0;
}

/** The user agent serves both families, the other side the one of `address`. */
async function open(listener: Application, address: string) {
  let ours: SipUserAgent | null = null;
  let peer: Phone | null = null;
  const faults: unknown[] = [];
  const { openRtp, portRange, mayUse } = mediaOptions(openLocalRtp);
  const media = { openRtp, portRange, mayUse, ipv4: at("127.0.0.1"), ipv6: at("::1") };
  const dialler = new SipCalls({
    agent: () => {
      if (ours === null) throw new Error("the user agent is not open");
      return ours;
    },
    media,
    listener,
    messaged: () => undefined,
    refused: () => undefined,
    faulted: (error) => void faults.push(error),
  });
  const agent = await openLoopbackAgent(
    {
      invited: (invite) => dialler.invited(invite),
      logged: ({ direction, text }) => {
        if (direction === "received" && text.startsWith("CANCEL ")) setImmediate(() => peer?.canceled());
      },
      faulted: (error) => void faults.push(error),
    },
    { bind: "::", addresses: { ipv4: "127.0.0.1", ipv6: "::1" } },
  );
  ours = agent;
  const phone = await new Phone(portOf(agent), address).open();
  peer = phone;
  return {
    dialler,
    peer: phone,
    dispose: async () => {
      await agent.close();
      await phone.close();
      if (faults.length > 0) throw new Error(`faults: ${faults.map(String).join("; ")}`);
    },
  };
}

describeSipCalls("the user agent over IPv4", (listener) => open(listener, "127.0.0.1"));
describeSipCalls("the user agent over IPv6", (listener) => open(listener, "::1"));
