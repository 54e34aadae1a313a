/** What one live call is given. */

import type { MediumPlan } from "../call/plan.ts";
import type { OpenDataConnection } from "../ports/data-connection.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { SttEngine } from "../ports/stt.ts";
import type { ToolInvoker } from "../ports/tool-invoker.ts";
import type { Transport, TransportListener } from "../ports/transport.ts";
import type { TtsEngine } from "../ports/tts.ts";
import type { TurnDetector } from "../ports/turn-detector.ts";
import type { VadEngine } from "../ports/vad.ts";
import type { CallRecords } from "./call-records.ts";
import type { Clock } from "./clock.ts";
import type { PrepareStage } from "./prepare-stage.ts";
import type { CheckArguments } from "./tool-call-check.ts";

export interface CallEngines {
  readonly vad: VadEngine;
  readonly stt: SttEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
  /** All of them are asked. Unset: none. */
  readonly turnDetectors?: readonly TurnDetector[];
}

/** Opens the connected medium, for example around an upgraded websocket. */
export type OpenTransport = (medium: MediumPlan, listener: TransportListener) => Transport;

export interface CallStart {
  /** The creation time on record; no other time of the call is earlier. */
  readonly createdAt: Date;
}

export interface ConnectInfo {
  readonly clientVersion: string | null;
  /** `experimentalMessages` of the join URL. */
  readonly experimentalMessages: readonly string[];
  /** The client holds audio that it has not played, whatever the medium. */
  readonly keepsAudio?: boolean;
}

/** The part of a pino logger that is used here. Never given transcripts or secrets. */
export interface CallLogger {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface CallDeps {
  readonly engines: CallEngines;
  readonly records: CallRecords;
  readonly recordings: Recordings;
  readonly openDataConnection: OpenDataConnection;
  /** Closed by whoever opened it. */
  readonly toolInvoker: ToolInvoker;
  /** Of what the model gives to a tool. */
  readonly checkArguments: CheckArguments;
  readonly prepareStage: PrepareStage;
  /** Whether all events of a call are handed to the records. */
  readonly keepEventLogs: boolean;
  readonly clock: Clock;
  readonly logger: CallLogger;
}
