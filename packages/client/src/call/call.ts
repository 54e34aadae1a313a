/** The call object that a page uses. */

import type { Levels } from "../audio/sound.ts";
import type { MicrophoneChoice } from "../audio/microphone.ts";
import type { CallError } from "./call-error.ts";
import type { Listener } from "./emitter.ts";
import type { Transport } from "./link.ts";
import type {
  AgentState,
  ClientMessage,
  ForcedAgentMessage,
  OutputMedium,
  ServerMessage,
  SpawnThreadMessage,
  UserTextMessage,
} from "./messages.ts";
import type { ToolFailure, ToolHandler, ToolOptions } from "./tools.ts";
import type { Transcript } from "./transcripts.ts";

/** `reconnecting`: the connection is lost and the client is trying to restore it; the call has not ended. */
export type CallStatus = "live" | "reconnecting" | "over";

export interface CallEnd {
  /** `left`: this page has left. `ended`: the service has ended the call. `lost`: the connection did not come back. */
  readonly reason: "left" | "ended" | "lost";
  readonly error: CallError | null;
}

export interface CallEvents {
  /** What the agent is doing. */
  state: AgentState;
  status: CallStatus;
  /** An utterance is new or has changed. */
  transcript: Transcript;
  /** All utterances, after each change. */
  transcripts: readonly Transcript[];
  /** Every data message of the service, after the call has processed it. */
  message: ServerMessage;
  /** The connection uses another transport. */
  transport: Transport;
  /** True: the browser blocks audio until the next user gesture; call `startAudio` from a click. */
  audioBlocked: boolean;
  /** The microphone was lost, for example unplugged; the agent hears silence until `useMicrophone`. */
  microphoneLost: CallError;
  /** The microphone or the agent's voice was muted or unmuted. */
  muted: { readonly microphone: boolean; readonly output: boolean };
  toolFailed: ToolFailure;
  over: CallEnd;
}

export type TextOptions = Omit<UserTextMessage, "type" | "text">;
export type ForcedMessageOptions = Omit<ForcedAgentMessage, "type" | "content">;
export type ThreadOptions = Omit<SpawnThreadMessage, "type" | "newThreadId">;

export interface Call {
  /** Null until the service has sent it. */
  readonly callId: string | null;
  readonly status: CallStatus;
  readonly state: AgentState;
  readonly transport: Transport;
  readonly transcripts: readonly Transcript[];
  /** Null until the call ends. */
  readonly end: CallEnd | null;

  /** @returns a function that removes the listener */
  on<Name extends keyof CallEvents>(name: Name, listener: Listener<CallEvents[Name]>): () => void;

  readonly microphoneMuted: boolean;
  readonly outputMuted: boolean;
  /** 0 to 1. */
  outputVolume: number;
  muteMicrophone(muted?: boolean): void;
  /** Mutes the agent in this page; it continues to speak in the call. */
  muteOutput(muted?: boolean): void;
  /**
   * Another microphone, a track of your own, or `false` for silence. Rejects with a CallError and keeps the old one.
   */
  useMicrophone(choice: MicrophoneChoice): Promise<void>;
  /** The device that plays the agent; "" is the system default. */
  useOutput(deviceId: string): Promise<void>;
  /** Whether the browser blocks audio until a user gesture. */
  readonly audioIsBlocked: boolean;
  /** Call it from a click after `audioBlocked`. False: audio is still blocked. */
  startAudio(): Promise<boolean>;

  /** The audio that the agent hears. Null without a microphone. */
  readonly inputTrack: MediaStreamTrack | null;
  /** The agent's voice. Another stream after `transport` has changed. */
  readonly outputStream: MediaStream;
  /** In the AudioContext of the call, until it ends. */
  readonly inputAnalyser: AnalyserNode;
  readonly outputAnalyser: AnalyserNode;
  levels(): Levels;

  sendText(text: string, options?: TextOptions): void;
  /** Applies from the agent's next reply. */
  setOutputMedium(medium: OutputMedium): void;
  /** The agent says exactly this, and makes exactly these tool calls. */
  forceAgentMessage(content: string, options?: ForcedMessageOptions): void;
  /** Starts work of the model beside the conversation, without audio. `message` events tell what comes of it. */
  spawnThread(newThreadId: string, options?: ThreadOptions): void;
  /** The agent says the whole message, if there is one, and ends the call. */
  hangUp(message?: string): void;
  /** Any data message. @throws CallError `over`, `message_refused` */
  send(message: ClientMessage): void;
  /** Round-trip time, in ms. */
  ping(): Promise<number>;

  /** @returns a function that removes the tool */
  registerTool(name: string, handler: ToolHandler, options?: ToolOptions): () => void;

  /** Restarts the network connection. The call does this automatically when the network changes. */
  restartNetwork(): Promise<void>;
  /** What the browser measures of a WebRTC connection. */
  stats(): Promise<RTCStatsReport | null>;
  /** Ends the call from this side. Idempotent. */
  leave(): void;
}
