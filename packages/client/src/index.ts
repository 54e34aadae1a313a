/** The client of a Parley service: calls in a page, and the REST API. */

export {
  type AudioDevices,
  listAudioDevices,
  type MicrophoneChoice,
  type MicrophoneOptions,
  openMicrophone,
} from "./audio/microphone.ts";
export type { SocketRates } from "./audio/socket-audio.ts";
export type { Levels } from "./audio/sound.ts";
export { CallError, type CallErrorCode, type CallErrorDetails, type CallProblem } from "./call/call-error.ts";
export type {
  Call,
  CallEnd,
  CallEvents,
  CallStatus,
  ForcedMessageOptions,
  TextOptions,
  ThreadOptions,
} from "./call/call.ts";
export type { Listener } from "./call/emitter.ts";
export { joinCall, type JoinOptions } from "./call/join-call.ts";
export type { Transport } from "./call/link.ts";
export type {
  AgentState,
  CallEventRecord,
  ClientMessage,
  ClientToolInvocation,
  ForcedAgentMessage,
  ForcedToolCall,
  OutputMedium,
  Role,
  ServerMessage,
  SpawnThreadMessage,
  ThreadLimits,
  ThreadMessage,
  ToolResultMessage,
  TranscriptMessage,
  Urgency,
  UserTextMessage,
} from "./call/messages.ts";
export {
  ToolAnswer,
  type ToolAnswerDetails,
  type ToolContext,
  type ToolFailure,
  type ToolHandler,
  type ToolOptions,
} from "./call/tools.ts";
export type { Transcript } from "./call/transcripts.ts";
export type { InputOf, Method, OutputOf, PagedPath, PathOf, RowOf } from "./operations.ts";
export { ParleyError } from "./problem.ts";
export type { RequestOptions } from "./request-options.ts";
export { createRestClient, type RestClient, type RestOptions } from "./rest.ts";
