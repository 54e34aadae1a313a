/** Conformance suite for calls over SIP; each adapter's test file registers it with its own other side. */

import assert from "node:assert/strict";
import { afterEach, describe, expect, it } from "vitest";
import type { SipTermination } from "@parley/schema";
import type {
  OfferDecision,
  OfferedSipCall,
  SipCallListener,
  SipCallOwner,
  SipDestination,
  SipDialler,
} from "../sip-calls.ts";
import type { Transport } from "../transport.ts";
import { TransportRecord } from "./transport-conformance.ts";
import { until } from "./until.ts";

/** One call of the other side, whoever began it. */
export interface SipPeerCall {
  /** The final response to the INVITE; null before it. */
  status(): number | null;
  /** It was answered, and is over. */
  isOver(): boolean;
  /** Of an answered call. */
  hangUp(): void;
  /** Of a call that the other side has begun and that nobody has answered. */
  cancel(): void;
  /** Of an answered call. */
  press(key: string): void;
}

/** The other side. */
export interface SipPeer {
  /** Reaches the other side. */
  readonly uri: string;
  /** IP address that its calls come from. */
  readonly address: string;
  /** What it does with calls to it: 200, nothing after 180, or a refusal. At first it answers. */
  behave(how: "answer" | "ring" | { readonly refuse: number }): void;
  /** Calls to it, in their order. */
  readonly called: readonly SipPeerCall[];
  call(user: string, headers?: readonly { readonly name: string; readonly value: string }[]): SipPeerCall;
}

export interface SipCallsUnderTest {
  readonly dialler: SipDialler;
  readonly peer: SipPeer;
  readonly dispose: () => Promise<void>;
}

type OpenSipCalls = (listener: SipCallListener) => Promise<SipCallsUnderTest>;

const OWNER: SipCallOwner = { callId: "call-1", accountId: "account-1" };
const RING_LIMIT_MS = 60_000;

/** What the application does, and what it has heard. */
class Application implements SipCallListener {
  readonly events: string[] = [];
  readonly offers: OfferedSipCall[] = [];
  readonly record = new TransportRecord();
  transport: Transport | null = null;
  decide: () => Promise<OfferDecision> = () => Promise.resolve({ kind: "accepted", ...OWNER });
  isOverHere = false;

  offered(call: OfferedSipCall): Promise<OfferDecision> {
    this.offers.push(call);
    return this.decide();
  }

  connected(owner: SipCallOwner, open: Parameters<SipCallListener["connected"]>[1]): Promise<boolean> {
    assert.deepEqual(owner, OWNER);
    this.events.push("connected");
    if (this.isOverHere) return Promise.resolve(false);
    this.transport = open(this.record);
    return Promise.resolve(true);
  }

  failed(owner: SipCallOwner, termination: SipTermination): void {
    assert.deepEqual(owner, OWNER);
    this.events.push(`failed ${termination}`);
  }

  ended(owner: SipCallOwner, termination: SipTermination): void {
    assert.deepEqual(owner, OWNER);
    this.events.push(`ended ${termination}`);
  }

  measured(owner: SipCallOwner): void {
    assert.deepEqual(owner, OWNER);
  }
}

interface Opened extends SipCallsUnderTest {
  readonly application: Application;
  readonly dial: (changes?: Partial<SipDestination>, isWanted?: () => boolean) => Promise<string | null>;
}

export function describeSipCalls(name: string, open: OpenSipCalls): void {
  describe(`calls over SIP of ${name}`, () => {
    const disposals: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const dispose of disposals.splice(0)) await dispose();
    });

    const begin = async (): Promise<Opened> => {
      const application = new Application();
      const under = await open(application);
      disposals.push(under.dispose);
      const dial: Opened["dial"] = (changes = {}, isWanted = () => true) => {
        const usual = { to: under.peer.uri, from: "sip:us@127.0.0.1", credentials: null };
        return under.dialler.dial(OWNER, { ...usual, ringLimitMs: RING_LIMIT_MS, ...changes }, isWanted);
      };
      return { ...under, application, dial };
    };
    incoming(begin);
    outgoing(begin);
  });
}

function incoming(begin: () => Promise<Opened>): void {
  it("offers a call with its addresses and headers", async () => {
    const { application, peer } = await begin();
    const call = peer.call("agent_1", [{ name: "X-Order", value: "17" }]);
    await until(() => call.status() !== null);
    const [offer] = application.offers;
    expect(offer).toMatchObject({ user: "agent_1", registrationId: null, sourceAddress: peer.address });
    expect(offer?.headers).toContainEqual({ name: "x-order", value: "17" });
  });

  it("answers and connects a call, and reports its end once when the other side hangs up", async () => {
    const { application, peer } = await begin();
    const call = peer.call("agent_1");
    await until(() => application.transport !== null && call.status() === 200);
    call.press("5");
    await until(() => application.record.digits.length === 1);
    expect(application.record.digits).toEqual(["5"]);
    call.hangUp();
    await until(() => application.events.length === 2 && application.record.closings.length === 1);
    expect(application.events).toEqual(["connected", "ended NORMAL"]);
    expect(application.record.closings).toMatchObject([{ regular: true }]);
    expect(application.transport?.sendAudio(new Int16Array(320))).toBe(false);
  });

  it("gives a call to the first of two callers, and the other one gets 404", async () => {
    const { application, peer } = await begin();
    const first = peer.call("call_1");
    await until(() => application.transport !== null && first.status() === 200);
    const second = peer.call("call_1");
    await until(() => second.status() !== null);
    expect([second.status(), first.isOver(), application.events]).toEqual([404, false, ["connected"]]);
    first.hangUp();
    await until(() => application.events.length === 2);
    expect(application.events).toEqual(["connected", "ended NORMAL"]);
  });

  it("ends the call of the other side when the medium is closed", async () => {
    const { application, peer } = await begin();
    const call = peer.call("agent_1");
    await until(() => application.transport !== null && call.status() === 200);
    application.transport?.close(1000, "over");
    await until(() => call.isOver() && application.events.length === 2);
    expect(application.events).toEqual(["connected", "ended NORMAL"]);
    expect(application.record.closings).toHaveLength(1);
  });

  it("refuses with the status of the application, which hears nothing more of it", async () => {
    const { application, peer } = await begin();
    application.decide = () => Promise.resolve({ kind: "refused", status: 486 });
    const call = peer.call("agent_1");
    await until(() => call.status() === 486);
    expect(application.events).toEqual([]);
  });

  it("ends a call that is over here when it is answered", async () => {
    const { application, peer } = await begin();
    application.isOverHere = true;
    const call = peer.call("agent_1");
    await until(() => call.isOver() && application.events.length === 2);
    expect(application.events).toEqual(["connected", "ended NORMAL"]);
  });

  it("connects nobody who has given up while the application thought about it", async () => {
    const { application, peer } = await begin();
    const decided = Promise.withResolvers<OfferDecision>();
    application.decide = () => decided.promise;
    const call = peer.call("agent_1");
    await until(() => application.offers.length === 1);
    call.cancel();
    await until(() => call.status() === 487);
    decided.resolve({ kind: "accepted", ...OWNER });
    await until(() => application.events.length === 1);
    expect(application.events).toEqual(["failed CANCELED"]);
  });
}

function outgoing(begin: () => Promise<Opened>): void {
  it("connects a call that is answered, and reports its end once", async () => {
    const { application, peer, dial } = await begin();
    expect(await dial()).toBeNull();
    await until(() => application.transport !== null);
    const [call] = peer.called;
    expect(call?.status()).toBe(200);
    call?.hangUp();
    await until(() => application.events.length === 2 && application.record.closings.length === 1);
    expect(application.events).toEqual(["connected", "ended NORMAL"]);
  });

  it.each([
    [486, "BUSY"],
    [480, "TIMEOUT"],
    [404, "INVALID_NUMBER"],
    [603, "REJECTED"],
    [503, "DESTINATION_UNAVAILABLE"],
  ])("reports a refusal with %i as %s, once", async (status, termination) => {
    const { application, peer, dial } = await begin();
    peer.behave({ refuse: status });
    expect(await dial()).toBeNull();
    await until(() => application.events.length > 0);
    expect(application.events).toEqual([`failed ${termination}`]);
    expect(peer.called[0]?.status()).toBe(status);
  });

  it("stops the ringing of a call that is not wanted any more", async () => {
    const { application, peer, dial } = await begin();
    peer.behave("ring");
    let isWanted = true;
    expect(await dial({}, () => isWanted)).toBeNull();
    await until(() => peer.called.length === 1);
    isWanted = false;
    await until(() => peer.called[0]?.status() === 487 && application.events.length > 0);
    expect(application.events).toEqual(["failed CANCELED"]);
  });

  it("stops the ringing at its limit", async () => {
    const { application, peer, dial } = await begin();
    peer.behave("ring");
    expect(await dial({ ringLimitMs: 200 })).toBeNull();
    await until(() => peer.called[0]?.status() === 487 && application.events.length > 0);
    expect(application.events).toEqual(["failed TIMEOUT"]);
  });

  it.each(["tel:+4930123", "sip:", "sip:a@b c", "sip:ann@127.0.0.1\r\nX: y"])(
    "says that %j cannot be called, and reports nothing",
    async (to) => {
      const { application, peer, dial } = await begin();
      expect(await dial({ to })).toEqual(expect.any(String));
      expect([application.events, peer.called]).toEqual([[], []]);
    },
  );
}
