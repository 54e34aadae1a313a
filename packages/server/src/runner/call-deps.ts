/** The dependencies of one live call. */

import type { MediumPlan } from "../plan/plan.ts";
import type { OpenDataConnection } from "../ports/data-connection.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { SttEngine } from "../ports/stt.ts";
import type { ToolInvoker } from "../ports/tool-invoker.ts";
import type { Traces } from "../ports/traces.ts";
import type { Transport, TransportListener } from "../ports/transport.ts";
import type { TtsEngine } from "../ports/tts.ts";
import type { TurnDetector } from "../ports/turn-detector.ts";
import type { VadEngine } from "../ports/vad.ts";
import type { Voices } from "../ports/voices.ts";
import type { CallRecords, RecordJournal } from "./records/call-records.ts";
import type { Clock } from "../pacing/clock.ts";
import type { ResumedCall } from "./resumed-call.ts";
import type { PrepareStage } from "./tasks/stage-runs.ts";
import type { CheckArguments } from "./tasks/tool-call-check.ts";

export interface CallEngines {
  readonly vad: VadEngine;
  readonly stt: SttEngine;
  readonly llm: LlmEngine;
  /** Speaks the voices of the deployment. */
  readonly tts: TtsEngine;
  /** All of them are queried. Unset: none. */
  readonly turnDetectors?: readonly TurnDetector[];
}

/** Opens the connected medium, for example around an upgraded websocket. */
export type OpenTransport = (medium: MediumPlan, listener: TransportListener) => Transport;

export interface CallStart {
  /** The creation time on record; no other time of the call is earlier. */
  readonly createdAt: Date;
  /** The call as another process left it. Unset: it begins here. */
  readonly resumed?: ResumedCall;
}

export interface ConnectInfo {
  readonly clientVersion: string | null;
  /** `experimentalMessages` of the join URL. */
  readonly experimentalMessages: readonly string[];
  /** The client buffers audio that it has not played, in any medium. */
  readonly keepsAudio?: boolean;
  /** The carrier's id of the call; null: it has none, or the medium is not a carrier's. */
  readonly carrierCallId?: string | null;
}

/** The part of a pino logger that is used here. Never given transcripts or secrets. */
export interface CallLogger {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** The lease of this process on its calls, by its own clock. */
export interface CallLease {
  /** No other process can have taken the calls of this one. */
  isHeld(): boolean;
  /** Resolves when that is so again, once the calls that others have taken were stopped here. */
  whenHeld(): Promise<void>;
}

export interface CallDeps {
  readonly engines: CallEngines;
  readonly voices: Voices;
  readonly records: CallRecords;
  readonly journal: RecordJournal;
  readonly recordings: Recordings;
  readonly openDataConnection: OpenDataConnection;
  /** Its opener closes it. */
  readonly toolInvoker: ToolInvoker;
  /** Checks the arguments that the model gives to a tool in a call of this account. */
  readonly checkArguments: (
    accountId: string,
    ...checked: Parameters<CheckArguments>
  ) => ReturnType<CheckArguments>;
  readonly prepareStage: PrepareStage;
  /** Whether all events of a call are written to the records. */
  readonly storeEventLogs: boolean;
  /** Whether another process can continue a call. Unset: none can. */
  readonly keepsSnapshots?: boolean;
  /** Undefined: there are no other processes. */
  readonly lease?: CallLease | undefined;
  readonly clock: Clock;
  /** Null: calls are not traced. */
  readonly traces: Traces | null;
  /** Of the prices of engines. Null or unset: there are none. */
  readonly currency?: string | null;
  readonly logger: CallLogger;
}
