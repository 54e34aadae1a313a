/** What playout reports, as events for the engine and samples for the taps. */

import type { CallEngineEventBody } from "../../call/events.ts";
import type { PlayoutListener } from "../../media/playout.ts";
import type { AudioTap } from "./two-sided-audio.ts";

export interface PlayoutReports {
  readonly add: (event: CallEngineEventBody) => void;
  /** Receive the agent's audio that was heard. */
  readonly taps: readonly Pick<AudioTap, "agent">[];
  /** A segment begins to be sent. */
  readonly began: (segmentId: number) => void;
  /** Receives a frame that ends what is being played. */
  readonly takenBack: (tail: Int16Array) => void;
}

export function playoutListener({ add, taps, began, takenBack }: PlayoutReports): PlayoutListener {
  return {
    started: (replyId, segmentId) => {
      add({ type: "segmentPlayoutStarted", replyId, segmentId });
      began(segmentId);
    },
    advanced: (replyId, segmentId, heardChars, playedMs) => {
      add({ type: "segmentPlayoutAdvanced", replyId, segmentId, heardChars, playedMs });
    },
    finished: (replyId, segmentId, playedMs) => {
      add({ type: "segmentPlayoutFinished", replyId, segmentId, playedMs });
    },
    heard: (samples, startMs) => {
      for (const tap of taps) tap.agent(samples, startMs);
    },
    takenBack,
  };
}
