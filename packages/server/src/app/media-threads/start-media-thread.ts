/** Threads that hold the connections, sockets and codecs of calls over WebRTC and SIP. */

import { legThreadsOf } from "../../transports/rtc/leg-thread.ts";

export const startMediaThread = legThreadsOf(new URL("./media-worker.ts", import.meta.url), "media");
