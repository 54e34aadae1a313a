/** Opens the joins by WebRTC, and the threads of their connections. */

import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { RoomSockets } from "../../joins/rooms/room-sockets.ts";
import { openWebRtcJoins, type WebRtcJoins } from "../../joins/webrtc-joins.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { StartLegThread } from "../../transports/rtc/leg-thread.ts";
import { openLegThreads, type LegThreads } from "../../transports/rtc/leg-threads.ts";
import type { Metrics } from "../metrics.ts";

export interface WebRtcParts {
  readonly config: Pick<Config, "host" | "webRtc" | "worker">;
  readonly liveCalls: LiveCalls;
  readonly metrics: Pick<Metrics, "webRtc">;
  readonly startLegThread: StartLegThread;
  readonly logger: Logger;
}

/** The main threads and the database get the rest of the machine. */
function mostMediaThreads({ worker }: WebRtcParts["config"]): number {
  const cores = availableParallelism();
  return Math.max(1, worker === null ? cores - 1 : Math.ceil(cores / worker.count));
}

/** Both are closed with the stack. */
export function openWebRtc(
  opened: AsyncDisposableStack,
  { config, liveCalls, metrics, startLegThread, logger }: WebRtcParts,
): { readonly webRtc: WebRtcJoins; readonly roomSockets: RoomSockets; readonly legThreads: LegThreads } {
  const { host, webRtc: settings } = config;
  const legThreads = openLegThreads({
    start: startLegThread,
    maxThreads: mostMediaThreads(config),
    listener: {
      log: (message) => logger.error(message),
      threadLost: (reason) => metrics.webRtc.threadLost(reason),
      legFaulty: ({ callId }, { count, detail }) => {
        metrics.webRtc.legFaulty();
        logger.warn(
          { callId, faults: count, lastFault: detail },
          "a WebRTC connection was ended for faults of its client",
        );
      },
    },
  });
  opened.defer(() => legThreads.close());
  const roomSockets = new RoomSockets({ endCall: (callId) => void liveCalls.endCall(callId) });
  const parts = { host, settings, liveCalls, openLeg: legThreads.open, roomSockets, logger };
  const webRtc = openWebRtcJoins(parts);
  opened.defer(() => webRtc.close());
  return { webRtc, roomSockets, legThreads };
}
