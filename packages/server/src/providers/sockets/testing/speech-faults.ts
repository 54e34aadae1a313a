/** What adapters that read speech with `readSpeech` tell of a vendor that fails; their tests call it. */

import { describe, expect, it } from "vitest";
import { collect, neverAborted, type Collected } from "../../../ports/testing/collect.ts";
import { ManualTimers } from "../../../ports/testing/manual-timers.ts";
import { durationMsOf } from "../../../ports/testing/tts-conformance.ts";
import { until } from "../../../ports/testing/until.ts";
import type { TtsPart } from "../../../ports/tts.ts";
import type { Fault } from "./fake-speech.ts";
import type { ServerConnection, UpgradeAnswer } from "./socket-server.ts";

/** What an error of an adapter is. */
export interface Expected {
  readonly isPermanent: boolean;
  readonly type: string;
}

/** An adapter and its fake vendor. */
interface Opened {
  readonly fake: { readonly reached: Promise<void>; readonly connections: readonly ServerConnection[] };
  /** A sentence. */
  readonly synthesize: (signal: AbortSignal) => AsyncIterable<TtsPart>;
}

interface VendorOptions {
  readonly upgrade?: () => UpgradeAnswer;
  readonly fault?: () => Fault | null;
  readonly slowness?: number;
}

interface PoolOptions {
  readonly handshakeLimitMs?: number;
  readonly timers?: ManualTimers;
}

export interface SpeechFaultSubject {
  readonly vendor: string;
  /** No message may contain it. */
  readonly key: string;
  readonly open: (vendor: VendorOptions, pool?: PoolOptions) => Promise<Opened>;
  readonly upgrades: readonly (readonly [name: string, answer: UpgradeAnswer, expected: Expected])[];
  /** The types of the vendor's own words for these. */
  readonly types: { readonly rateLimit: string; readonly serverError: string };
}

export function describeSpeechFaults(subject: SpeechFaultSubject): void {
  describe(`${subject.vendor}, when something fails`, () => {
    atTheUpgrade(subject);
    afterTheUpgrade(subject);
    besideOthers(subject);
  });
}

function said({ synthesize }: Opened): Promise<Collected<TtsPart>> {
  return collect(synthesize(neverAborted()));
}

function atTheUpgrade({ vendor, key, open, upgrades }: SpeechFaultSubject): void {
  it.each(upgrades)("tells %s at the upgrade", async (_name, answer, expected) => {
    const opened = await open({ upgrade: () => answer }, answer === "hang" ? { handshakeLimitMs: 50 } : {});
    const { parts, error } = await said(opened);
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ name: "EngineFailure", ...expected });
    expect(error?.message.startsWith(`${vendor} `)).toBe(true);
    expect(error?.message).not.toContain(key);
  });
}

function afterTheUpgrade({ key, open, types }: SpeechFaultSubject): void {
  const faults: [Fault, Expected][] = [
    ["rate limit", { isPermanent: false, type: types.rateLimit }],
    ["server error", { isPermanent: false, type: types.serverError }],
    ["hang", { isPermanent: false, type: "timeout" }],
    ["hang in the middle", { isPermanent: false, type: "timeout" }],
    ["garbage", { isPermanent: false, type: "garbage" }],
    ["garbage in the audio", { isPermanent: false, type: "garbage" }],
    ["binary", { isPermanent: false, type: "garbage" }],
    ["drop", { isPermanent: false, type: "closed" }],
    ["drop in the middle", { isPermanent: false, type: "closed" }],
    ["no audio", { isPermanent: false, type: "no_audio" }],
  ];

  it.each(faults)("tells a %s", async (fault, expected) => {
    let isFaulty = true;
    const timers = new ManualTimers();
    const opened = await open({ fault: () => (isFaulty ? fault : null) }, { timers });
    const { fake } = opened;
    let isSettled = false;
    let isHanging = false;
    const answer = collect(opened.synthesize(neverAborted()), () => {
      isHanging = fault === "hang in the middle";
    }).finally(() => (isSettled = true));
    if (fault === "hang") {
      await fake.reached;
      isHanging = true;
    }
    await until(() => {
      if (isHanging) timers.pass(10_000);
      return isSettled;
    });
    const { parts, error } = await answer;
    expect(durationMsOf(parts) > 0).toBe(fault.endsWith("in the middle"));
    expect(error).toMatchObject({ name: "EngineFailure", ...expected });
    expect(error?.message).not.toContain(key);
    isFaulty = false;
    expect((await said(opened)).error).toBeNull();
    expect(fake.connections.length).toBeLessThanOrEqual(2);
  });
}

function besideOthers({ open }: SpeechFaultSubject): void {
  it("keeps the other sentences of a socket when one fails", async () => {
    let count = 0;
    const opened = await open({ fault: () => ((count += 1) === 2 ? "server error" : null), slowness: 4 });
    const heard = await Promise.all([said(opened), said(opened), said(opened)]);
    expect(heard.map(({ error }) => error === null)).toEqual([true, false, true]);
  });

  it("speaks with a slow vendor, whose pauses are within the limit", async () => {
    expect((await said(await open({ slowness: 500 }))).error).toBeNull();
  });
}
