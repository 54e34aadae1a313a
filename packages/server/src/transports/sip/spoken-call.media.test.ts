/** The user agent and its media together: a whole call between two sides on the loopback. */

import { beforeAll, expect, onTestFinished, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import { sine, tonePower } from "../../media/testing/signals.ts";
import { eventually, TransportRecord } from "../../ports/testing/transport-conformance.ts";
import type { LegTransport } from "../rtc/leg.ts";
import { openAnsweringSipMedia, openSipMedia, type SipMedia } from "./media/sip-media.ts";
import { mediaOptions, openLocalRtp } from "./media/testing/sip-phone.ts";
import type { UserAgentOptions } from "./agent/open-user-agent.ts";
import { openLoopbackAgent } from "./testing/loopback-agent.ts";
import type { SipCall, SipCallEnd, SipCallListener, UserAgentListener } from "./user-agent.ts";

beforeAll(() => initResampler(process));

/** One side of the call. */
class Side {
  readonly record = new TransportRecord();
  media: SipMedia | null = null;
  transport: LegTransport | null = null;
  call: SipCall | null = null;
  end: SipCallEnd | null = null;

  /** Answers what the other side offers within the call, as the application does. */
  readonly listener: SipCallListener = {
    offered: (sdp) => this.media?.answer(sdp) ?? null,
    offerWanted: () => this.media?.offer() ?? null,
    answered: (sdp) => this.media?.accept(sdp),
    digit: (key) => this.record.digit(key),
    referred: (refer) => refer.reject(603),
    ended: (end) => {
      this.end = end;
      this.transport?.hangUp();
    },
  };

  begin(media: SipMedia, call: SipCall): void {
    this.media = media;
    this.call = call;
    this.transport = media.attach(this.record);
    onTestFinished(() => media.close());
  }

  /** Sends a tone until the other side has heard half a second of it. */
  async isHeardBy(other: Side): Promise<void> {
    const rateHz = this.transport?.outputSampleRateHz ?? 0;
    const tone = sine(500, rateHz, rateHz / 50);
    const before = other.record.samples().length;
    const timer = setInterval(() => this.transport?.sendAudio(tone), 20);
    const heard = (): Int16Array => other.record.samples().subarray(before);
    try {
      await eventually(() => {
        const { tone: power, all } = tonePower(heard().subarray(-rateHz / 4), 500, rateHz);
        return heard().length > rateHz / 2 && all > 0.01 && power / all > 0.5;
      }, "the tone");
    } finally {
      clearInterval(timer);
    }
  }
}

async function agent(listener: Partial<UserAgentListener>, options: Partial<UserAgentOptions>) {
  const opened = await openLoopbackAgent(
    {
      invited: (invite) => invite.reject(603),
      logged: () => undefined,
      faulted: (error) => {
        throw error;
      },
      ...listener,
    },
    options,
  );
  onTestFinished(() => opened.close());
  return opened;
}

const ADDRESSES = { ipv4: "127.0.0.1", ipv6: "::1" };
const at = (address: string) => ({ bind: address, announced: address });

test.each([
  ["IPv4", "127.0.0.1", "127.0.0.1", { ipv4: at("127.0.0.1"), ipv6: null }],
  ["IPv6", "::1", "[::1]", { ipv4: null, ipv6: at("::1") }],
])(
  "a call over %s is answered, heard both ways, held, resumed and hung up",
  async (_family, own, host, ways) => {
    const [caller, callee] = [new Side(), new Side()];
    const both = { ipv4: at("127.0.0.1"), ipv6: at("::1"), signallingAddress: own };
    const options = mediaOptions(openLocalRtp, { ...ways, signallingAddress: own });
    // It takes calls of both families.
    const called = await agent(
      {
        invited: (invite) => {
          void openAnsweringSipMedia(invite.offer ?? "", mediaOptions(openLocalRtp, both)).then(
            ({ media, answer }) => {
              callee.begin(media, invite.accept(answer, callee.listener));
            },
          );
        },
      },
      { bind: "::", addresses: ADDRESSES },
    );
    const calling = await agent({}, { bind: own });
    const port = called.bound.find(({ transport }) => transport === "udp")?.port ?? 0;
    const media = await openSipMedia(options);
    const failures: string[] = [];
    calling.invite(
      {
        to: `sip:agent@${host}:${String(port)}`,
        from: "sip:phone@127.0.0.1",
        credentials: null,
        offer: media.offer(),
      },
      {
        progressed: () => undefined,
        failed: ({ status, reason }) => failures.push(`${String(status)} ${reason}`),
        answered: (call, answer) => {
          media.accept(answer);
          caller.begin(media, call);
          return caller.listener;
        },
      },
    );
    await eventually(
      () => failures.length > 0 || (caller.call !== null && callee.call !== null),
      "the answer",
    );
    expect([failures, media.codec, callee.media?.codec]).toEqual([[], "G722", "G722"]);
    await caller.isHeardBy(callee);
    await callee.isHeardBy(caller);
    caller.transport?.sendDigits?.("5#");
    await eventually(() => callee.record.digits.length === 2, "the keys");
    expect(callee.record.digits).toEqual(["5", "#"]);
    for (const isHolding of [true, false]) {
      const outcome = await caller.call?.offer(media.offer({ isHolding }));
      media.accept(outcome?.kind === "answered" ? outcome.sdp : "");
      expect([media.isHolding, callee.media?.isHeld]).toEqual([isHolding, isHolding]);
    }
    await callee.isHeardBy(caller);
    callee.call?.hangUp();
    await eventually(() => caller.end !== null && callee.end !== null, "the end");
    expect([caller.end?.cause, callee.end?.cause]).toEqual(["remote", "local"]);
    expect(caller.record.closings).toEqual([{ regular: true, code: 1000 }]);
    expect(callee.record.closings).toEqual([{ regular: true, code: 1000 }]);
  },
);
