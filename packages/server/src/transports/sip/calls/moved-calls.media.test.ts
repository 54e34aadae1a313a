/** Calls whose far side wants them to go elsewhere, and calls whose encryption is refused, with phones on the loopback. */

import { beforeAll, expect, onTestFinished, test } from "vitest";
import { initResampler } from "../../../media/resample.ts";
import { TransportRecord } from "../../../ports/testing/transport-conformance.ts";
import { until } from "../../../ports/testing/until.ts";
import type { SipCallListener as Application, SipDestination } from "../../../ports/sip-calls.ts";
import type { LegTransport } from "../../rtc/leg.ts";
import { mediaOptions, openLocalRtp } from "../media/testing/sip-phone.ts";
import { openAnsweringSipMedia, type SipMedia } from "../media/sip-media.ts";
import { openLoopbackAgent } from "../testing/loopback-agent.ts";
import type { IncomingInvite, OutgoingInviteListener, SipCall, SipUserAgent } from "../user-agent.ts";
import { SipCalls } from "./sip-calls.ts";

beforeAll(() => initResampler(process));

const OWNER = { callId: "call", accountId: "account" };
const OPTIONS = mediaOptions(openLocalRtp, { signallingAddress: "127.0.0.1" });
const portOf = (agent: SipUserAgent): number =>
  agent.bound.find(({ transport }) => transport === "udp")?.port ?? 0;
const fault = (error: unknown): never => {
  throw error;
};

/** A phone that answers its one call, or refuses it once `ready` is. */
async function phone(refusal: number | null = null, ready: Promise<void> = Promise.resolve()) {
  const record = new TransportRecord();
  const state: {
    call: SipCall | null;
    transport: LegTransport | null;
    isOver: boolean;
    media: SipMedia | null;
  } = {
    call: null,
    transport: null,
    isOver: false,
    media: null,
  };
  const invited = async (invite: IncomingInvite): Promise<void> => {
    await ready;
    if (refusal !== null) {
      invite.reject(refusal);
      return;
    }
    const { media, answer } = await openAnsweringSipMedia(invite.offer ?? "", OPTIONS);
    state.media = media;
    state.call = invite.accept(answer, {
      offered: () => null,
      offerWanted: () => null,
      answered: () => undefined,
      digit: () => undefined,
      referred: (refer) => refer.reject(603),
      ended: () => (state.isOver = true),
    });
    state.transport = media.attach(record);
  };
  const agent = await openLoopbackAgent({
    invited: (invite) => void invited(invite).catch(fault),
    logged: () => undefined,
    faulted: fault,
  });
  onTestFinished(async () => {
    await agent.close();
    await state.media?.close();
  });
  return {
    uri: `sip:phone@127.0.0.1:${String(portOf(agent))}`,
    state,
    press: (key: string) => state.transport?.sendDigits?.(key),
    refer: () => {
      const outcomes: string[] = [];
      state.call?.refer("sip:+4930123@127.0.0.1", {
        responded: (status) => void outcomes.push(`responded ${String(status)}`),
        progressed: (status, _reason, isFinal) => void (isFinal && outcomes.push(`final ${String(status)}`)),
      });
      return outcomes;
    },
  };
}

/** A connected call of the application with `first`, which follows REFERs to `second`. */
async function connected(first: Awaited<ReturnType<typeof phone>>, second: { readonly uri: string }) {
  const events: string[] = [];
  const received: string[] = [];
  const record = new TransportRecord();
  const heldBack = Promise.withResolvers<void>();
  const listener: Application = {
    offered: () => Promise.resolve({ kind: "refused", status: 603 }),
    connected: (_owner, open) => {
      open(record);
      events.push("connected");
      return Promise.resolve(true);
    },
    failed: (_owner, termination) => void events.push(`failed ${termination}`),
    ended: (_owner, termination) => void events.push(`ended ${termination}`),
    measured: () => undefined,
  };
  const ours: { agent: SipUserAgent | null } = { agent: null };
  const calls = new SipCalls({
    agent: () => ours.agent ?? fault(new Error("not open")),
    media: OPTIONS,
    listener,
    referred: (referral) => {
      const destination: SipDestination = {
        to: second.uri,
        from: "sip:us@127.0.0.1",
        credentials: null,
        ringLimitMs: 60_000,
      };
      void heldBack.promise.then(() =>
        referral.follow(destination, {
          answered: () => void events.push("moved"),
          failed: (termination) => void events.push(`not moved ${termination}`),
          ended: (termination) => void events.push(`second ended ${termination}`),
        }),
      );
    },
    messaged: (_owner, { direction, text }) => void (direction === "received" && received.push(text)),
    refused: () => undefined,
    faulted: fault,
  });
  const agent = await openLoopbackAgent({
    invited: (invite) => calls.invited(invite),
    logged: (entry) => calls.logged(entry),
    faulted: fault,
  });
  ours.agent = agent;
  onTestFinished(() => agent.close());
  const destination: SipDestination = {
    to: first.uri,
    from: "sip:us@127.0.0.1",
    credentials: null,
    ringLimitMs: 60_000,
  };
  expect(await calls.dial(OWNER, destination, () => true)).toBeNull();
  await until(() => events.includes("connected") && first.state.transport !== null);
  return { calls, events, received, record, follow: () => heldBack.resolve() };
}

test("the agent talks with whoever answers, and no longer with the one who has referred", async () => {
  const [first, second] = [await phone(), await phone()];
  const { calls, events, record, follow } = await connected(first, second);
  const outcomes = first.refer();
  follow();
  await until(
    () => events.includes("moved") && outcomes.includes("final 200") && second.state.transport !== null,
  );
  expect(outcomes[0]).toBe("responded 202");
  second.press("5");
  await until(() => record.digits.length === 1);
  first.press("7");
  // The service ends the call with the one who has referred and stays.
  await until(() => first.state.isOver);
  second.press("6");
  await until(() => record.digits.length === 2);
  expect([record.digits, record.closings]).toEqual([["5", "6"], []]);
  expect(calls.callOf(OWNER.callId)?.isOver).toBe(false);
  second.state.call?.hangUp();
  await until(() => record.closings.length === 1 && events.includes("ended NORMAL"));
  expect(events).toEqual(["connected", "moved", "second ended NORMAL", "ended NORMAL"]);
});

test("a call that nobody takes stays with the one who has referred", async () => {
  const [first, second] = [await phone(), await phone(486)];
  const { events, record, follow } = await connected(first, second);
  const outcomes = first.refer();
  follow();
  await until(() => events.includes("not moved BUSY") && outcomes.includes("final 486"));
  first.press("3");
  await until(() => record.digits.length === 1);
  expect([record.digits, record.closings]).toEqual([["3"], []]);
  first.state.call?.hangUp();
  await until(() => events.includes("ended NORMAL"));
});

test.each([
  [null, ["connected", "moved"]],
  [486, ["connected", "ended NORMAL", "not moved BUSY"]],
])(
  "whoever refers may leave at once; then the answer %s decides about the call",
  async (refusal, expected) => {
    const ready = Promise.withResolvers<void>();
    const [first, second] = [await phone(), await phone(refusal, ready.promise)];
    const { events, received, record, follow } = await connected(first, second);
    const outcomes = first.refer();
    follow();
    await until(() => outcomes.includes("responded 202"));
    first.state.call?.hangUp();
    await until(() => received.some((text) => text.startsWith("BYE ")));
    expect([events, record.closings]).toEqual([["connected"], []]);
    ready.resolve();
    await until(() => events.length === expected.length);
    expect(events).toEqual(expected);
    if (refusal !== null) return;
    await until(() => second.state.transport !== null);
    second.press("9");
    await until(() => record.digits.length === 1);
  },
);

/** A user agent that refuses the first description with this status. */
function refusing(status: number) {
  const offers: string[] = [];
  const invite = (options: { readonly offer: string }, listener: OutgoingInviteListener) => {
    offers.push(options.offer);
    const failure = {
      cause: "response",
      status: offers.length === 1 ? status : 486,
      reason: "No",
      retryAfterMs: null,
    } as const;
    setImmediate(() => listener.failed(failure));
    return { id: String(offers.length), callId: "x", cancel: () => undefined };
  };
  return { offers, agent: { invite } as unknown as SipUserAgent };
}

const PROFILES = /m=audio \d+ (\S+)/;

test.each([
  [
    "preferred",
    "sip:a@127.0.0.1;transport=tls",
    488,
    ["RTP/SAVP", "RTP/AVP"],
    ["unencrypted", "failed BUSY"],
  ],
  [
    "preferred",
    "sip:a@127.0.0.1;transport=tls",
    606,
    ["RTP/SAVP", "RTP/AVP"],
    ["unencrypted", "failed BUSY"],
  ],
  ["preferred", "sip:a@127.0.0.1;transport=tls", 403, ["RTP/SAVP"], ["failed REJECTED"]],
  ["required", "sip:a@127.0.0.1;transport=tls", 488, ["RTP/SAVP"], ["failed REJECTED"]],
  [undefined, "sips:a@127.0.0.1", 488, ["RTP/SAVP"], ["failed REJECTED"]],
  ["off", "sips:a@127.0.0.1", 488, ["RTP/AVP"], ["failed REJECTED"]],
  ["preferred", "sip:a@127.0.0.1", 488, ["RTP/AVP"], ["failed REJECTED"]],
] as const)("SRTP %s to %s, refused with %i", async (srtp, to, status, profiles, expected) => {
  const { offers, agent } = refusing(status);
  const events: string[] = [];
  const calls = new SipCalls({
    agent: () => agent,
    media: OPTIONS,
    listener: {
      offered: () => Promise.resolve({ kind: "refused", status: 603 }),
      connected: () => Promise.resolve(true),
      failed: (_owner, termination) => void events.push(`failed ${termination}`),
      ended: () => undefined,
      unencrypted: () => void events.push("unencrypted"),
      measured: () => undefined,
    },
    messaged: () => undefined,
    refused: () => undefined,
    faulted: fault,
  });
  const destination = { to, from: "sip:us@127.0.0.1", credentials: null, ringLimitMs: 60_000 };
  await calls.dial(OWNER, srtp === undefined ? destination : { ...destination, srtp }, () => true);
  await until(() => events.some((event) => event.startsWith("failed")));
  expect([offers.map((offer) => PROFILES.exec(offer)?.[1]), events]).toEqual([profiles, expected]);
});
