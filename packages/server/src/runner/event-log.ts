/**
 * The last events of a call, kept in memory so that a failure can be replayed. The engine's state is immutable, so a
 * reference to an earlier one and the events since are a complete account.
 */

import type { CallEngineEvent } from "../call/events.ts";

/**
 * Events of one generation; between one and two generations are kept. A call makes about 32 events a second, mostly
 * voice scores of some 90 bytes: at least the last minute, at most 0.4 MB.
 */
const GENERATION_EVENTS = 2_048;

/** Characters of texts in the events of one generation: typed messages may be long, and a client may send many. */
const GENERATION_CHARS = 1_000_000;

export interface EventLog {
  /** The engine's state before the first of `events`. */
  readonly state: unknown;
  readonly events: readonly CallEngineEvent[];
}

export class EventLogger<State> {
  #older: { readonly state: State; readonly events: CallEngineEvent[] } | null = null;
  #newer: { readonly state: State; readonly events: CallEngineEvent[] };

  #chars = 0;

  constructor(initial: State) {
    this.#newer = { state: initial, events: [] };
  }

  /** @param before the state to which `event` is about to be applied */
  add(before: State, event: CallEngineEvent): void {
    const chars = eventTextLength(event);
    if (this.#newer.events.length >= GENERATION_EVENTS || this.#chars + chars > GENERATION_CHARS) {
      this.#older = this.#newer;
      this.#newer = { state: before, events: [] };
      this.#chars = 0;
    }
    this.#chars += chars;
    this.#newer.events.push(event);
  }

  read(): EventLog {
    const older = this.#older;
    if (older === null) return { state: this.#newer.state, events: [...this.#newer.events] };
    return { state: older.state, events: [...older.events, ...this.#newer.events] };
  }
}

/** Of the events that can be long; the others have some hundred characters at most. */
export function eventTextLength(event: CallEngineEvent): number {
  switch (event.type) {
    case "transcriptUpdated":
    case "transcriptFinished":
    case "replyTextReceived":
      return event.text.length;
    case "transcriptFailed":
    case "replyFailed":
    case "segmentFailed":
    case "stageRefused":
    case "voiceDetectionFailed":
    case "faulted":
      return event.error.length;
    case "dataMessageRejected":
    case "dataConnectionLost":
    case "dataConnectionFailed":
    case "engineWarned":
      return event.detail.length;
    case "transportProblemNoticed":
      return event.problem.length;
    case "dataMessageReceived":
      return JSON.stringify(event.message).length;
    case "replyToolCalled":
      return JSON.stringify(event.call).length + (event.problem?.length ?? 0);
    case "toolFinished":
      return JSON.stringify(event.outcome).length;
    case "stagePrepared":
      return JSON.stringify(event).length;
    default:
      return 0;
  }
}
