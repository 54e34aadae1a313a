/** What every adapter of a voice over websockets must do when its vendor breaks; each adapter registers itself with it. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VoiceKind } from "@parley/schema";
import { EngineFailure } from "../../../ports/engine-failure.ts";
import { collect, neverAborted, type Collected } from "../../../ports/testing/collect.ts";
import { providerEngine } from "../../../ports/testing/provider-engine.ts";
import {
  describeTtsConformance,
  durationMsOf,
  samplesOf,
  ttsRequest,
} from "../../../ports/testing/tts-conformance.ts";
import { until } from "../../../ports/testing/until.ts";
import type { TtsPart } from "../../../ports/tts.ts";
import type { VoiceProvider, VoiceUse } from "../../../ports/voice-provider.ts";
import type { SocketVoiceOptions } from "../socket-voice.ts";
import type { FakeVoiceVendor, VendorFault } from "./fake-voice-vendor.ts";
import { fakeSpeech } from "./fake-voice.ts";
import { openSplitProxy } from "./split-proxy.ts";

export interface FaultSubject<Kind extends VoiceKind> {
  readonly openVendor: () => Promise<FakeVoiceVendor>;
  readonly open: (options: SocketVoiceOptions) => VoiceProvider<Kind>;
  /** With the right key and 16 kHz PCM. */
  readonly use: Omit<VoiceUse<Kind>, "language">;
  /** What the vendor says of a wrong key, without the key. */
  readonly wrongKeyMessage: string;
  /** Whether a message of the adapter has the text that is spoken. */
  readonly isText: (message: unknown) => boolean;
  /** Frames that are no answer of the vendor. */
  readonly garbage: readonly (readonly [name: string, frame: string | Uint8Array])[];
}

const TEXT = "Your table is booked.";
/** A busy machine answers later than at once, but not this late. */
const SHORT_LIMIT_MS = 2_000;

export function describeProviderFaults<Kind extends VoiceKind>(
  name: string,
  subject: FaultSubject<Kind>,
): void {
  describe(`${name} over a websocket`, () => {
    const stand = openStand(subject);
    describeTtsConformance(name, {
      language: "en",
      open: () => providerEngine(stand.open(), subject.use),
      openHanging: () => {
        stand.vendor.fault = { type: "stalled" };
        return {
          engine: providerEngine(stand.open(), subject.use),
          reached: stand.vendor.got(subject.isText),
        };
      },
      openFailing: () => {
        stand.vendor.fault = { type: "refused", status: 500, body: "" };
        return providerEngine(stand.open(), subject.use);
      },
    });
    describe(`${name} that breaks`, () => {
      refusing(stand);
      breaking(stand);
      carrying(stand);
      sharing(stand);
    });
  });
}

/** Whatever happens in a test, its adapter breaks no rule of the vendor. */
export function throwProblems({ problems }: FakeVoiceVendor): void {
  if (problems.length > 0) throw new Error(`the adapter broke rules of the vendor: ${problems.join("; ")}`);
}

interface Spoken {
  readonly samples: Int16Array;
  readonly error: Error | null;
}

function spoken({ parts, error }: Collected<TtsPart>): Spoken {
  return { samples: samplesOf(parts), error };
}

/** A vendor for each test, and the adapters that speak with it. */
interface Stand<Kind extends VoiceKind> {
  readonly subject: FaultSubject<Kind>;
  readonly vendor: FakeVoiceVendor;
  open(options?: Partial<SocketVoiceOptions>): VoiceProvider<Kind>;
  speak(provider: VoiceProvider<Kind>, key?: string): Promise<Collected<TtsPart>>;
  /** What the same adapter speaks when the fault is over; slowness stays. */
  speakAgain(provider: VoiceProvider<Kind>): Promise<Spoken>;
  /** All of a text. */
  readonly whole: Spoken;
  later(close: () => Promise<void>): void;
}

function openStand<Kind extends VoiceKind>(subject: FaultSubject<Kind>): Stand<Kind> {
  const closing: (() => Promise<void>)[] = [];
  let current: FakeVoiceVendor | null = null;
  beforeEach(async () => {
    current = await subject.openVendor();
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
    await current?.close();
    if (current !== null) throwProblems(current);
  });
  const stand: Stand<Kind> = {
    subject,
    get vendor() {
      if (current === null) throw new Error("there is a vendor within a test only");
      return current;
    },
    open(options = {}) {
      const provider = subject.open({ baseUrl: stand.vendor.baseUrl, log: () => undefined, ...options });
      closing.push(() => provider.close());
      return provider;
    },
    speak: (provider, key = subject.use.key) =>
      collect(provider.synthesize({ ...subject.use, key, language: null, text: TEXT }, neverAborted())),
    async speakAgain(provider) {
      if (stand.vendor.fault?.type !== "slow") stand.vendor.fault = null;
      return spoken(await stand.speak(provider));
    },
    whole: { samples: fakeSpeech(TEXT, subject.use.output.sampleRateHz), error: null },
    later: (close) => closing.push(close),
  };
  return stand;
}

function refusing<Kind extends VoiceKind>(stand: Stand<Kind>): void {
  it("refuses a wrong key for good, and no message has the key", async () => {
    const { parts, error } = await stand.speak(stand.open(), "wrong-key-of-someone");
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ isPermanent: true });
    expect(error?.message).toContain(stand.subject.wrongKeyMessage);
    expect(error?.message).not.toContain("wrong-key-of-someone");
  });

  it.each([
    [401, true],
    [403, true],
    [404, true],
    [429, false],
    [500, false],
    [503, false],
  ])("an upgrade refused with %i is a permanent failure: %s", async (status, isPermanent) => {
    stand.vendor.fault = { type: "refused", status, body: '{"message":"come back tomorrow"}' };
    const { parts, error } = await stand.speak(stand.open());
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ isPermanent, type: String(status) });
    expect(error?.message).toContain("come back tomorrow");
  });
}

const LIMITS = { silenceLimitMs: SHORT_LIMIT_MS, handshakeLimitMs: SHORT_LIMIT_MS };

function breaking<Kind extends VoiceKind>(stand: Stand<Kind>): void {
  it.each([
    ["its upgrade is not answered", { type: "unanswered" }],
    ["nothing is answered", { type: "silent" }],
    ["nothing more comes in the middle", { type: "stalled" }],
  ] satisfies [string, VendorFault][])("fails when %s, and is whole afterwards", async (_name, fault) => {
    stand.vendor.fault = fault;
    const provider = stand.open({ limits: LIMITS });
    const { parts, error } = await stand.speak(provider);
    expect(error).toMatchObject({ isPermanent: false, type: "timeout" });
    expect(durationMsOf(parts) > 0).toBe(fault.type === "stalled");
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
  });

  it.each([
    ["the connection breaks in the middle", { type: "dropped" }],
    ["the vendor closes in the middle", { type: "closed", code: 1011, reason: "internal error" }],
  ] satisfies [string, VendorFault][])("fails when %s, and is whole afterwards", async (_name, fault) => {
    stand.vendor.fault = fault;
    const provider = stand.open();
    const { parts, error } = await stand.speak(provider);
    expect(durationMsOf(parts)).toBeGreaterThan(0);
    expect(error).toBeInstanceOf(EngineFailure);
    expect(error).toMatchObject({ isPermanent: false });
    expect(error?.message).toContain("closed the connection");
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
  });

  it.each(stand.subject.garbage)("fails at %s, and is whole afterwards", async (_name, frame) => {
    stand.vendor.fault = { type: "garbage", frame };
    const provider = stand.open({ limits: LIMITS });
    const { parts, error } = await stand.speak(provider);
    expect(parts).toEqual([]);
    expect(error).toBeInstanceOf(EngineFailure);
    expect(error).toMatchObject({ isPermanent: false });
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
  });
}

function carrying<Kind extends VoiceKind>(stand: Stand<Kind>): void {
  it("speaks when the vendor is slow", async () => {
    stand.vendor.fault = { type: "slow", delayMs: 5 };
    expect(await stand.speakAgain(stand.open())).toEqual(stand.whole);
  });

  it("reads frames that are split at every byte", async () => {
    for (const pieceBytes of [1, 7]) {
      const proxy = await openSplitProxy(stand.vendor.port, pieceBytes);
      stand.later(() => proxy.close());
      expect(await stand.speakAgain(stand.open({ baseUrl: proxy.baseUrl }))).toEqual(stand.whole);
      expect(proxy.pieces).toBeGreaterThan(500);
    }
  });
}

function sharing<Kind extends VoiceKind>(stand: Stand<Kind>): void {
  it("uses one socket again, and another one when the vendor closed it while it was idle", async () => {
    const provider = stand.open();
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
    expect(stand.vendor.upgrades).toHaveLength(1);
    stand.vendor.expire();
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
    expect(stand.vendor.upgrades).toHaveLength(2);
  });

  it("opens a socket ahead, and keeps a failure of it for the next sentence", async () => {
    const { vendor, subject } = stand;
    const provider = stand.open();
    provider.prepare({ ...subject.use, language: null });
    await until(() => vendor.openSockets === 1);
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
    expect(vendor.upgrades).toHaveLength(1);
    const lines: string[] = [];
    vendor.fault = { type: "refused", status: 503, body: "" };
    const failing = stand.open({ log: (line) => lines.push(line) });
    failing.prepare({ ...subject.use, language: null });
    await until(() => lines.length === 1);
    expect(lines[0]).toContain("503");
    expect((await stand.speak(failing)).error).toMatchObject({ type: "503" });
  });

  it("disturbs no other text by an abort", async () => {
    const provider = stand.open();
    const engine = providerEngine(provider, stand.subject.use);
    const others = [1, 2, 3].map(() => stand.speak(provider));
    const abort = new AbortController();
    const aborted = collect(engine.synthesize(ttsRequest(TEXT.repeat(3)), abort.signal), () => {
      abort.abort();
    });
    expect((await aborted).error?.name).toBe("AbortError");
    for (const other of await Promise.all(others)) expect(spoken(other)).toEqual(stand.whole);
    expect(await stand.speakAgain(provider)).toEqual(stand.whole);
  });
}
