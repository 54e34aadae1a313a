/** Asks a client to open its join URL again, because another process of the service continues the call. */

import { z } from "zod";

/** Named in `experimentalMessages` by clients that open the join URL again when they are asked to. */
export const RECONNECT_MESSAGES = "reconnect";

export const ReconnectMessage = z
  .strictObject({ type: z.literal("reconnect") })
  .describe(
    "The connection is about to close, and another process of the service continues the call: open the join URL again. " +
      "Sent over WebRTC to clients that join with `experimentalMessages=reconnect`; websockets are closed with 1012.",
  );
