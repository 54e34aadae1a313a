/** What a connection says to its call. */

import type { CallEngineEventBody } from "../call/events.ts";
import type { Transport, TransportListener } from "../ports/transport.ts";
import type { MessageGate } from "./data-connection/message-gate.ts";
import type { ProblemNotices } from "./problem-notices.ts";
import type { CallMedia } from "./speech/call-media.ts";

/** One connection of a call. */
export interface Connection {
  transport: Transport | null;
  readonly closed: Promise<void>;
}

export interface ListeningCall {
  /** Whether the connection still is the one of the call. */
  readonly isCurrent: () => boolean;
  readonly media: () => CallMedia | null;
  readonly gate: Pick<MessageGate, "take">;
  readonly problems: Pick<ProblemNotices, "isDue">;
  readonly post: (event: CallEngineEventBody) => void;
  /** Runs what may throw. */
  readonly guard: (act: () => void) => void;
  readonly closed: (regular: boolean) => void;
}

export function listenerOf(call: ListeningCall): TransportListener {
  const { isCurrent, media, gate, problems, post, guard, closed } = call;
  return {
    audio: (samples) => {
      if (isCurrent()) guard(() => media()?.audio(samples));
    },
    data: (text, tooLong) => {
      if (isCurrent()) guard(() => gate.take(text, tooLong));
    },
    problem: (problem) => {
      if (isCurrent() && problems.isDue(problem)) post({ type: "transportProblemNoticed", problem });
    },
    digit: (key) => {
      if (isCurrent()) post({ type: "digitReceived", key });
    },
    played: (position) => {
      if (isCurrent()) guard(() => media()?.played(position));
    },
    closed,
  };
}
