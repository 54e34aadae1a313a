/** Fake calls over SIP without a network: the test plays the other side. */

import type { SipTermination } from "@parley/schema";
import type {
  OfferedSipCall,
  SipCallListener,
  SipCallOwner,
  SipDestination,
  SipDialler,
} from "../sip-calls.ts";
import { openFakeTransport, type FakeTransport } from "./fake-transport.ts";
import type { SipPeer, SipPeerCall } from "./sip-calls-conformance.ts";

const URI = "sip:peer@fake.example";
const ADDRESS = "192.0.2.1";
/** As soon as this the fake stops a ringing that is not wanted. */
const WANTED_INTERVAL_MS = 5;
const TERMINATIONS: ReadonlyMap<number, SipTermination> = new Map([
  [404, "INVALID_NUMBER"],
  [480, "TIMEOUT"],
  [486, "BUSY"],
  [487, "CANCELED"],
  [503, "DESTINATION_UNAVAILABLE"],
]);

export interface FakeSipCalls extends SipDialler {
  readonly peer: SipPeer;
}

export function openFakeSipCalls(listener: SipCallListener): FakeSipCalls {
  const called: FakeCall[] = [];
  const taken = new Set<string>();
  let behaviour: Parameters<SipPeer["behave"]>[0] = "answer";
  return {
    dial: (owner, destination, isWanted) => {
      const problem = problemOf(destination);
      if (problem !== null) return Promise.resolve(problem);
      const call = new FakeCall(listener, taken);
      called.push(call);
      queueMicrotask(() => {
        if (behaviour === "answer") void call.connect(owner);
        else if (behaviour === "ring") call.ring(owner, destination.ringLimitMs, isWanted);
        else call.fail(owner, behaviour.refuse);
      });
      return Promise.resolve(null);
    },
    peer: {
      uri: URI,
      address: ADDRESS,
      called,
      behave: (how) => {
        behaviour = how;
      },
      call: (user, headers = []) => {
        const call = new FakeCall(listener, taken);
        void call.offer(offerOf(user, headers));
        return call;
      },
    },
  };
}

class FakeCall implements SipPeerCall {
  readonly #listener: SipCallListener;
  /** Ids of calls that somebody has answered. A second caller does not get them. */
  readonly #taken: Set<string>;
  #status: number | null = null;
  #answeredAtMs = 0;
  #isOver = false;
  #owner: SipCallOwner | null = null;
  #transport: FakeTransport | null = null;
  #stop: () => void = () => undefined;

  constructor(listener: SipCallListener, taken: Set<string>) {
    this.#listener = listener;
    this.#taken = taken;
  }

  status(): number | null {
    return this.#status;
  }

  isOver(): boolean {
    return this.#isOver;
  }

  hangUp(): void {
    this.#end();
    this.#transport?.lose(true, 1000);
  }

  cancel(): void {
    this.#status ??= 487;
  }

  press(key: string): void {
    this.#transport?.press(key);
  }

  async offer(call: OfferedSipCall): Promise<void> {
    const decision = await this.#listener.offered(call);
    if (decision.kind === "refused") {
      this.#status ??= decision.status;
      return;
    }
    const { callId, accountId } = decision;
    const owner = { callId, accountId };
    if (this.#taken.has(callId)) {
      this.#status ??= 404;
      return;
    }
    if (this.#status === 487) this.#listener.failed(owner, "CANCELED", "the caller gave up");
    else await this.connect(owner);
  }

  async connect(owner: SipCallOwner): Promise<void> {
    this.#status = 200;
    this.#answeredAtMs = performance.now();
    this.#owner = owner;
    this.#taken.add(owner.callId);
    const isConnected = await this.#listener.connected(owner, (listener) => {
      const transport = openFakeTransport(
        {
          ...boundTo(listener),
          closed: (regular, code) => {
            listener.closed(regular, code);
            this.#end();
          },
        },
        { isCarrier: true },
      );
      this.#transport = transport;
      return transport;
    });
    if (!isConnected) this.#end();
  }

  ring(owner: SipCallOwner, limitMs: number, isWanted: () => boolean): void {
    const limit = setTimeout(() => this.fail(owner, 487, "TIMEOUT"), limitMs);
    const watch = setInterval(() => {
      if (!isWanted()) this.fail(owner, 487);
    }, WANTED_INTERVAL_MS);
    this.#stop = () => {
      clearTimeout(limit);
      clearInterval(watch);
    };
  }

  fail(owner: SipCallOwner, status: number, termination = TERMINATIONS.get(status) ?? "REJECTED"): void {
    this.#stop();
    this.#status = status;
    this.#listener.failed(owner, termination, String(status));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#owner !== null) {
      this.#taken.delete(this.#owner.callId);
      this.#listener.ended(this.#owner, "NORMAL", performance.now() - this.#answeredAtMs);
    }
  }
}

function boundTo(listener: Parameters<typeof openFakeTransport>[0]): Parameters<typeof openFakeTransport>[0] {
  return {
    audio: (samples) => listener.audio(samples),
    data: (text, tooLong) => listener.data(text, tooLong),
    problem: (problem) => listener.problem(problem),
    digit: (key) => listener.digit(key),
    played: (position) => listener.played(position),
    closed: (regular, code) => listener.closed(regular, code),
  };
}

function problemOf({ to }: SipDestination): string | null {
  return /^sips?:[^\s<>"]+$/.test(to) ? null : "`to` is not a SIP URI";
}

function offerOf(user: string, headers: OfferedSipCall["headers"]): OfferedSipCall {
  return {
    sourceAddress: ADDRESS,
    registrationId: null,
    user,
    host: "fake.example",
    toUri: `sip:${user}@fake.example`,
    fromUri: "sip:+4930123456@fake.example",
    callerId: "+4930123456",
    fromDisplayName: null,
    headers: headers.map(({ name, value }) => ({ name: name.toLowerCase(), value })),
  };
}
