/** Conformance suite for the transfers of carriers: one subject for each, with a fake carrier that enforces its rules. */

import { describe, expect, test } from "vitest";
import type { Conference, TransferCallbacks, TransferTarget } from "../carrier-transfers.ts";
import { INTENT, subjectOf, type CarrierSubject, type WithSubject } from "./carriers-conformance.ts";
import type { TransferNews } from "./transfer-news.ts";

export const TRANSFER_TARGET: TransferTarget = {
  address: "+4930999999",
  callerId: "+4930654321",
  username: null,
  password: null,
  headers: {},
  holdMusicUrl: null,
};

const CALLBACKS: TransferCallbacks = {
  endUrl: "https://voice.example/transfers/t/end",
  progressUrl: "https://voice.example/transfers/t/progress",
  questionUrl: null,
  musicUrl: null,
  ringTimeoutMs: 30_000,
  maxDurationMs: 14_400_000,
};
const ASKING = { ...CALLBACKS, questionUrl: "https://voice.example/transfers/t/question" };
const CONFERENCE: Conference = {
  name: "0190-room",
  endUrl: "https://voice.example/transfers/t/held",
  holdMusicUrl: null,
  musicUrl: "https://voice.example/transfers/t/music",
  maxDurationMs: 14_400_000,
};
const URL = "https://voice.example/transfers/t/instructions";
const never = new AbortController().signal;

/** A call that the carrier has answered. */
async function answered({ carrier, account, answer }: CarrierSubject): Promise<string> {
  const outcome = await carrier.dial(account, INTENT, never);
  if (outcome.kind !== "placed") throw new Error(`the call was not placed: ${outcome.reason}`);
  answer(outcome.carrierCallId);
  return outcome.carrierCallId;
}

export function describeCarrierTransfers(name: string, open: () => Promise<CarrierSubject>): void {
  const withSubject = subjectOf(open);
  describe(`transfers: ${name}`, () => {
    redirects(withSubject);
    writesInstructions(withSubject);
    readsNews(withSubject);
  });
}

function redirects(withSubject: WithSubject): void {
  test("makes an answered call fetch other instructions", () =>
    withSubject(async (subject) => {
      const { carrier, account, redirected } = subject;
      const id = await answered(subject);
      expect(await carrier.transfers.redirect(account, id, URL, never)).toEqual({ kind: "redirected" });
      expect(redirected()).toEqual([{ id, url: URL }]);
    }));

  test("is refused for calls that still ring, and for those that are over", () =>
    withSubject(async (subject) => {
      const { carrier, account, redirected } = subject;
      const outcome = await carrier.dial(account, INTENT, never);
      const ringing = outcome.kind === "placed" ? outcome.carrierCallId : "";
      const id = await answered(subject);
      await carrier.hangUp(account, id, never);
      for (const other of [ringing, id, "never-was"]) {
        expect((await carrier.transfers.redirect(account, other, URL, never)).kind).toBe("refused");
      }
      expect(redirected()).toEqual([]);
    }));

  test.each([400, 401, 404, 429, 500, 503])("is refused with the status %i", (status) =>
    withSubject(async (subject) => {
      const { carrier, account, failWith, refusal } = subject;
      const id = await answered(subject);
      const [secret = ""] = Object.values(account.secrets);
      failWith({ kind: "answers", status, body: refusal(`not now: ${secret}`) });
      const outcome = await carrier.transfers.redirect(account, id, URL, never);
      expect(outcome).toMatchObject({
        kind: "refused",
        reason: expect.stringContaining("not now") as string,
      });
      expect(JSON.stringify(outcome)).not.toContain(secret);
    }),
  );

  test.each([
    ["a proxy has lost the answer", { kind: "answers", status: 502, body: "<html></html>" }],
    ["the answer is a page", { kind: "answers", status: 200, body: "<html>Welcome</html>" }],
    ["the connection is closed", { kind: "closes" }],
  ] as const)("does not know whether the call is redirected when %s", (_case, fault) =>
    withSubject(async (subject) => {
      const id = await answered(subject);
      subject.failWith(fault);
      const outcome = await subject.carrier.transfers.redirect(subject.account, id, URL, never);
      expect(outcome.kind).toBe("unknown");
    }),
  );

  test("does not know it either when it is aborted", () =>
    withSubject(async (subject) => {
      const id = await answered(subject);
      subject.failWith({ kind: "hangs" });
      const aborting = new AbortController();
      const asked = subject.carrier.transfers.redirect(subject.account, id, URL, aborting.signal);
      setImmediate(() => aborting.abort(new Error("the service is stopping")));
      expect(["unknown", "refused"]).toContain((await asked).kind);
    }));
}

function writesInstructions(withSubject: WithSubject): void {
  test("writes instructions that the carrier accepts", () =>
    withSubject(async ({ carrier, problemsIn }) => {
      const { transfers } = carrier;
      const unknownNumber = { ...TRANSFER_TARGET, callerId: null };
      const musical = { ...CALLBACKS, musicUrl: "https://voice.example/transfers/t/music" };
      for (const xml of [
        transfers.dial(TRANSFER_TARGET, CALLBACKS),
        transfers.dial(TRANSFER_TARGET, ASKING),
        transfers.dial(unknownNumber, musical),
        transfers.dial(TRANSFER_TARGET, { ...CALLBACKS, ringTimeoutMs: 1, maxDurationMs: 9_999_999_999 }),
        carrier.hangUpXml,
        carrier.connectTo(INTENT.stream),
        carrier.sayAndHangUp("Goodbye & thanks."),
      ]) {
        expect([xml, problemsIn(xml, "call")]).toEqual([xml, []]);
      }
      for (const language of ["de-DE", null]) {
        const text = 'Jane & John <"friends">';
        const answerUrl = "https://voice.example/transfers/t/answer";
        const xml = transfers.question({ text, language, answerUrl });
        expect([xml, problemsIn(xml, "question")]).toEqual([xml, []]);
        expect(xml).toContain("Jane &amp; John &lt;&quot;friends&quot;&gt;");
      }
      for (const repeats of [false, true]) {
        const music = transfers.music("https://example.com/a.mp3?x=1&y=2", repeats);
        expect([music, problemsIn(music, "music")]).toEqual([music, []]);
      }
      expect(problemsIn(transfers.accepted, "question")).toEqual([]);
    }));

  test("dials the target with the caller's number, and asks first where that is wanted", () =>
    withSubject(async ({ carrier }) => {
      const plain = carrier.transfers.dial(TRANSFER_TARGET, CALLBACKS);
      for (const part of [TRANSFER_TARGET.address, "+4930654321", CALLBACKS.endUrl, CALLBACKS.progressUrl])
        expect(plain).toContain(part);
      expect(plain).not.toContain("question");
      expect(carrier.transfers.dial(TRANSFER_TARGET, ASKING)).toContain(ASKING.questionUrl);
    }));

  test("lets one wait in a conference, which the other one begins and either one ends", () =>
    withSubject(async ({ carrier, problemsIn }) => {
      const { hold, enter } = carrier.transfers;
      const holdMusicUrl = "https://example.com/a.mp3?x=1&y=2";
      const musical = { ...CONFERENCE, holdMusicUrl, maxDurationMs: 9_999_999_999 };
      for (const conference of [CONFERENCE, musical]) {
        const [waiting, beginning] = [hold(conference), enter(conference)];
        for (const xml of [waiting, beginning]) {
          expect([xml, problemsIn(xml, "call")]).toEqual([xml, []]);
          for (const part of [CONFERENCE.name, CONFERENCE.endUrl, 'endConferenceOnExit="true"'])
            expect(xml).toContain(part);
        }
        expect(waiting).toContain('startConferenceOnEnter="false"');
        expect(beginning).toContain('startConferenceOnEnter="true"');
        const plays = /a\.mp3|\/music"/;
        expect([plays.test(waiting), plays.test(beginning)]).toEqual([conference === musical, false]);
      }
    }));

  test("reaches SIP URIs, or says that it does not", () =>
    withSubject(async ({ carrier, problemsIn }) => {
      const sip = { username: "ann", password: 'p"<&', headers: { "X-Reason": "billing & more" } };
      const target = { ...TRANSFER_TARGET, address: "sip:ann@example.com", ...sip };
      const problem = carrier.transfers.problemWith(target);
      const says = problem ?? problemsIn(carrier.transfers.dial(target, ASKING), "call").join("; ");
      expect(says).toMatch(/^(?:target must be a phone number.*)?$/);
      expect(carrier.transfers.problemWith(TRANSFER_TARGET)).toBeNull();
    }));
}

function readsNews(withSubject: WithSubject): void {
  test.each(["completed", "busy", "no_answer", "failed"] as const)(
    "reads an attempt that ended as %s",
    (news) =>
      withSubject(async ({ carrier, transferFields }) => {
        const fields = new Map(Object.entries(transferFields(news, "call-1")));
        expect(carrier.readCallId(fields)).toBe("call-1");
        expect(carrier.transfers.readEnd(fields)).toEqual({
          result: news,
          isCallerGone: false,
          talkedMs: news === "completed" ? 42_000 : null,
        });
      }),
  );

  test("knows when the caller is gone, and what is no end", () =>
    withSubject(async ({ carrier, transferFields }) => {
      const { readEnd } = carrier.transfers;
      expect(readEnd(new Map(Object.entries(transferFields("caller_gone", "c"))))?.isCallerGone).toBe(true);
      expect(readEnd(new Map(Object.entries(transferFields("instructions", "c"))))).toBeNull();
      expect(readEnd(new Map())).toBeNull();
      expect(
        carrier.readCallId(
          new Map([
            ["CallSid", "with space"],
            ["CallUUID", "with space"],
          ]),
        ),
      ).toBeNull();
    }));

  test("knows whether who has left a conference has hung up", () =>
    withSubject(async ({ carrier, transferFields }) => {
      const { hasHungUp } = carrier.transfers;
      expect(hasHungUp(new Map(Object.entries(transferFields("left_conference", "c"))))).toBe(false);
      expect(hasHungUp(new Map(Object.entries(transferFields("hung_up_in_conference", "c"))))).toBe(true);
      expect(hasHungUp(new Map())).toBe(false);
    }));

  test("reads the progress of the other leg, and the key", () =>
    withSubject(async ({ carrier, transferFields }) => {
      const { readProgress, isAccepted } = carrier.transfers;
      const fieldsOf = (news: TransferNews) => new Map(Object.entries(transferFields(news, "c")));
      expect(readProgress(fieldsOf("answered"))).toBe("answered");
      expect(["answered", "accepted"]).toContain(readProgress(fieldsOf("accepted")));
      expect(readProgress(new Map([["CallStatus", "ringing"]]))).toBeNull();
      expect(isAccepted(fieldsOf("key_2"))).toBe(false);
      expect(isAccepted(new Map())).toBe(false);
      const isChecked = isAccepted(fieldsOf("key_1")) || readProgress(fieldsOf("key_1")) === "accepted";
      expect(isChecked).toBe(true);
    }));
}
