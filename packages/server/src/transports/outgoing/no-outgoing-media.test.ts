import { expect, test } from "vitest";
import { describeOutgoingMediaConformance } from "../../ports/testing/outgoing-media-conformance.ts";
import { noOutgoingMedia } from "./no-outgoing-media.ts";

describeOutgoingMediaConformance("none", () => noOutgoingMedia);

test("the medium is named", async () => {
  const medium = { telephony2: { outgoing: { to: "+4930123456", from: "+4930654321" } } };
  const call = {
    accountId: "a",
    agentId: "b",
    medium,
    request: { medium },
    throttle: null,
    scheduled: { batchId: "c", position: 0, claimId: "d" },
    until: "accepted",
  } as const;
  expect(await noOutgoingMedia.place(call, new AbortController().signal)).toMatchObject({
    kind: "failed",
    reason: "medium: outgoing calls over telephony2 are not available in this version",
  });
});
