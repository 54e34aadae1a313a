/** A LiveKit client of version 1 for tests: both websockets, one peer connection, and its messages as they are. */

import { gzipSync } from "node:zlib";
import {
  AddTrackRequest,
  DataPacket,
  JoinRequest,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  TrackSource,
  TrackType,
  UserPacket,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from "@livekit/protocol";
import { type RTCDataChannel, RTCRtpCodecParameters, RTCPeerConnection } from "werift";
import { WebSocket } from "ws";
import { eventually } from "../../../ports/testing/transport-conformance.ts";
import { announcedAnswer } from "../../../transports/rtc/sdp.ts";

type Response = NonNullable<SignalResponse["message"]>;

export class RoomCaller {
  readonly responses: Response[] = [];
  readonly messages: unknown[] = [];
  /** Opus packets that were received. */
  packets = 0;
  closeCode: number | null = null;
  readonly client: RTCPeerConnection;
  readonly channel: RTCDataChannel;
  #signalling: WebSocket | null = null;
  #offers = 0;

  constructor() {
    this.client = new RTCPeerConnection({
      codecs: {
        audio: [new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2 })],
        video: [new RTCRtpCodecParameters({ mimeType: "video/VP8", clockRate: 90_000 })],
      },
      bundlePolicy: "max-bundle",
      iceServers: [],
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: ["127.0.0.1"],
      iceInterfaceAddresses: { udp4: "127.0.0.1" },
    });
    this.channel = this.client.createDataChannel("_reliable", { ordered: true });
    this.client.createDataChannel("_lossy", { ordered: false, maxRetransmits: 0 });
    for (const kind of ["audio", "audio", "audio", "video", "video", "video"] as const) {
      this.client.addTransceiver(kind, { direction: "recvonly" });
    }
    this.channel.onMessage.subscribe((data) => {
      const { value } = DataPacket.fromBinary(Buffer.from(data));
      if (value.case === "user") this.messages.push(JSON.parse(Buffer.from(value.value.payload).toString()));
    });
  }

  /** Connects the signalling with the first offer, and takes the answer. */
  async join(roomUrl: string, token: string): Promise<void> {
    await this.connect(roomUrl, token, { publisherOffer: await this.#offer() });
    await this.#takeAnswer();
    for (const dtls of this.client.dtlsTransports) dtls.onRtp.subscribe(() => (this.packets += 1));
    await eventually(() => this.channel.readyState === "open", "the data channel");
  }

  /** Connects the signalling, again or for the first time. */
  async connect(roomUrl: string, token: string, join: Partial<JoinRequest>): Promise<void> {
    const joinRequest = gzipSync(new JoinRequest(join).toBinary());
    const wrapped = new WrappedJoinRequest({ compression: WrappedJoinRequest_Compression.GZIP, joinRequest });
    const request = Buffer.from(wrapped.toBinary()).toString("base64url");
    const socket = new WebSocket(`${roomUrl}/rtc/v1?access_token=${token}&join_request=${request}`);
    this.#signalling = socket;
    this.closeCode = null;
    socket.on("message", (data: Buffer) => {
      const { message } = SignalResponse.fromBinary(data);
      if (message.case !== undefined) this.responses.push(message);
    });
    socket.on("close", (code) => {
      // A socket that was lost is closed after the next one was made.
      if (this.#signalling === socket) this.closeCode = code;
    });
    socket.on("error", () => undefined);
    const first = this.responses.length;
    await eventually(() => this.responses.length > first || this.closeCode !== null, "the first response");
  }

  /** Publishes a microphone, as these clients do: a line of its own in a further offer. */
  async publish(): Promise<void> {
    const track = { cid: "microphone", type: TrackType.AUDIO, source: TrackSource.MICROPHONE };
    this.request({ case: "addTrack", value: new AddTrackRequest(track) });
    this.client.addTransceiver("audio", { direction: "sendonly" });
    await this.renegotiate();
  }

  async renegotiate(): Promise<void> {
    this.request({ case: "offer", value: await this.#offer() });
    await this.#takeAnswer();
  }

  request(message: NonNullable<SignalRequest["message"]>): void {
    this.sendSignal(new SignalRequest({ message }).toBinary());
  }

  sendSignal(bytes: Uint8Array): void {
    this.#signalling?.send(bytes);
  }

  say(message: unknown): void {
    const payload = Buffer.from(JSON.stringify(message));
    const packet = new DataPacket({ value: { case: "user", value: new UserPacket({ payload }) } });
    this.channel.send(Buffer.from(packet.toBinary()));
  }

  /** The last response of this kind. */
  last<Case extends NonNullable<Response["case"]>>(
    kind: Case,
  ): Extract<Response, { case: Case }> | undefined {
    return this.responses.findLast((one): one is Extract<Response, { case: Case }> => one.case === kind);
  }

  loseSignalling(): void {
    this.#signalling?.terminate();
  }

  async close(): Promise<void> {
    this.#signalling?.terminate();
    await this.client.close();
  }

  async #offer(): Promise<SessionDescription> {
    await this.client.setLocalDescription(await this.client.createOffer());
    this.#offers += 1;
    const sdp = this.client.localDescription?.sdp ?? "";
    return new SessionDescription({ type: "offer", sdp, id: this.#offers });
  }

  async #takeAnswer(): Promise<void> {
    const isAnswered = (): boolean => this.last("answer")?.value.id === this.#offers;
    await eventually(() => isAnswered() || this.closeCode !== null, "the answer");
    const sdp = announcedAnswer(this.last("answer")?.value.sdp ?? "", null);
    await this.client.setRemoteDescription({ type: "answer", sdp });
  }
}
