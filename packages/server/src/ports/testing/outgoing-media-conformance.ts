/** Conformance suite for outgoing media. */

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { OutgoingCall, OutgoingMedia, OutgoingOutcome } from "../outgoing-media.ts";

const SECRET = "a password of nobody else";

function callOf(changes: Partial<OutgoingCall>): OutgoingCall {
  const medium = {
    sip: { outgoing: { to: "sip:ann@example.com", from: "parley", username: "parley", password: SECRET } },
  };
  return {
    accountId: randomUUID(),
    agentId: randomUUID(),
    medium,
    request: { medium },
    throttle: null,
    scheduled: { batchId: randomUUID(), position: 0, claimId: randomUUID() },
    until: "accepted",
    ...changes,
  };
}

function faultOf(outcome: OutgoingOutcome): string | null {
  if (outcome.kind === "placed") return /^[0-9a-f-]{36}$/.test(outcome.callId) ? null : "has no id of a call";
  if (outcome.kind === "later") return outcome.waitMs > 0 ? null : "would be tried again at once";
  if (outcome.kind === "lost") return null;
  if (outcome.reason === "") return "says nothing";
  return outcome.reason.includes(SECRET) ? "tells a secret" : null;
}

export function describeOutgoingMediaConformance(name: string, open: () => OutgoingMedia): void {
  describe(`outgoing media: ${name}`, () => {
    test.each(["accepted", "answered"] as const)(
      "says what came of a call, until it is %s",
      async (until) => {
        const outcome = await open().place(callOf({ until }), new AbortController().signal);
        expect(faultOf(outcome)).toBeNull();
      },
    );

    test("asks nobody when it is too late before it begins", async () => {
      const reason = new Error("too late");
      await expect(open().place(callOf({}), AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    test("places several calls at a time", async () => {
      const media = open();
      const { signal } = new AbortController();
      const outcomes = await Promise.all([0, 1, 2].map(() => media.place(callOf({}), signal)));
      const ids = outcomes.flatMap((outcome) => (outcome.kind === "placed" ? [outcome.callId] : []));
      expect(new Set(ids).size).toBe(ids.length);
    });
  });
}
