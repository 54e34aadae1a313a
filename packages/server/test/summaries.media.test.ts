/** Summaries by a model server, with the whole service as a program: good and bad answers, and their webhooks. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelFault } from "../src/ports/testing/model-server.ts";
import { openBucketService, type BucketService } from "./bucket-service.ts";

/** Half a minute for a silent model. */
const SLOW = { timeout: 240_000 };
const SLOW_ANSWER_MS = 3_000;
const EVENTS = ["call.started", "call.joined", "call.ended", "call.billed"];
const WRITTEN = { summary: "A guest asked for a table for two.", shortSummary: "A booking." };
const NONE = { summary: null, shortSummary: null };

const FAULTS: readonly [ModelFault, RegExp][] = [
  ["500", /answered HTTP 500/],
  ["malformed", /not a chat completion|cannot be understood/],
  ["cut", /closed the connection|incomplete|without finishing/],
  ["endless", /contained no summary|took too long/],
  ["hang", /took too long/],
];

describe("summaries", () => {
  let service: BucketService;
  beforeAll(async () => {
    service = await openBucketService();
    await service.subscribe();
    service.model.summaryOf = (transcript) =>
      transcript.includes("nonsense") ? "I would rather not." : JSON.stringify(WRITTEN);
    service.model.fault = async (transcript) => {
      if (transcript.includes("slow")) await new Promise((resolve) => setTimeout(resolve, SLOW_ANSWER_MS));
      return FAULTS.map(([fault]) => fault).find((fault) => transcript.includes(`fault ${fault}`)) ?? null;
    };
  });
  afterAll(async () => service.close());

  test.each(["a table", "a slow one"])(
    "are there when webhooks are notified of the billing: %s",
    async (words) => {
      const callId = await service.call({}, `${words}, please`);
      const deliveries = await service.allDeliveriesOf(callId);
      expect(deliveries.map(({ event }) => event)).toEqual(EVENTS);
      const [, , ended, billed] = deliveries.map(({ call }) => call);
      expect(ended).toMatchObject({ ...NONE, billingStatus: "BILLING_STATUS_PENDING", endReason: "hangup" });
      expect(billed).toMatchObject({ ...WRITTEN, billingStatus: "BILLING_STATUS_BILLED" });
      expect(await service.record(callId)).toMatchObject(WRITTEN);
      const requested = service.model.transcripts.filter((transcript) => transcript.includes(words));
      expect(requested).toEqual([expect.stringContaining('{"agent":"Yes."}')]);
      expect(await service.events(callId, "summary.failed")).toEqual([]);
    },
  );

  test("are null with the reason where the model fails, and every call is billed", SLOW, async () => {
    const calls = await Promise.all(
      FAULTS.map(async ([fault, reason]) => ({ reason, callId: await service.call({}, `fault ${fault}`) })),
    );
    for (const { callId, reason } of calls) {
      const deliveries = await service.allDeliveriesOf(callId);
      expect(deliveries.map(({ event }) => event)).toEqual(EVENTS);
      expect(deliveries.at(-1)?.call).toMatchObject({ ...NONE, billingStatus: "BILLING_STATUS_BILLED" });
      expect(await service.events(callId, "summary.failed")).toMatchObject([
        { text: expect.stringMatching(reason) },
      ]);
    }
    expect(await service.metric('parley_summaries_total{outcome="failed"}')).toBe(FAULTS.length);
  });

  test("are asked for once more where the answer is none", async () => {
    const callId = await service.call({}, "some nonsense");
    expect(await service.billed(callId)).toMatchObject(NONE);
    expect(service.model.transcripts.filter((text) => text.includes("nonsense"))).toHaveLength(2);
    expect(await service.events(callId, "summary.failed")).toHaveLength(1);
  });
});

test("are none, and no failure, where rules talk instead of a model", async () => {
  const service = await openBucketService(() => ({ LLM_BASE_URL: "", LLM_MODEL: "" }));
  try {
    const callId = await service.call();
    expect(await service.billed(callId)).toMatchObject(NONE);
    expect(await service.events(callId, "summary.failed")).toEqual([]);
    expect(service.model.transcripts).toEqual([]);
  } finally {
    await service.close();
  }
});
