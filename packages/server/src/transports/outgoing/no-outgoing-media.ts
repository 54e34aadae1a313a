/** Of a version that dials nobody: says so of each call. */

import { mediumKindOf } from "@parley/schema";
import type { OutgoingMedia } from "../../ports/outgoing-media.ts";

export const noOutgoingMedia: OutgoingMedia = {
  place({ medium }, signal) {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const reason = `medium: outgoing calls over ${mediumKindOf(medium)} are not available in this version`;
    return Promise.resolve({ kind: "failed", callId: null, reason });
  },
};
