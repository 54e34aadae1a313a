/** Threads that hold the connections and codecs of calls over WebRTC. */

import { legThreadsOf } from "../rtc/leg-thread.ts";

export const startLegThread = legThreadsOf(new URL("./leg-worker.ts", import.meta.url), "webrtc");
