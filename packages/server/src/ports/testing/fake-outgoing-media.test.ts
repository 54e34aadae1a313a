import { expect, test } from "vitest";
import type { OutgoingCall } from "../outgoing-media.ts";
import { FakeOutgoingMedia } from "./fake-outgoing-media.ts";
import { describeOutgoingMediaConformance } from "./outgoing-media-conformance.ts";

describeOutgoingMediaConformance("fake", () => new FakeOutgoingMedia());

test("the fake fails and hangs as configured", async () => {
  const media = new FakeOutgoingMedia();
  const call: OutgoingCall = {
    accountId: "a",
    agentId: "b",
    medium: {},
    request: {},
    throttle: null,
    scheduled: { batchId: "c", position: 0, claimId: "d" },
    until: "answered",
  };
  media.outcomeOf = () => new Error("the carrier hung up");
  await expect(media.place(call, new AbortController().signal)).rejects.toThrow("the carrier hung up");
  media.outcomeOf = () => "hangs";
  const aborting = new AbortController();
  const placed = media.place(call, aborting.signal);
  aborting.abort(new Error("enough"));
  await expect(placed).rejects.toThrow("enough");
  expect(media.placed).toEqual([call, call]);
});
