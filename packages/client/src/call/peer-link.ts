/** A WebRTC connection of a call: one POST with an offer, a data channel, and requests to the URL in `Location`. */

import { CallError } from "./call-error.ts";
import { joinRefusal } from "./join-refusal.ts";
import type { Link, LinkListener } from "./link.ts";
import { iceServersOf, restartedAnswer, restartFragment } from "./sdp.ts";

/** Name of the channel for data messages. */
const CHANNEL_LABEL = "messages";
/** Timeout of one signalling request. The service holds an offer for up to 8 s while another process takes up the call. */
const REQUEST_LIMIT_MS = 12_000;
/** Timeout of the last request. The service also notices a closed connection soon. */
const HANG_UP_LIMIT_MS = 2_000;
/** Without messages from the service, a connection counts as joined this long after its media flow. */
const SILENT_JOIN_MS = 2_000;

/** The connection is gone, or has been restarted too often: only a new one helps. */
const NO_RESTART: ReadonlySet<number> = new Set([404, 410, 429]);

export interface PeerLinkOptions {
  /** The join URL with http or https. */
  readonly url: string;
  /** Added to the servers of the service. */
  readonly iceServers: readonly RTCIceServer[];
  /** `relay`: media use TURN servers only. */
  readonly iceTransportPolicy: RTCIceTransportPolicy;
  readonly track: MediaStreamTrack;
  readonly listener: LinkListener;
}

export class PeerLink implements Link {
  readonly transport = "webRtc";
  readonly output = new MediaStream();
  readonly joined: Promise<void>;
  /** Resolves when ICE has failed or could not start. */
  readonly stuck: Promise<void>;
  readonly #options: PeerLinkOptions;
  readonly #peer: RTCPeerConnection;
  readonly #channel: RTCDataChannel;
  readonly #sender: RTCRtpSender;
  readonly #join = Promise.withResolvers<void>();
  readonly #stuck = Promise.withResolvers<void>();
  #location: string | null = null;
  #silentJoin: ReturnType<typeof setTimeout> | undefined;
  #isJoined = false;
  #isLost = false;
  #closed = false;

  constructor(options: PeerLinkOptions) {
    this.#options = options;
    this.joined = this.#join.promise;
    this.stuck = this.#stuck.promise;
    // If only one of the promises is awaited, a rejection of the other is not an uncaught error.
    this.joined.catch(() => undefined);
    const { iceTransportPolicy, track, iceServers } = options;
    this.#peer = new RTCPeerConnection({ iceTransportPolicy, iceServers: [...iceServers] });
    this.#channel = this.#peer.createDataChannel(CHANNEL_LABEL, { ordered: true });
    this.#sender = this.#peer.addTransceiver(track, { direction: "sendrecv" }).sender;
    this.#listen();
    this.#offer().catch((error: unknown) => {
      this.#fail(error instanceof CallError ? error : unreachable(error));
    });
  }

  get hasJoined(): boolean {
    return this.#isJoined;
  }

  get unsentBytes(): number {
    return this.#channel.bufferedAmount;
  }

  send(text: string): boolean {
    if (this.#closed || this.#channel.readyState !== "open") return false;
    this.#channel.send(text);
    return true;
  }

  async setTrack(track: MediaStreamTrack): Promise<void> {
    await this.#sender.replaceTrack(track);
  }

  async restart(): Promise<boolean> {
    const answer = this.#peer.currentRemoteDescription?.sdp;
    if (this.#closed || this.#location === null || answer === undefined) return false;
    // An offer without an answer is replaced by the next one.
    const offer = await this.#peer.createOffer({ iceRestart: true });
    await this.#peer.setLocalDescription(offer);
    const fragment = restartFragment(offer.sdp ?? "");
    const response = await request(this.#location, "PATCH", "application/trickle-ice-sdpfrag", fragment);
    if (NO_RESTART.has(response.status)) return false;
    if (response.status !== 200) throw await joinRefusal(response);
    const sdp = restartedAnswer(answer, await response.text());
    if (sdp === null) throw new CallError("network", "The service's answer to a restart has no credentials.");
    await this.#peer.setRemoteDescription({ type: "answer", sdp });
    return true;
  }

  stats(): Promise<RTCStatsReport | null> {
    return this.#peer.getStats();
  }

  hangUp(): void {
    if (this.#closed) return;
    this.#release();
    const close = () => this.#peer.close();
    if (this.#location === null) {
      close();
      return;
    }
    // The connection is closed last: if the service saw that first, the request would get a 404. `keepalive` lets the
    // request outlive the page. If it fails, the closed connection ends the call as well.
    const signal = AbortSignal.timeout(HANG_UP_LIMIT_MS);
    fetch(this.#location, { method: "DELETE", keepalive: true, signal }).then(close, close);
  }

  drop(): void {
    if (this.#closed) return;
    this.#release();
    this.#peer.close();
  }

  #release(): void {
    this.#closed = true;
    clearTimeout(this.#silentJoin);
    this.#join.reject(new CallError("over", "The connection was closed."));
  }

  #listen(): void {
    const peer = this.#peer;
    peer.addEventListener("track", ({ track }) => {
      this.output.addTrack(track);
    });
    peer.addEventListener("connectionstatechange", () => this.#follow());
    this.#channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      if (this.#closed || typeof data !== "string") return;
      this.#welcome();
      this.#options.listener.text(data);
      if (data.startsWith('{"type":"reconnect"')) this.#leave();
    });
    this.#channel.addEventListener("close", () => this.#end());
  }

  async #offer(): Promise<void> {
    const { url, iceServers } = this.#options;
    const offer = await this.#peer.createOffer();
    const response = await request(url, "POST", "application/sdp", offer.sdp ?? "");
    if (response.status !== 201) throw await joinRefusal(response);
    const location = response.headers.get("Location");
    const sdp = await response.text();
    if (this.#closed) return;
    this.#location = location === null ? null : new URL(location, url).href;
    const named = iceServersOf(response.headers.get("Link"));
    if (named.length > 0) {
      // Gathering starts here, so the servers are known in time.
      this.#peer.setConfiguration({
        ...this.#peer.getConfiguration(),
        iceServers: [...iceServers, ...named],
      });
    }
    await this.#peer.setLocalDescription(offer);
    await this.#peer.setRemoteDescription({ type: "answer", sdp });
  }

  #follow(): void {
    if (this.#closed) return;
    const { listener } = this.#options;
    switch (this.#peer.connectionState) {
      case "connected":
        if (!this.#isJoined) this.#silentJoin ??= setTimeout(() => this.#welcome(), SILENT_JOIN_MS);
        if (this.#isLost) listener.found();
        this.#isLost = false;
        break;
      case "failed":
        this.#stuck.resolve();
        this.#lose();
        break;
      case "disconnected":
        this.#lose();
        break;
      case "closed":
        this.#end();
        break;
      case "new":
      case "connecting":
        break;
    }
  }

  #lose(): void {
    if (!this.#isJoined || this.#isLost) return;
    this.#isLost = true;
    this.#options.listener.lost();
  }

  /** Another process of the service has the call: only a new connection reaches it. */
  #leave(): void {
    this.drop();
    this.#options.listener.lost();
  }

  #welcome(): void {
    if (this.#isJoined || this.#closed) return;
    this.#isJoined = true;
    clearTimeout(this.#silentJoin);
    this.#join.resolve();
  }

  /** The other side has closed the connection. */
  #end(): void {
    if (this.#closed) return;
    if (this.#isJoined) {
      this.drop();
      this.#options.listener.closed(null);
    } else
      this.#fail(new CallError("network", "The service closed the connection before the call was joined."));
  }

  #fail(error: CallError): void {
    if (this.#closed) return;
    this.#stuck.resolve();
    this.#join.reject(error);
    this.drop();
  }
}

async function request(url: string, method: string, type: string, body: string): Promise<Response> {
  const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
  try {
    return await fetch(url, { method, headers: { "Content-Type": type }, body, signal });
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(cause: unknown): CallError {
  return new CallError("network", "The service could not be reached. Check the network and the URL.", {
    cause,
  });
}
