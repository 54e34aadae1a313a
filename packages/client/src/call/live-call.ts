/** The call that `joinCall` returns: messages, the microphone, and a connection that is restored when it is lost. */

import { type MicrophoneChoice, openMicrophone } from "../audio/microphone.ts";
import type { Levels, Sound } from "../audio/sound.ts";
import type {
  Call,
  CallEnd,
  CallEvents,
  CallStatus,
  ForcedMessageOptions,
  TextOptions,
  ThreadOptions,
} from "./call.ts";
import { asCallError, CallError } from "./call-error.ts";
import { Emitter, type Listener } from "./emitter.ts";
import type { Joined } from "./connect.ts";
import type { Link, LinkListener, Transport } from "./link.ts";
import {
  type AgentState,
  type ClientMessage,
  type OutputMedium,
  readServerMessage,
  type ServerMessage,
  type TranscriptMessage,
} from "./messages.ts";
import type { Microphone } from "./microphone-slot.ts";
import { Outbox } from "./outbox.ts";
import { watchPage } from "./page-events.ts";
import { recover } from "./recovery.ts";
import { type ToolHandler, type ToolOptions, Tools } from "./tools.ts";
import { type Transcript, withTranscript } from "./transcripts.ts";

/** Wait for a pong. */
const PING_LIMIT_MS = 10_000;

export interface LiveCallOptions {
  readonly joined: Joined;
  readonly sound: Sound;
  readonly microphone: Microphone;
  /** Joins the call again after the connection was lost. */
  readonly rejoin: (track: MediaStreamTrack, signal: AbortSignal) => Promise<Joined>;
}

export class LiveCall implements Call {
  readonly #sound: Sound;
  readonly #microphone: Microphone;
  readonly #rejoin: LiveCallOptions["rejoin"];
  readonly #events = new Emitter<CallEvents>();
  readonly #outbox = new Outbox();
  readonly #tools = new Tools({
    send: (message) => this.#trySend(message),
    failed: (failure) => this.#events.emit("toolFailed", failure),
  });
  readonly #unwatch: () => void;
  #link: Link;
  #recovering: AbortController | null = null;
  #status: CallStatus = "live";
  #state: AgentState = "idle";
  #callId: string | null = null;
  #transcripts: readonly Transcript[] = [];
  #end: CallEnd | null = null;

  constructor({ joined, sound, microphone, rejoin }: LiveCallOptions) {
    this.#sound = sound;
    this.#microphone = microphone;
    this.#rejoin = rejoin;
    this.#link = joined.link;
    sound.play(joined.link.output);
    microphone.send = (track) => this.#link.setTrack(track);
    microphone.lost = (error) => {
      this.#events.emit("microphoneLost", error);
    };
    this.#unwatch = watchPage({
      leaving: () => this.leave(),
      networkChanged: () => {
        // The link reports the result.
        if (this.#status === "live") this.#link.restart().catch(() => undefined);
      },
    });
  }

  get callId(): string | null {
    return this.#callId;
  }
  get status(): CallStatus {
    return this.#status;
  }
  get state(): AgentState {
    return this.#state;
  }
  get transport(): Transport {
    return this.#link.transport;
  }
  get transcripts(): readonly Transcript[] {
    return this.#transcripts;
  }
  get end(): CallEnd | null {
    return this.#end;
  }
  get microphoneMuted(): boolean {
    return this.#microphone.muted;
  }
  get outputMuted(): boolean {
    return this.#sound.muted;
  }
  get outputVolume(): number {
    return this.#sound.volume;
  }
  set outputVolume(volume: number) {
    this.#sound.volume = volume;
  }
  get audioIsBlocked(): boolean {
    return this.#sound.isBlocked;
  }
  get inputTrack(): MediaStreamTrack | null {
    return this.#microphone.own;
  }
  get outputStream(): MediaStream {
    return this.#link.output;
  }
  get inputAnalyser(): AnalyserNode {
    return this.#sound.inputAnalyser;
  }
  get outputAnalyser(): AnalyserNode {
    return this.#sound.outputAnalyser;
  }

  on<Name extends keyof CallEvents>(name: Name, listener: Listener<CallEvents[Name]>): () => void {
    return this.#events.on(name, listener);
  }

  /** Processes the buffered and all further messages of the link. */
  listen({ link, inbox }: Joined): void {
    inbox.attach(this.#listenerOf(link));
  }

  /** Listeners of the audio. */
  audioBlocked(blocked: boolean): void {
    this.#events.emit("audioBlocked", blocked);
  }

  muteMicrophone(muted = true): void {
    this.#microphone.muted = muted;
    this.#events.emit("muted", { microphone: muted, output: this.outputMuted });
  }

  muteOutput(muted = true): void {
    this.#sound.muted = muted;
    this.#events.emit("muted", { microphone: this.microphoneMuted, output: muted });
  }

  async useMicrophone(choice: MicrophoneChoice): Promise<void> {
    if (choice === false || choice instanceof MediaStreamTrack) await this.#microphone.use(choice);
    else {
      const track = await openMicrophone(choice);
      if (this.#end !== null) track.stop();
      else await this.#microphone.use(track, true);
    }
  }

  useOutput(deviceId: string): Promise<void> {
    return this.#sound.useDevice(deviceId);
  }

  startAudio(): Promise<boolean> {
    return this.#sound.start();
  }

  levels(): Levels {
    return this.#sound.levels();
  }

  sendText(text: string, options: TextOptions = {}): void {
    this.send({ type: "user_text_message", text, ...options });
  }

  setOutputMedium(medium: OutputMedium): void {
    this.send({ type: "set_output_medium", medium });
  }

  forceAgentMessage(content: string, options: ForcedMessageOptions = {}): void {
    this.send({ type: "forced_agent_message", content, ...options });
  }

  spawnThread(newThreadId: string, options: ThreadOptions = {}): void {
    this.send({ type: "spawn_thread", newThreadId, ...options });
  }

  hangUp(message = ""): void {
    this.send({ type: "hang_up", message });
  }

  send(message: ClientMessage): void {
    if (this.#end !== null) throw new CallError("over", "The call has ended, so nothing can be sent.");
    this.#outbox.send(this.#link, message);
  }

  ping(): Promise<number> {
    const timestamp = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        for (const off of offs) off();
        act();
      };
      const fail = (code: "network" | "over", text: string) => () =>
        settle(() => reject(new CallError(code, text)));
      const timer = setTimeout(fail("network", "The service did not answer a ping."), PING_LIMIT_MS);
      const offs = [
        this.on("message", (message) => {
          if (message.type !== "pong" || message.timestamp !== timestamp) return;
          settle(() => resolve(performance.now() - timestamp));
        }),
        this.on("over", fail("over", "The call has ended.")),
      ];
      try {
        this.send({ type: "ping", timestamp });
      } catch (error) {
        settle(() => reject(asCallError(error, "network", "A ping could not be sent.")));
      }
    });
  }

  registerTool(name: string, handler: ToolHandler, options?: ToolOptions): () => void {
    return this.#tools.register(name, handler, options);
  }

  async restartNetwork(): Promise<void> {
    if (this.#end !== null) throw new CallError("over", "The call has ended.");
    if (!(await this.#link.restart())) this.#lose(this.#link);
  }

  stats(): Promise<RTCStatsReport | null> {
    return this.#link.stats();
  }

  leave(): void {
    if (this.#end !== null) return;
    this.#link.hangUp();
    this.#finish({ reason: "left", error: null });
  }

  #listenerOf(link: Link): LinkListener {
    const current = () => this.#link === link && this.#end === null;
    return {
      text: (text) => {
        const message = current() ? readServerMessage(text) : null;
        if (message !== null) this.#take(message);
      },
      lost: () => {
        if (current()) this.#lose(link);
      },
      found: () => {
        if (!current()) return;
        this.#recovering?.abort();
        this.#outbox.flush(link);
        this.#become("live");
      },
      closed: (error) => {
        if (current()) this.#finish({ reason: error === null ? "ended" : "lost", error });
      },
    };
  }

  #take(message: ServerMessage): void {
    this.#outbox.flush(this.#link);
    if (message.type === "call_started") this.#callId = message.callId;
    else if (message.type === "state") this.#show(message.state);
    else if (message.type === "transcript") this.#write(message);
    else if (message.type === "client_tool_invocation") void this.#tools.invoke(message);
    this.#events.emit("message", message);
  }

  #show(state: AgentState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#events.emit("state", state);
  }

  #write(message: TranscriptMessage): void {
    const before = this.#transcripts;
    this.#transcripts = withTranscript(before, message);
    const changed = this.#transcripts.find(({ ordinal }) => ordinal === message.ordinal);
    if (this.#transcripts === before) return;
    if (changed !== undefined) this.#events.emit("transcript", changed);
    this.#events.emit("transcripts", this.#transcripts);
  }

  /** A result that cannot be sent is reported to the page only. */
  #trySend(message: ClientMessage & { readonly invocationId: string }): void {
    try {
      this.send(message);
    } catch (error) {
      this.#events.emit("toolFailed", { toolName: "", invocationId: message.invocationId, error });
    }
  }

  #lose(link: Link): void {
    if (this.#recovering !== null) return;
    const recovering = new AbortController();
    this.#recovering = recovering;
    this.#become("reconnecting");
    const rejoin = (signal: AbortSignal) => this.#rejoin(this.#microphone.track, signal);
    recover({ link, rejoin, signal: recovering.signal })
      .then((joined) => {
        this.#recovering = null;
        if (joined !== null) this.#replace(link, joined);
      })
      .catch((error: unknown) => {
        this.#recovering = null;
        const failure = asCallError(error, "network", "The connection was lost.");
        link.drop();
        this.#finish({
          reason: failure.code === "gone" || failure.code === "not_found" ? "ended" : "lost",
          error: failure,
        });
      });
  }

  #replace(old: Link, joined: Joined): void {
    if (this.#end !== null) {
      joined.link.drop();
      return;
    }
    this.#link = joined.link;
    old.drop();
    // The microphone may have changed during the reconnect.
    void joined.link.setTrack(this.#microphone.track);
    this.#sound.play(joined.link.output);
    if (old.transport !== joined.link.transport) this.#events.emit("transport", joined.link.transport);
    this.#become("live");
    this.listen(joined);
    this.#outbox.flush(joined.link);
  }

  #become(status: CallStatus): void {
    if (this.#status === status || this.#status === "over") return;
    this.#status = status;
    this.#events.emit("status", status);
  }

  #finish(end: CallEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#unwatch();
    this.#recovering?.abort();
    this.#tools.close();
    this.#microphone.close();
    this.#sound.close();
    this.#become("over");
    this.#events.emit("over", end);
    this.#events.clear();
  }
}
