import { parseClientDataMessage, ServerDataMessage } from "@parley/schema";
import { describe, expect, it } from "vitest";
import { BUILT_MEDIA } from "../../../plan/availability.ts";
import { dataMessageFlags } from "../../../plan/compile-plan.ts";
import { CLOSE_FAILURE, CLOSE_MEDIA_IDLE, CLOSE_REGULAR } from "../../../call/life/ending.ts";
import { joinedCall } from "../../../call/testing/scenario.ts";
import { GAP_TOLERANCE_MS, QUEUE_LIMIT_MS } from "../../../media/intake.ts";
import { CLOSE_REASONS } from "../../joins/join-sockets.ts";
import { CLOSE_CODES } from "./joining.ts";
import { CLIENT_EXAMPLES, FLAGS, SERVER_EXAMPLES } from "./message-cards.ts";

describe("examples of data messages", () => {
  it.each(Object.entries(CLIENT_EXAMPLES))("%s is accepted", (type, example) => {
    const read = parseClientDataMessage(JSON.stringify(example));
    expect(read).toMatchObject({ ok: true, message: { type } });
  });

  it.each(Object.entries(SERVER_EXAMPLES))("%s is what the service sends", (type, examples) => {
    for (const example of examples) {
      expect(ServerDataMessage.parse(example)).toEqual(example);
      expect(example).toMatchObject({ type });
    }
  });
});

describe("what the page says of the engine", () => {
  it.each(Object.entries(CLIENT_EXAMPLES))("that %s is acted on", (_type, example) => {
    const read = parseClientDataMessage(JSON.stringify(example));
    if (!read.ok) throw new Error(read.detail);
    const dropped = joinedCall().sends(read.message).eventsOf("data_message.unknown");
    expect(dropped).toEqual([]);
  });

  it("which messages are on", () => {
    const flags = dataMessageFlags({ serverWebSocket: { inputSampleRate: 16_000 } });
    expect(Object.fromEntries(Object.values(FLAGS))).toEqual(flags);
  });

  it("the close codes", () => {
    const documented = new Set(CLOSE_CODES.flatMap(([codes]) => codes.split(", ").map(Number)));
    for (const code of [...CLOSE_REASONS.keys(), CLOSE_REGULAR, CLOSE_FAILURE, CLOSE_MEDIA_IDLE]) {
      expect([code, documented.has(code)]).toEqual([code, true]);
    }
  });

  // These are in sentences of first-steps.ts and joining.ts, which may not import them.
  it("the media, and the limits of pace", () => {
    const carriers = ["telephony1", "telephony2", "telephony3", "telephony4"];
    expect([...BUILT_MEDIA].sort()).toEqual(["serverWebSocket", ...carriers, "webRtc"]);
    expect([GAP_TOLERANCE_MS, QUEUE_LIMIT_MS]).toEqual([200, 1000]);
  });
});
