/** Peer connections by werift: ICE, DTLS, SRTP and SCTP in JavaScript, on UDP sockets of their own. */

import { isIPv4 } from "node:net";
import {
  type RTCDataChannel,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  type RTCRtpTransceiver,
  RtpHeader,
  RtpPacket,
} from "werift";
import type { RtpPlace } from "../../media/rtp-times.ts";
import { guardPeer, type PeerGuard } from "./edge/guard-peer.ts";
import {
  CHANNEL_LABEL,
  NoPortError,
  OWN_DIALECT,
  type Peer,
  type PeerDialect,
  type PeerFaults,
  type PeerListener,
  type PeerOptions,
} from "./peer.ts";
import { credentialsOf, refusesAudio } from "./sdp.ts";

/** Texts that may come before anybody listens: what a client says first. */
const MAX_EARLY_TEXTS = 32;
/** Largest message that we offer to take; longer ones are cut off and told by the transport. */
const MAX_MESSAGE_BYTES = 512 * 1024;

/** Broken packets of one authenticated client, after which its connection is ended. */
const MAX_FAULTS = 5;

const OPUS = (): RTCRtpCodecParameters =>
  new RTCRtpCodecParameters({
    mimeType: "audio/opus",
    clockRate: 48_000,
    channels: 2,
    parameters: "minptime=10;useinbandfec=1;stereo=0;sprop-stereo=0",
  });

/** The library refuses lines without a codec that it knows; this one is never used. */
const UNUSED_VIDEO = (): RTCRtpCodecParameters =>
  new RTCRtpCodecParameters({ mimeType: "video/VP8", clockRate: 90_000 });

/**
 * Ports of a range are tried one after the other, and between the trial and the use nobody else may look: with a range
 * only one peer may be opening at a time.
 *
 * @throws what werift makes of an offer that it cannot answer; NoPortError
 */
export async function openWeriftPeer(
  offer: string,
  options: PeerOptions,
  dialect: PeerDialect = OWN_DIALECT,
): Promise<Peer> {
  const peer = new WeriftPeer(options, dialect);
  try {
    await peer.answerOffer(offer);
    return peer;
  } catch (error) {
    await peer.close();
    throw error;
  }
}

/** From the offer to an open data channel, in this process. */
const WARM_LIMIT_MS = 5_000;

/**
 * Does once what takes long the first time: the certificate, which all connections of the thread have, and a whole
 * connection over the loopback, so that the code of handshake and encryption is compiled (0.5 s for the first caller
 * otherwise). A machine where that is not possible serves its first caller more slowly, and that is all.
 */
export async function warmWerift(): Promise<void> {
  const loopback = { bindAddresses: ["127.0.0.1"], portRange: null, connectLimitMs: WARM_LIMIT_MS };
  const client = new RTCPeerConnection({ ...network(loopback), iceLite: false });
  client.addTransceiver("audio");
  client.createDataChannel(CHANNEL_LABEL);
  await client.setLocalDescription(await client.createOffer());
  const peer = await openWeriftPeer(client.localDescription?.sdp ?? "", loopback);
  try {
    await client.setRemoteDescription({ type: "answer", sdp: peer.answer });
    await peer.connected;
  } finally {
    await peer.close();
    await client.close();
  }
}

class WeriftPeer implements Peer {
  answer = "";
  readonly connected: Promise<boolean>;
  readonly faulty: Promise<PeerFaults>;
  readonly #connection: RTCPeerConnection;
  readonly #settle: (connected: boolean) => void;
  readonly #blame: (faults: PeerFaults) => void;
  readonly #connectLimitMs: number;
  readonly #dialect: PeerDialect;
  /** See `PeerDialect.speakingLine`. */
  #speakingLine: string | null = null;
  /** Of the last offer. */
  #remoteUsername: string | null = null;
  #connectTimer: NodeJS.Timeout | null = null;
  #listener: PeerListener | null = null;
  #channel: RTCDataChannel | null = null;
  #early: Buffer[] = [];
  #closing: Promise<void> | null = null;
  #hungUp = false;
  #guard: PeerGuard | null = null;
  #faults = 0;
  #isReported = false;

  constructor(options: PeerOptions, dialect: PeerDialect) {
    this.#dialect = dialect;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.connected = promise;
    this.#settle = resolve;
    const faulty = Promise.withResolvers<PeerFaults>();
    this.faulty = faulty.promise;
    this.#blame = faulty.resolve;
    this.#connectLimitMs = options.connectLimitMs;
    this.#connection = new RTCPeerConnection({
      codecs: { audio: [OPUS()], video: dialect.allowsVideo ? [UNUSED_VIDEO()] : [] },
      headerExtensions: { audio: [], video: [] },
      maxMessageSize: MAX_MESSAGE_BYTES,
      // Gets signed requests only.
      iceFilterStunResponse: () => {
        this.#listener?.sign();
        return true;
      },
      ...network(options),
    });
    this.#connection.connectionStateChange.subscribe((state) => this.#onState(state));
    this.#connection.onDataChannel.subscribe((channel) => this.#take(channel));
  }

  async answerOffer(offer: string): Promise<void> {
    this.#speakingLine = this.#dialect.speakingLine(offer);
    this.answer = await this.#answerTo(offer);
    if (!this.answer.includes("a=candidate:")) throw new NoPortError("no UDP port is free");
    const payloadType = Number(/^a=rtpmap:(\d+) opus\//im.exec(this.answer)?.[1]);
    for (const dtls of this.#connection.dtlsTransports) {
      dtls.onRtcp.subscribe(() => this.#listener?.sign());
      // Not by tracks: the library tells of them again at every renegotiation, and knows none for a source that the
      // offer did not name, as when a client changes its SSRC.
      dtls.onRtp.subscribe(({ header, payload }) => {
        this.#listener?.sign();
        if (header.payloadType !== payloadType) return;
        const { ssrc, sequenceNumber: sequence, timestamp } = header;
        this.#listener?.packet({ ssrc, sequence, timestamp, payload });
      });
      dtls.onStateChange.subscribe((state) => {
        if (state === "closed" && this.#closing === null) this.#tell();
      });
    }
    this.#connectTimer = setTimeout(() => this.#settle(false), this.#connectLimitMs);
  }

  listen(listener: PeerListener): void {
    this.#listener = listener;
    if (this.#channel?.readyState === "open") listener.channelOpened();
    for (const text of this.#early.splice(0)) listener.text(text);
    if (this.#hungUp) this.#tell();
  }

  sendAudio(payload: Uint8Array, { sequence, timestamp, marker }: RtpPlace): void {
    const sender = this.#audio()?.sender;
    if (sender === undefined || this.#closing !== null) return;
    // The sender puts its own source and payload type in.
    const header = new RtpHeader({ sequenceNumber: sequence, timestamp, marker, payloadType: 0, ssrc: 0 });
    // What cannot be sent is lost, as on any network; the watchdog sees to a connection that is gone.
    sender.sendRtp(new RtpPacket(header, Buffer.from(payload))).catch(() => undefined);
  }

  sendText(text: string): boolean {
    const channel = this.#channel;
    if (channel?.readyState !== "open" || this.#closing !== null) return false;
    channel.send(this.#dialect.encode(text));
    return true;
  }

  get unsentBytes(): number {
    return this.#channel?.bufferedAmount ?? 0;
  }

  async restart(offer: string): Promise<string> {
    const before = this.#remoteUsername;
    const answer = await this.#answerTo(offer);
    if (this.#remoteUsername === before) return answer;
    // Where encryption stands already the library does not look at the network again by itself.
    for (const ice of this.#connection.iceTransports) {
      // It ends when the other side has come back, or with the connection.
      if (ice.state !== "closed") ice.start().catch(() => undefined);
    }
    return answer;
  }

  /** Who breaks protocols that often means harm, or cannot be understood. */
  fault(detail: string): boolean {
    if (!this.#connection.dtlsTransports.some(({ state }) => state === "connected")) return false;
    this.#faults += 1;
    if (this.#faults < MAX_FAULTS || this.#closing !== null) return true;
    this.#blame({ count: this.#faults, detail });
    this.#tell();
    return true;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#connectTimer !== null) clearTimeout(this.#connectTimer);
    this.#isReported = true;
    this.#settle(false);
    await this.#connection.close();
    await this.#guard?.close();
  }

  async #answerTo(offer: string): Promise<string> {
    const connection = this.#connection;
    // As a DTLS client the library does not check who the server is.
    if (/^a=setup:passive/m.test(offer)) throw new Error("the offer must not be a=setup:passive");
    await connection.setRemoteDescription({ type: "offer", sdp: offer });
    this.#remoteUsername = credentialsOf(offer)?.ufrag ?? null;
    if (this.#guard === null) {
      this.#guard = guardPeer(connection, {
        ended: () => {
          if (this.#closing === null) this.#tell();
        },
        fault: (detail) => {
          this.fault(detail);
        },
      });
    } else if (!this.#guard.holds()) {
      this.#tell();
      throw new Error("the offer must keep the connection of all media");
    }
    this.#audio()?.setDirection("sendrecv");
    // Left to itself the library takes the client's part in the handshake, and begins it after a wait of 100 ms.
    for (const dtls of connection.dtlsTransports) {
      if (dtls.role === "auto") dtls.role = "server";
    }
    // Resolves when all candidates are there: own addresses only, so that takes no time.
    await connection.setLocalDescription(await connection.createAnswer());
    const answer = connection.localDescription?.sdp ?? "";
    // The library rejects a line that it cannot use, with port 0, and answers the others (RFC 3264, section 6).
    if (refusesAudio(answer, this.#speakingLine)) throw new Error("the audio of the offer cannot be used");
    return answer;
  }

  #audio(): RTCRtpTransceiver | undefined {
    const line = this.#speakingLine;
    return this.#connection
      .getTransceivers()
      .find(({ kind, mid }) => kind === "audio" && (line === null || mid === line));
  }

  #onState(state: string): void {
    if (state === "connected") {
      if (this.#connectTimer !== null) clearTimeout(this.#connectTimer);
      this.#settle(true);
    }
    // `failed` and `disconnected` come late or not at all, and an ICE restart mends them: silence decides.
  }

  /** The other side has said goodbye: by the end of its encryption, or of its data channel. */
  readonly #tell = (): void => {
    this.#hungUp = true;
    this.#settle(false);
    if (this.#isReported || this.#listener === null) return;
    this.#isReported = true;
    this.#listener.hungUp();
  };

  #decoded(message: Buffer): Buffer | null {
    try {
      return this.#dialect.decode(message);
    } catch {
      this.fault("a data message cannot be read");
      return null;
    }
  }

  #take(channel: RTCDataChannel): void {
    if (channel.label !== this.#dialect.channelLabel || this.#channel !== null) return;
    this.#channel = channel;
    channel.onMessage.subscribe((data) => {
      this.#listener?.sign();
      const text = this.#decoded(typeof data === "string" ? Buffer.from(data, "utf8") : data);
      if (text === null) return;
      if (this.#listener !== null) this.#listener.text(text);
      else if (this.#early.length < MAX_EARLY_TEXTS) this.#early.push(text);
    });
    if (channel.readyState === "open") this.#listener?.channelOpened();
    channel.stateChanged.subscribe((state) => {
      if (state === "open") this.#listener?.channelOpened();
      else if (state === "closed" && this.#closing === null) this.#tell();
    });
  }
}

/**
 * Only the addresses that are given, only UDP, and no checks of our own towards addresses that clients name: we answer
 * theirs (ICE lite, RFC 8445, section 2.5). The library knows no other way to leave out an address than to know none
 * but the ones that are added.
 */
function network({ bindAddresses, portRange }: PeerOptions) {
  const [only] = bindAddresses;
  const bound =
    bindAddresses.length === 1 && only !== undefined
      ? { iceInterfaceAddresses: isIPv4(only) ? { udp4: only } : { udp6: only } }
      : {};
  return {
    iceServers: [],
    iceLite: true,
    iceUseTcp: false,
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [...bindAddresses],
    ...bound,
    ...(portRange === null ? {} : { icePortRange: [portRange[0], portRange[1]] as [number, number] }),
  };
}
