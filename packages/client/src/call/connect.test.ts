import { AUDIO_PROTOCOL as SERVED_PROTOCOL } from "@parley/schema";
import { expect, test } from "vitest";
import { AUDIO_PROTOCOL } from "./connect.ts";

// The client may import only types of the schema, so the name is written in both.
test("the websocket fallback requests the subprotocol that the service accepts", () => {
  expect(AUDIO_PROTOCOL).toBe(SERVED_PROTOCOL);
});
