/** A caller with a whole connection to the service, who speaks all the time and counts what comes back. */

import { randomBytes } from "node:crypto";
import { type RTCDataChannel, type RTCRtpSender, RTCPeerConnection, RtpHeader, RtpPacket } from "werift";
import { OPUS_RATE_HZ } from "../../src/transports/rtc/leg.ts";
import { openOpus } from "../../src/transports/rtc/opus.ts";
import { CHANNEL_LABEL } from "../../src/transports/rtc/peer.ts";
import { stunAttribute, stunRequest } from "../../src/transports/rtc/edge/testing/packets.ts";
import { type Place, udpOf } from "./client-inside.ts";
import type { Purpose } from "./messages.ts";
import type { ServiceRequests } from "./service-requests.ts";

const FRAME_MS = 20;
const FRAME = (OPUS_RATE_HZ * FRAME_MS) / 1_000;
/** Ticks of the RTP clock in 20 ms. */
const FRAME_TICKS = 960;
const TONE_HZ = 440;
/** Frames that are sent at once by a process that was late; others are left out. */
const MAX_LATE_FRAMES = 5;
/** Reached only when something is wrong. */
const JOIN_LIMIT_MS = 30_000;
const ANSWER_LIMIT_MS = 20_000;
/** From one request to the next, where no answer comes. */
const REPEAT_MS = 500;
const TALK_LIMIT_MS = 30_000;
const TRANSACTION_ID_AT = 8;
const TRANSACTION_ID_BYTES = 12;

/** A second of a tone, encoded; made once for each process. */
const TONE: readonly Uint8Array[] = await tonePackets();

async function tonePackets(): Promise<Uint8Array[]> {
  const opus = await openOpus();
  const packets = Array.from({ length: 1_000 / FRAME_MS }, (_, frame) => {
    const samples = Int16Array.from({ length: FRAME }, (_sample, at) =>
      Math.round(8_000 * Math.sin((2 * Math.PI * TONE_HZ * (frame * FRAME + at)) / OPUS_RATE_HZ)),
    );
    return Uint8Array.from(opus.encode(samples));
  });
  opus.close();
  return packets;
}

/**
 * Attempts to connect. The client's library fails in some of a thousand handshakes when the machine is busy; what
 * prevents handshakes prevents all of them.
 */
const JOIN_ATTEMPTS = 3;
const POLL_MS = 10;

export interface JoinOptions {
  readonly purpose: Purpose;
  /** Changes the client when it has made its offer, before it gets the answer. */
  readonly prepare?: (caller: Caller) => void;
}

/** @throws where media do not flow in time */
export async function joinedCaller(
  requests: ServiceRequests,
  callId: string,
  options: JoinOptions,
): Promise<Caller> {
  for (let attempt = 1; attempt <= JOIN_ATTEMPTS; attempt += 1) {
    const caller = new Caller(requests, attempt === 1 ? callId : `${callId}-attempt-${String(attempt)}`);
    if (await caller.join(options)) return caller;
    await caller.close();
  }
  throw new Error(`${callId} was not connected in ${String(JOIN_ATTEMPTS)} attempts`);
}

export class Caller {
  readonly callId: string;
  readonly client: RTCPeerConnection;
  readonly channel: RTCDataChannel;
  readonly rtpSender: RTCRtpSender;
  /** Resolves when media flow; false: the service has ended the connection before. */
  readonly joined: Promise<boolean>;
  /** Where the service receives. */
  place: Place = ["127.0.0.1", 0];
  /** Frames of 20 ms. */
  sent = 0;
  received = 0;
  isEnded = false;
  /** The client's library gets nothing but answers to STUN requests: it has not sent what it would be about. */
  isDeaf = false;
  /** Of the service, and the name under which this client knows itself there. */
  username = "";
  password = "";
  readonly #requests: ServiceRequests;
  readonly #answers = new Map<string, () => void>();
  readonly #settle: (joined: boolean) => void;
  readonly #ended = Promise.withResolvers<void>();
  #connectionId = "";
  #talk: NodeJS.Timeout | null = null;

  constructor(requests: ServiceRequests, callId: string) {
    this.callId = callId;
    this.#requests = requests;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.joined = promise;
    this.#settle = resolve;
    this.client = new RTCPeerConnection({
      iceServers: [],
      iceUseTcp: false,
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: ["127.0.0.1"],
      iceInterfaceAddresses: { udp4: "127.0.0.1" },
    });
    this.rtpSender = this.client.addTransceiver("audio").sender;
    this.channel = this.client.createDataChannel(CHANNEL_LABEL);
    requests.listen(callId, {
      joined: () => resolve(true),
      ended: () => {
        this.isEnded = true;
        resolve(false);
        this.#ended.resolve();
      },
    });
  }

  /** @throws where the service refuses the offer */
  async offer({ purpose, prepare }: JoinOptions): Promise<void> {
    const { client } = this;
    await client.setLocalDescription(await client.createOffer());
    const sdp = client.localDescription?.sdp ?? "";
    const answer = await this.#requests.offer(this.callId, purpose, sdp);
    if (answer.kind !== "answered")
      throw new Error(`the offer of ${this.callId} was answered: ${answer.kind}`);
    this.#connectionId = answer.connectionId;
    this.place = ["127.0.0.1", Number(/^a=candidate:\S+ 1 udp \d+ \S+ (\d+)/m.exec(answer.sdp)?.[1])];
    this.username = `${valueIn(answer.sdp, "ice-ufrag")}:${valueIn(sdp, "ice-ufrag")}`;
    this.password = valueIn(answer.sdp, "ice-pwd");
    this.#listen();
    prepare?.(this);
    await client.setRemoteDescription({ type: "answer", sdp: answer.sdp });
  }

  /** @returns whether media flow; not where the client itself has failed, or the service has ended the connection */
  async join(options: JoinOptions): Promise<boolean> {
    await this.offer(options);
    const late = setTimeout(() => this.#settle(false), JOIN_LIMIT_MS);
    const joined = await this.joined;
    clearTimeout(late);
    if (!joined) return false;
    const endMs = performance.now() + JOIN_LIMIT_MS;
    while (this.client.connectionState !== "connected") {
      if (this.client.connectionState === "failed" || performance.now() > endMs) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.#startTalk();
    return true;
  }

  /** Sends bytes from the client's own address. */
  async sendRaw(data: Buffer): Promise<void> {
    await udpOf(this.client).send(data, this.place);
  }

  /**
   * Waits until the service has processed everything that was sent to this connection before: a signed request is
   * answered after it. False: the connection has ended.
   *
   * @throws where it lives and does not answer
   */
  async settled(): Promise<boolean> {
    const transactionId = randomBytes(TRANSACTION_ID_BYTES);
    const answered = Promise.withResolvers<boolean>();
    const request = stunRequest({
      username: this.username,
      password: this.password,
      transactionId,
      attributes: [
        stunAttribute(0x0006, Buffer.from(this.username)),
        stunAttribute(0x0024, Buffer.from([0x6e, 0x7f, 0x1e, 0xff])),
        stunAttribute(0x802a, randomBytes(8)),
      ],
    });
    const send = (): void => void this.sendRaw(request);
    this.#answers.set(transactionId.toString("hex"), () => answered.resolve(true));
    const again = setInterval(send, REPEAT_MS);
    const late = setTimeout(() => {
      answered.reject(new Error(`the connection of ${this.callId} does not answer`));
    }, ANSWER_LIMIT_MS);
    void this.#ended.promise.then(() => answered.resolve(false));
    try {
      if (this.isEnded) return false;
      send();
      return await answered.promise;
    } finally {
      clearInterval(again);
      clearTimeout(late);
      this.#answers.delete(transactionId.toString("hex"));
    }
  }

  /** @throws where half a second of sound does not come back in time */
  async talksOn(): Promise<void> {
    const { received } = this;
    const endMs = performance.now() + TALK_LIMIT_MS;
    while (this.received < received + 500 / FRAME_MS) {
      if (this.isEnded) throw new Error(`${this.callId} was ended`);
      if (performance.now() > endMs) throw new Error(`${this.callId} hears nothing any more`);
      await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    }
  }

  async close(): Promise<void> {
    if (this.#talk !== null) clearInterval(this.#talk);
    this.isEnded = true;
    this.#ended.resolve();
    await this.#requests.hangUp(this.callId, this.#connectionId);
    await this.client.close();
  }

  #listen(): void {
    const udp = udpOf(this.client);
    const take = udp.onData.bind(udp);
    udp.onData = (data, from) => {
      const isStun = (data[0] ?? 0) <= 3 && data.length >= TRANSACTION_ID_AT + TRANSACTION_ID_BYTES;
      if (isStun) this.#answers.get(data.toString("hex", TRANSACTION_ID_AT, 20))?.();
      if (isStun || !this.isDeaf) take(data, from);
    };
    for (const dtls of this.client.dtlsTransports) dtls.onRtp.subscribe(() => (this.received += 1));
  }

  /** 50 packets a second, counted against the clock. */
  #startTalk(): void {
    let sequence = 65_000;
    let timestamp = 0;
    let due = 0;
    const startMs = performance.now();
    this.#talk = setInterval(() => {
      const nowDue = Math.floor((performance.now() - startMs) / FRAME_MS) + 1;
      due = Math.max(due, nowDue - MAX_LATE_FRAMES);
      for (; due < nowDue; due += 1) {
        const header = new RtpHeader({ sequenceNumber: sequence, timestamp, payloadType: 0, ssrc: 0 });
        sequence = (sequence + 1) & 0xffff;
        timestamp = (timestamp + FRAME_TICKS) >>> 0;
        const payload = Buffer.from(TONE[this.sent % TONE.length] ?? []);
        this.sent += 1;
        // What cannot be sent is lost, and the process with the service counts it.
        this.rtpSender.sendRtp(new RtpPacket(header, payload)).catch(() => undefined);
      }
    }, FRAME_MS / 4);
  }
}

function valueIn(sdp: string, name: string): string {
  return new RegExp(`^a=${name}:(\\S+)`, "m").exec(sdp)?.[1] ?? "";
}
