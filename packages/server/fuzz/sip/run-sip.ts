/**
 * Sends changed messages to the user agent, with a clock and a network of tests. Faults are: an exception, more state
 * than the limits allow, an agent that does not answer any more, and state that stays when all timers have fired.
 */

import { openManualClock } from "../../src/runner/testing/manual-clock.ts";
import { openUserAgent } from "../../src/transports/sip/agent/open-user-agent.ts";
import { UserAgent } from "../../src/transports/sip/agent/user-agent-core.ts";
import { StreamFraming } from "../../src/transports/sip/message/framing.ts";
import type { NetworkListener } from "../../src/transports/sip/sockets/sockets.ts";
import {
  CallRecord,
  inviteOptions,
  InviteRecord,
  NO_DNS,
  SDP_ANSWER,
} from "../../src/transports/sip/testing/sip-world.ts";
import type { Hop } from "../../src/transports/sip/transactions/wire.ts";
import type { IncomingInvite, SipCall } from "../../src/transports/sip/user-agent.ts";
import { Draw } from "../../sim/draw.ts";
import { collectGarbage } from "../media/garbage.ts";
import { drawSip, type KnownCall } from "./draw-sip.ts";

/** Between two messages. */
const STEP_MS = 5;
/** Messages between two steps of the clock, and between two checks. */
const STEP_EVERY = 10;
const CHECK_EVERY = 500;
/** Calls of ours that the peer knows at a time. */
const MOST_KNOWN = 40;
const MOST_FAULTS = 5;
/** Inputs between two looks at the memory. */
const MEASURE_EVERY = 10_000;
/**
 * What is held after a collection, beyond what it was at the beginning. The calls of the fuzzer last an hour, so most of
 * those of a run are open: 630 of 20,000 inputs, which hold 34 MiB, and 3,100 of 100,000. The memory of the process itself
 * says nothing: it keeps pages that were freed.
 */
const MOST_GROWTH_BYTES = 256 * 1024 ** 2;
/** The same when all calls are over: code that was compiled meanwhile. */
const MOST_LEFT_BYTES = 24 * 1024 ** 2;
/** The service ends each call; a peer without refreshes never does. */
const LONGEST_CALL_MS = 3_600_000;
/** Calls, refreshes and transfers are over. */
const END_MS = 8 * 3_600_000;
/** Transactions of the registration that never ends. */
const MOST_LEFT = 2;
const CLOSE_MS = 120_000;
/** Shorter than the agent's own limits, so that they are reached. */
const LIMITS = { server: 2_000, serverOfSource: 1_500, client: 2_000 };

export interface SipFuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  readonly log: (line: string) => void;
  /** In tests of the fuzzer: changes what the agent gets, and may throw. */
  readonly spoil?: (bytes: Buffer) => Buffer;
}

/** @returns what the user agent has not withstood */
export async function runSipFuzz({
  inputs,
  seed,
  log,
  spoil = (bytes) => bytes,
}: SipFuzzOptions): Promise<string[]> {
  const faults: string[] = [];
  const fault = (text: string): void => {
    if (faults.length < MOST_FAULTS) faults.push(`sip: ${text}`);
  };
  const draw = new Draw(seed);
  const fuzz = new SipFuzz(draw, fault);
  await fuzz.open();
  const beganWith = heldBytes();
  let most = 0;
  for (let n = 1; n <= inputs && faults.length < MOST_FAULTS; n += 1) {
    const bytes = drawSip(draw, fuzz.known, n);
    try {
      fuzz.give(spoil(bytes), n);
    } catch (error) {
      fault(
        `${String(error)} at input ${String(n)}: ${JSON.stringify(bytes.toString("latin1").slice(0, 300))}`,
      );
    }
    if (n % STEP_EVERY === 0) await fuzz.step();
    if (n % CHECK_EVERY === 0) await fuzz.check(n);
    if (n % MEASURE_EVERY === 0) most = Math.max(most, heldBytes() - beganWith);
  }
  await fuzz.end();
  const left = heldBytes() - beganWith;
  if (most > MOST_GROWTH_BYTES) fault(`${mebibytes(most)} were held`);
  if (left > MOST_LEFT_BYTES) fault(`${mebibytes(left)} are held when all is over`);
  log(
    `  sip: ${String(inputs)} inputs, ${String(fuzz.answered)} of them answered, ` +
      `${String(fuzz.invited)} calls, at most ${mebibytes(most)} held and ${mebibytes(left)} at the end, ` +
      `${String(faults.length)} failed`,
  );
  for (const text of faults) log(`  FAILED: ${text}`);
  return faults;
}

function heldBytes(): number {
  // What finalizers release is counted by the next collection.
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function mebibytes(bytes: number): string {
  return `${String(Math.round(bytes / 1024 ** 2))} MiB`;
}

class SipFuzz {
  readonly #draw: Draw;
  readonly #fault: (text: string) => void;
  readonly #clock = openManualClock(1_700_000_000_000);
  readonly #framing: StreamFraming;
  #agent: UserAgent | null = null;
  #network: NetworkListener | null = null;
  #checkAnswered = false;
  readonly known: KnownCall[] = [];
  answered = 0;
  invited = 0;

  constructor(draw: Draw, fault: (text: string) => void) {
    this.#draw = draw;
    this.#fault = fault;
    // Broken by the first message that is not framed; what matters is that it does not throw.
    this.#framing = new StreamFraming({
      message: () => undefined,
      pinged: () => undefined,
      broken: () => undefined,
    });
  }

  async open(): Promise<void> {
    const agent = await openUserAgent({
      clock: this.#clock,
      bind: "127.0.0.2",
      port: 5060,
      tls: null,
      announcedAddress: "127.0.0.2",
      allowed: true,
      isKnown: () => false,
      dns: NO_DNS,
      transactionLimits: LIMITS,
      openNetwork: (listener) => {
        this.#network = listener;
        return Promise.resolve({
          bound: [{ transport: "udp", address: "127.0.0.2", port: 5060 }],
          send: (bytes) => {
            this.#sent(bytes.toString("utf8"));
          },
          isOpen: () => false,
          close: () => Promise.resolve(),
        });
      },
      listener: {
        invited: (invite) => {
          this.#invited(invite);
        },
        logged: () => undefined,
        faulted: (error) => {
          this.#fault(error.stack ?? error.message);
        },
      },
    });
    if (agent instanceof UserAgent) this.#agent = agent;
    agent.register(
      { id: "r", username: "fuzz", password: "x", registrar: "127.0.0.1" },
      { changed: () => undefined },
    );
  }

  give(bytes: Buffer, n: number): void {
    this.#network?.received(bytes, hopFrom(n % 50));
    this.#framing.push(bytes);
    const agent = this.#agent;
    if (agent === null || !this.#draw.chance(0.02) || agent.load.transactions > LIMITS.client / 2) return;
    const record = new InviteRecord();
    const invite = agent.invite(
      inviteOptions({ to: "sip:x@127.0.0.1", mayRedirectTo: () => true, credentials: CREDENTIALS }),
      record,
    );
    this.#clock.after(LONGEST_CALL_MS, () => record.call?.hangUp());
    if (this.#draw.chance(0.3))
      this.#clock.after(this.#draw.whole(1, 2_000), () => {
        invite.cancel();
      });
  }

  async step(): Promise<void> {
    await this.#clock.advance(STEP_MS * STEP_EVERY);
  }

  async check(n: number): Promise<void> {
    const { transactions = 0, invites = 0 } = this.#agent?.load ?? {};
    if (transactions > LIMITS.server + LIMITS.client || invites > LIMITS.server) {
      this.#fault(
        `${String(transactions)} transactions and ${String(invites)} invites at input ${String(n)}`,
      );
    }
    this.#checkAnswered = false;
    const text = [
      "OPTIONS sip:127.0.0.2 SIP/2.0",
      `Via: SIP/2.0/UDP 127.0.3.1;branch=z9hG4bKcheck${String(n)}`,
      "From: <sip:check@127.0.3.1>;tag=check",
      "To: <sip:127.0.0.2>",
      `Call-ID: check-${String(n)}`,
      "CSeq: 1 OPTIONS",
      "Content-Length: 0",
      "",
      "",
    ].join("\r\n");
    this.#network?.received(Buffer.from(text), { ...hopFrom(0), address: "127.0.3.1" });
    await this.step();
    if (!this.#checkAnswered) this.#fault(`the agent does not answer any more after input ${String(n)}`);
  }

  async end(): Promise<void> {
    await this.#clock.advance(END_MS);
    const { transactions = 0, calls = 0, callers = 0, invites = 0 } = this.#agent?.load ?? {};
    if (transactions > MOST_LEFT || invites + calls + callers > 0) {
      const left = [
        `${String(transactions)} transactions`,
        `${String(callers)} callers`,
        `${String(invites)} invites`,
        `${String(calls)} calls`,
      ];
      this.#fault(`${left.join(", ")} are left when all is over`);
    }
    const closing = this.#agent?.close();
    await this.#clock.advance(CLOSE_MS);
    await closing;
    if (this.#clock.pending() > 0)
      this.#fault(`${String(this.#clock.pending())} timers are left after the end`);
  }

  #invited(invite: IncomingInvite): void {
    this.invited += 1;
    switch (this.#draw.whole(0, 4)) {
      case 0:
        invite.reject(this.#draw.whole(300, 699));
        return;
      case 1:
        invite.progress(180);
        return;
      case 2: {
        invite.progress(183, SDP_ANSWER);
        const call = this.#accept(invite);
        if (this.#draw.chance(0.2)) call.hangUp();
        else if (this.#draw.chance(0.3)) void call.offer(SDP_ANSWER);
        return;
      }
      default:
        this.#accept(invite);
    }
  }

  #accept(invite: IncomingInvite): SipCall {
    const call = invite.accept(SDP_ANSWER, new CallRecord());
    this.#clock.after(LONGEST_CALL_MS, () => {
      call.hangUp();
    });
    return call;
  }

  #sent(text: string): void {
    this.answered += 1;
    if (text.includes("\r\nCall-ID: check-")) this.#checkAnswered = true;
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1]?.trim() ?? "";
    const [number, method = ""] = field("CSeq").split(" ");
    const isRequest = !text.startsWith("SIP/2.0");
    if (!isRequest && (method !== "INVITE" || !text.startsWith("SIP/2.0 2"))) return;
    const [ours, theirs] = isRequest ? [field("From"), field("To")] : [field("To"), field("From")];
    this.known.push({
      callId: field("Call-ID"),
      ours,
      theirs,
      via: field("Via"),
      method,
      cseq: Number(number),
    });
    if (this.known.length > MOST_KNOWN) this.known.shift();
  }
}

const CREDENTIALS = { username: "u", password: "p" };

function hopFrom(number: number): Hop {
  const address = number % 5 === 0 ? "127.0.0.1" : `127.0.1.${String(number)}`;
  return { transport: "udp", address, port: 5060, connection: null, serverName: null };
}
