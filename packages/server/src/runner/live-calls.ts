/** The calls that live in this process, from creation to end. */

import type { ClientDataMessage } from "@parley/schema";
import type { CallPlan, MediumPlan } from "../call/plan.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { SttEngine } from "../ports/stt.ts";
import type { Transport, TransportListener } from "../ports/transport.ts";
import type { TtsEngine } from "../ports/tts.ts";
import type { VadEngine } from "../ports/vad.ts";
import type { CallRecords } from "./call-records.ts";
import type { Clock } from "./clock.ts";

export interface CallEngines {
  readonly vad: VadEngine;
  readonly stt: SttEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
}

/** Opens the connected medium, for example around an upgraded websocket. */
export type OpenTransport = (medium: MediumPlan, listener: TransportListener) => Transport;

export interface CallStart {
  /** The creation time on record; wall-clock times of the call count from here. */
  readonly createdAt: Date;
}

export interface ConnectInfo {
  readonly clientVersion: string | null;
  /** `experimentalMessages` of the join URL. */
  readonly experimentalMessages: readonly string[];
}

/** `joinable`: never joined, or lost and within its grace. `not_live`: ended, or never of this process. */
export type JoinState = "joinable" | "connected" | "not_live";

export type ConnectOutcome = "connected" | "joined" | "gone";

export type SendOutcome = "accepted" | "not_joined" | "not_live";

export interface DrainSummary {
  /** Calls that ended by themselves within the limit. */
  readonly ended: number;
  /** Calls that were ended because the limit had passed. */
  readonly cut: number;
}

export interface LiveCallsDeps {
  readonly engines: CallEngines;
  readonly records: CallRecords;
  readonly recordings: Recordings;
  readonly clock: Clock;
  readonly logger: CallLogger;
  /** Calls from creation to end that this process takes. */
  readonly maxLiveCalls: number;
}

/** The part of a pino logger that is used here. Never given transcripts or secrets. */
export interface CallLogger {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface LiveCalls {
  /** The call waits for its join from now on. Throws ApiError `no_capacity` when full or draining. */
  startCall(plan: CallPlan, start: CallStart): void;
  joinState(callId: string): JoinState;
  /** Gives a connection to a call; `open` is called only on the way to `connected`. */
  connectCall(callId: string, open: OpenTransport, info: ConnectInfo): Promise<ConnectOutcome>;
  sendToCall(callId: string, message: ClientDataMessage): SendOutcome;
  /** Ends the call as a hang-up; false when it is not live. */
  endCall(callId: string): boolean;
  /** Calls from creation until their final record is written. */
  count(): number;
  /** Refuses new calls, waits up to `limitMs` for the live ones to end, then ends the rest and waits for their records. */
  drain(limitMs: number): Promise<DrainSummary>;
}
