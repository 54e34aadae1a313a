/** A call as a page holds it. */

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
  UserTextMessage,
} from "./messages.ts";
import type { ToolFailure, ToolHandler, ToolOptions } from "./tools.ts";
import type { Transcript } from "./transcripts.ts";

/** `reconnecting`: the connection is lost and being sought; nothing of the call is over yet. */
export type CallStatus = "live" | "reconnecting" | "over";

export interface CallEnd {
  /** `left`: this page has left. `ended`: the service has ended the call. `lost`: the connection did not come back. */
  readonly reason: "left" | "ended" | "lost";
  readonly error: CallError | null;
}

export interface CallEvents {
  /** What the agent does now. */
  state: AgentState;
  status: CallStatus;
  /** One utterance is new or has changed. */
  transcript: Transcript;
  /** All utterances, after each change. */
  transcripts: readonly Transcript[];
  /** Every data message of the service, after the call has taken it in. */
  message: ServerMessage;
  /** The connection has changed to another transport. */
  transport: Transport;
  /** True: the browser lets nothing sound before the user's next gesture; call `startAudio` from a click. */
  audioBlocked: boolean;
  /** The microphone is gone, unplugged for example; the agent hears silence until `useMicrophone`. */
  microphoneLost: CallError;
  /** The microphone or the agent's voice was muted or opened. */
  muted: { readonly microphone: boolean; readonly output: boolean };
  toolFailed: ToolFailure;
  over: CallEnd;
}

export type TextOptions = Omit<UserTextMessage, "type" | "text">;
export type ForcedMessageOptions = Omit<ForcedAgentMessage, "type" | "content">;

export interface Call {
  /** Null until the service has told it. */
  readonly callId: string | null;
  readonly status: CallStatus;
  readonly state: AgentState;
  readonly transport: Transport;
  readonly transcripts: readonly Transcript[];
  /** Null while the call is not over. */
  readonly end: CallEnd | null;

  /** @returns a function that takes the listener away again */
  on<Name extends keyof CallEvents>(name: Name, listener: Listener<CallEvents[Name]>): () => void;

  readonly microphoneMuted: boolean;
  readonly outputMuted: boolean;
  /** 0 to 1. */
  outputVolume: number;
  muteMicrophone(muted?: boolean): void;
  /** Mutes the agent here; it goes on speaking for the call. */
  muteOutput(muted?: boolean): void;
  /** Another microphone, a track of your own, or `false` for silence. Rejects with a CallError and keeps the old one. */
  useMicrophone(choice: MicrophoneChoice): Promise<void>;
  /** The device that plays the agent; "" is the system's own choice. */
  useOutput(deviceId: string): Promise<void>;
  /** Whether the browser waits for a gesture of the user before anything may sound. */
  readonly audioIsBlocked: boolean;
  /** Call it from a click after `audioBlocked`. False: it is still not allowed. */
  startAudio(): Promise<boolean>;

  /** What the agent hears. Null where there is no microphone. */
  readonly inputTrack: MediaStreamTrack | null;
  /** The agent's voice. Another stream after `transport` has changed. */
  readonly outputStream: MediaStream;
  /** In an AudioContext of the call, for as long as it lasts. */
  readonly inputAnalyser: AnalyserNode;
  readonly outputAnalyser: AnalyserNode;
  levels(): Levels;

  sendText(text: string, options?: TextOptions): void;
  /** From the agent's next reply on. */
  setOutputMedium(medium: OutputMedium): void;
  /** The agent says exactly this, and makes exactly these tool calls. */
  forceAgentMessage(content: string, options?: ForcedMessageOptions): void;
  /** The agent says the message to its end, if there is one, and ends the call. */
  hangUp(message?: string): void;
  /** Any data message. @throws CallError `over`, `message_refused` */
  send(message: ClientMessage): void;
  /** Whole way there and back, in ms. */
  ping(): Promise<number>;

  /** @returns a function that takes the tool away again */
  registerTool(name: string, handler: ToolHandler, options?: ToolOptions): () => void;

  /** Begins anew with the network, as the call does by itself when the network changes. */
  restartNetwork(): Promise<void>;
  /** What the browser measures of a WebRTC connection. */
  stats(): Promise<RTCStatsReport | null>;
  /** Ends the call from this side. Idempotent. */
  leave(): void;
}
