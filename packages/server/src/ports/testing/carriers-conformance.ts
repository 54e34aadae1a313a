/** Conformance suite for carriers: one subject for each, with a fake carrier that enforces its rules. */

import { describe, expect, test } from "vitest";
import type { Carrier, CarrierAccount, CarrierRequest, DialIntent } from "../carriers.ts";
import type { TransferNews } from "./transfer-news.ts";

/** What the carrier does with the next request. */
export type CarrierFault =
  | { readonly kind: "answers"; readonly status: number; readonly body: string; readonly retryAfter?: string }
  /** The connection is closed without an answer. */
  | { readonly kind: "closes" }
  | { readonly kind: "hangs" }
  /** It acts as it should, and its answer never comes. */
  | { readonly kind: "acts_silently" };

export interface CarrierSubject {
  readonly carrier: Carrier;
  readonly account: CarrierAccount;
  /** Of all following requests; null: none. */
  readonly failWith: (fault: CarrierFault | null) => void;
  /** Calls that were placed, with the fields of the request that the carrier understood. */
  readonly placed: () => readonly PlacedCall[];
  /** Ids of calls that were ended. */
  readonly ended: () => readonly string[];
  /** A refusal in the carrier's own form, with these words. */
  readonly refusal: (words: string) => string;
  /** A callback of this account, signed as the carrier signs. `nowMs`: absent, that of the suite. */
  readonly sign: (fields: Readonly<Record<string, string>>, url: string, nowMs?: number) => CarrierRequest;
  /** The fields of a callback of this state. */
  readonly callback: (
    state: "ringing" | "answered" | "completed" | "busy" | "no_answer" | "failed",
    carrierCallId: string,
  ) => Readonly<Record<string, string>>;
  /** Somebody answers a call that was placed, or one comes in. */
  readonly answer: (carrierCallId: string) => void;
  /** Calls that were made to fetch other instructions. */
  readonly redirected: () => readonly { readonly id: string; readonly url: string }[];
  /** Why the carrier would not follow instructions; empty: it would. */
  readonly problemsIn: (xml: string, place: "call" | "question" | "music") => readonly string[];
  /** The fields of a request about the transfer of a call. */
  readonly transferFields: (news: TransferNews, carrierCallId: string) => Readonly<Record<string, string>>;
  /** Answers nothing more. */
  readonly stop: () => Promise<void>;
}

export interface PlacedCall {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly statusUrl: string;
  /** In the request, or at `instructionsUrl`. */
  readonly streamUrl: string | null;
  /** Fetched when the stream is over. The same holds for it. */
  readonly returnUrl: string | null;
  readonly instructionsUrl: string | null;
  readonly ringSeconds: number;
  /** Every other parameter, as text. */
  readonly others: Readonly<Record<string, string>>;
}

export const INTENT: DialIntent = {
  to: "+4930123456",
  from: "+4930654321",
  additionalParams: {},
  stream: {
    streamUrl: "wss://voice.example/calls/c/telephony/token-_1",
    returnUrl: "https://voice.example/calls/c/carrier_instructions?after=0.1.abc-_1",
    pauseSeconds: 0,
  },
  statusUrl: "https://voice.example/calls/c/carrier_status",
  instructionsUrl: "https://voice.example/calls/c/carrier_instructions",
  ringTimeoutMs: 30_000,
  maxDurationMs: 3_600_000,
};

const NOW_MS = 1_760_000_000_000;
const never = new AbortController().signal;

export type WithSubject = (work: (subject: CarrierSubject) => Promise<void>) => Promise<void>;

/** Opens a subject for each test, and stops it afterwards. */
export function subjectOf(open: () => Promise<CarrierSubject>): WithSubject {
  return async (work) => {
    const subject = await open();
    try {
      await work(subject);
    } finally {
      await subject.stop();
    }
  };
}

export function describeCarrierConformance(name: string, open: () => Promise<CarrierSubject>): void {
  const withSubject = subjectOf(open);
  describe(`carrier: ${name}`, () => {
    dialsAndIsRefused(withSubject);
    keepsToOneAttempt(withSubject);
    endsAndChecks(withSubject);
    readsRequests(withSubject);
  });
}

function dialsAndIsRefused(withSubject: WithSubject): void {
  test("places a call and says its id", () =>
    withSubject(async ({ carrier, account, placed }) => {
      const outcome = await carrier.dial(account, INTENT, never);
      const [call] = placed();
      expect(outcome).toEqual({ kind: "placed", carrierCallId: call?.id });
      expect(placed()).toHaveLength(1);
      expect(call).toMatchObject({ to: INTENT.to, from: INTENT.from, statusUrl: INTENT.statusUrl });
      expect(call?.streamUrl ?? call?.instructionsUrl).toBe(
        call?.streamUrl === null ? INTENT.instructionsUrl : INTENT.stream.streamUrl,
      );
      expect(call?.returnUrl).toBe(call?.streamUrl === null ? null : INTENT.stream.returnUrl);
      expect(call?.ringSeconds).toBeGreaterThanOrEqual(25);
      expect(call?.ringSeconds).toBeLessThanOrEqual(30);
    }));

  test("repeats the carrier's words of a refusal, without secrets", () =>
    withSubject(async ({ carrier, account, failWith, refusal, placed }) => {
      const [secret = ""] = Object.values(account.secrets);
      failWith({ kind: "answers", status: 400, body: refusal(`the number is not yours: ${secret}`) });
      const outcome = await carrier.dial(account, INTENT, never);
      expect(outcome).toMatchObject({ kind: "refused", isPermanent: true });
      expect(outcome.kind === "refused" && outcome.reason).toContain("the number is not yours");
      expect(JSON.stringify(outcome)).not.toContain(secret);
      expect(placed()).toEqual([]);
    }));

  test("is refused for now where the carrier takes no more calls", () =>
    withSubject(async ({ carrier, account, failWith, refusal }) => {
      failWith({ kind: "answers", status: 429, body: refusal("too many calls"), retryAfter: "7" });
      expect(await carrier.dial(account, INTENT, never)).toMatchObject({
        kind: "refused",
        isPermanent: false,
        isRateLimit: true,
        waitMs: 7_000,
      });
    }));

  test.each([500, 503])("is refused for now where the carrier fails with %i", (status) =>
    withSubject(async ({ carrier, account, failWith }) => {
      failWith({ kind: "answers", status, body: "<html><h1>Sorry</h1></html>" });
      const outcome = await carrier.dial(account, INTENT, never);
      expect(outcome).toMatchObject({ kind: "refused", isPermanent: false, isRateLimit: false });
      expect(outcome.kind === "refused" && outcome.reason).not.toContain("<");
    }),
  );
}

function keepsToOneAttempt(withSubject: WithSubject): void {
  test.each([
    ["a proxy has lost the answer", { kind: "answers", status: 502, body: "<html></html>" }],
    ["the answer is a page", { kind: "answers", status: 200, body: "<html>Welcome</html>" }],
    ["the answer has no id", { kind: "answers", status: 201, body: "{}" }],
    ["the answer is too long", { kind: "answers", status: 201, body: `{"a":"${"x".repeat(70_000)}"}` }],
    ["the connection is closed", { kind: "closes" }],
  ] as const)("does not know whether it dials when %s", (_case, fault) =>
    withSubject(async ({ carrier, account, failWith }) => {
      failWith(fault);
      expect((await carrier.dial(account, INTENT, never)).kind).toBe("unknown");
    }),
  );

  test("does not know whether it dials when it is aborted", () =>
    withSubject(async ({ carrier, account, failWith }) => {
      failWith({ kind: "hangs" });
      const aborting = new AbortController();
      const dialled = carrier.dial(account, INTENT, aborting.signal);
      setImmediate(() => aborting.abort(new Error("the service is stopping")));
      expect(["unknown", "refused"]).toContain((await dialled).kind);
    }));

  test("is refused for now when nobody listens", () =>
    withSubject(async ({ carrier, account, stop }) => {
      await stop();
      expect(await carrier.dial(account, INTENT, never)).toMatchObject({
        kind: "refused",
        isPermanent: false,
        isRateLimit: false,
      });
    }));

  test("refuses wrong credentials, and the check names the field", () =>
    withSubject(async ({ carrier, account, placed }) => {
      const secrets = Object.fromEntries(Object.keys(account.secrets).map((field) => [field, "wrong"]));
      const wrong = { ...account, secrets };
      expect(await carrier.dial(wrong, INTENT, never)).toMatchObject({
        kind: "refused",
        isPermanent: true,
      });
      expect(placed()).toEqual([]);
      const findings = await carrier.check(wrong, { publicUrl: "https://voice.example" }, never);
      const named = findings.filter(({ severity }) => severity === "error").map(({ field }) => field);
      expect(Object.keys(account.secrets)).toEqual(expect.arrayContaining(named));
      expect(named).not.toEqual([]);
    }));

  test("passes further parameters on, and never lets them replace what the service controls", () =>
    withSubject(async ({ carrier, account, placed }) => {
      const additionalParams = { Custom_Flag: "yes", to: "+19005550100", TO: "+19005550101" };
      await carrier.dial(account, { ...INTENT, additionalParams }, never);
      expect(placed()).toMatchObject([{ to: INTENT.to, others: { Custom_Flag: "yes" } }]);
      expect(JSON.stringify(placed())).not.toContain("+1900");
    }));
}

function endsAndChecks(withSubject: WithSubject): void {
  test("ends a call, also one that is over", () =>
    withSubject(async ({ carrier, account, ended }) => {
      const outcome = await carrier.dial(account, INTENT, never);
      const id = outcome.kind === "placed" ? outcome.carrierCallId : "";
      expect(await carrier.hangUp(account, id, never)).toEqual({ kind: "ended" });
      expect(ended()).toEqual([id]);
      expect(await carrier.hangUp(account, "never-was", never)).toEqual({ kind: "ended" });
    }));

  test("says why a call could not be ended", () =>
    withSubject(async ({ carrier, account, failWith, stop }) => {
      failWith({ kind: "answers", status: 503, body: "" });
      expect(await carrier.hangUp(account, "x", never)).toMatchObject({
        kind: "failed",
        isPermanent: false,
      });
      failWith({ kind: "answers", status: 403, body: "" });
      expect(await carrier.hangUp(account, "x", never)).toMatchObject({
        kind: "failed",
        isPermanent: true,
      });
      await stop();
      expect(await carrier.hangUp(account, "x", never)).toMatchObject({
        kind: "failed",
        isPermanent: false,
      });
    }));

  test("finds nothing wrong with a working configuration", () =>
    withSubject(async ({ carrier, account }) => {
      expect(await carrier.check(account, { publicUrl: "https://voice.example" }, never)).toEqual([]);
    }));

  test("says when the carrier cannot be asked", () =>
    withSubject(async ({ carrier, account, failWith, stop }) => {
      failWith({ kind: "answers", status: 500, body: "<html></html>" });
      const place = { publicUrl: "https://voice.example" };
      expect(await carrier.check(account, place, never)).toMatchObject([{ severity: "error", field: null }]);
      await stop();
      expect(await carrier.check(account, place, never)).toMatchObject([{ severity: "error", field: null }]);
    }));
}

function readsRequests(withSubject: WithSubject): void {
  test("knows its own signature, and no other", () =>
    withSubject(async ({ carrier, account, sign, callback }) => {
      const url = "https://voice.example/calls/c/carrier_status?a=1&b=2";
      const request = sign(callback("ringing", "call-1"), url);
      expect(carrier.claims(request.headers)).toBe(true);
      expect(carrier.isSigned(account, request, NOW_MS)).toBe(true);
      const body = Buffer.concat([request.body, Buffer.from("&extra=1")]);
      expect(carrier.isSigned(account, { ...request, body }, NOW_MS)).toBe(false);
      expect(carrier.isSigned(account, { ...request, headers: {} }, NOW_MS)).toBe(false);
      expect(carrier.claims({})).toBe(false);
      const others = Object.keys(account.secrets).map((field) => [field, "another-secret"]);
      expect(carrier.isSigned({ ...account, secrets: Object.fromEntries(others) }, request, NOW_MS)).toBe(
        false,
      );
      expect(carrier.isSigned({ ...account, secrets: {} }, request, NOW_MS)).toBe(false);
    }));

  test.each([
    ["ringing", "ringing", null],
    ["answered", "answered", null],
    ["completed", "ended", "completed"],
    ["busy", "ended", "busy"],
    ["no_answer", "ended", "no_answer"],
    ["failed", "ended", "failed"],
  ] as const)("reads the callback of a call that is %s", (kind, state, result) =>
    withSubject(async ({ carrier, sign, callback }) => {
      const request = sign(callback(kind, "call-1"), "https://voice.example/x");
      const fields = carrier.readFields(request);
      expect(fields).not.toBeNull();
      expect(carrier.readCallId(fields ?? new Map())).toBe("call-1");
      expect(carrier.readStatus(fields ?? new Map())).toMatchObject({
        carrierCallId: "call-1",
        state,
        result,
      });
    }),
  );

  test("makes nothing of other requests", () =>
    withSubject(async ({ carrier }) => {
      expect(carrier.readFields({ body: Uint8Array.of(0xff, 0xfe) })).toBeNull();
      const many = Buffer.from(Array.from({ length: 600 }, (_, index) => `a${index}=1`).join("&"));
      expect(carrier.readFields({ body: many })).toBeNull();
      expect(carrier.readStatus(new Map([["RecordingUrl", "x"]]))).toBeNull();
      expect(carrier.readCallId(new Map([["RecordingUrl", "x"]]))).toBeNull();
    }));

  test("writes its instructions as XML", () =>
    withSubject(async ({ carrier }) => {
      const streamUrl = `wss://voice.example/a?b=1&c="<'`;
      const returnUrl = "https://voice.example/b?c=1&d=2";
      const xml = carrier.connectTo({ streamUrl, returnUrl, pauseSeconds: 0 });
      expect(xml).toContain("wss://voice.example/a?b=1&amp;c=&quot;&lt;&apos;");
      // What follows the stream.
      expect(xml).toMatch(
        /Stream.*<Redirect method="POST">https:\/\/voice.example\/b\?c=1&amp;d=2<\/Redirect><\/Response>$/,
      );
      expect(xml).not.toMatch(/Pause|Wait/);
      const paused = carrier.connectTo({ streamUrl, returnUrl, pauseSeconds: 1 });
      expect(paused).toMatch(/<Response><(?:Pause|Wait) length="1"\/><(?:Connect|Stream)/);
      expect(carrier.hangUpXml).toMatch(/<Response><Hangup\/><\/Response>$/);
      expect(carrier.sayAndHangUp("<Dial>\u0000")).toMatch(/&lt;Dial&gt;<\/(?:Say|Speak)><Hangup\/>/);
    }));
}

export { NOW_MS };
