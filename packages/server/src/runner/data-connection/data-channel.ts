/** The data connection of one live call: messages both ways and the copy of its audio (D125, D126). */

import type { ServerDataMessage } from "@parley/schema";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { AwaitedResult } from "../../call/tools/awaited.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { DataConnection, OpenDataConnection } from "../../ports/data-connection.ts";
import type { Clock } from "../../pacing/clock.ts";
import { DataAudio } from "./data-audio.ts";
import { MessageGate } from "./message-gate.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { AudioTap } from "../speech/two-sided-audio.ts";
import { within } from "../../pacing/within.ts";

/** Wait for the connection to be closed; it closes within one second by itself. */
const CLOSE_LIMIT_MS = 1_500;

export interface DataChannelOptions {
  readonly plan: Pick<CallPlan, "callId" | "dataConnection">;
  readonly open: OpenDataConnection;
  readonly clock: Clock;
  readonly rates: { readonly inputSampleRateHz: number; readonly outputSampleRateHz: number };
  readonly post: (event: CallEngineEventBody) => void;
  /** The results of tools that the call waits for from here. */
  readonly awaited: () => readonly AwaitedResult[];
}

export class DataChannel {
  readonly #clock: Clock;
  readonly #audio: DataAudio | null;
  readonly #gate: MessageGate;
  readonly #connection: DataConnection;

  /** Dials. Null where the plan has no data connection. */
  static open(options: DataChannelOptions): DataChannel | null {
    return options.plan.dataConnection === null
      ? null
      : new DataChannel(options, options.plan.dataConnection);
  }

  private constructor(
    { plan, open, clock, rates, post, awaited }: DataChannelOptions,
    { websocketUrl, headers, sharedSecrets, audio }: NonNullable<CallPlan["dataConnection"]>,
  ) {
    this.#clock = clock;
    this.#gate = new MessageGate({ source: "dataConnection", clock, post, awaited });
    this.#audio =
      audio === null
        ? null
        : new DataAudio({
            audio,
            callerRateHz: rates.inputSampleRateHz,
            agentRateHz: rates.outputSampleRateHz,
            startMs: clock.nowMs(),
            send: (frame) => this.#connection.sendAudio(frame),
          });
    this.#connection = open(
      { callId: plan.callId, websocketUrl, headers, sharedSecrets },
      {
        opened: () => {
          post({ type: "dataConnectionOpened" });
        },
        data: (text, tooLong) => {
          this.#gate.take(text, tooLong);
        },
        problem: (problem) => {
          post({ type: "transportProblemNoticed", problem });
        },
        lost: (detail, willRetry) => {
          post({ type: "dataConnectionLost", detail, willRetry });
        },
        failed: (detail) => {
          post({ type: "dataConnectionFailed", detail });
        },
      },
    );
  }

  /** Null: the connection gets no audio. */
  get tap(): AudioTap | null {
    return this.#audio;
  }

  send(message: ServerDataMessage): void {
    this.#connection.send(message);
  }

  /** Within a bounded time; resolves with what went wrong, or null. Idempotent. */
  async close(): Promise<Error | null> {
    this.#audio?.close();
    this.#gate.close();
    try {
      return await within(this.#clock, this.#connection.close(), CLOSE_LIMIT_MS);
    } catch (error) {
      return new Error(messageOf(error));
    }
  }
}
