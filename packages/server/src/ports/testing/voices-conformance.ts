/** Conformance suite for the voices of calls; each test file registers it with its own. */

import { describe, expect, it } from "vitest";
import type { VoicePlan } from "../../plan/voice-plan.ts";
import type { TtsEngine } from "../tts.ts";
import type { Voices, WantedVoice } from "../voices.ts";
import { collect, neverAborted } from "./collect.ts";
import { openFakeTts } from "./fake-tts.ts";
import { durationMsOf } from "./tts-conformance.ts";

export interface VoicesSubject {
  /** Called for each test. A voice of `provider1` without settings can be spoken. */
  readonly open: () => Voices | Promise<Voices>;
  /** The same, where the vendor refuses the key. */
  readonly openRefused: () => Voices | Promise<Voices>;
  /** The key that the vendor gets; no error has it. */
  readonly key: string;
}

export const EXTERNAL_VOICE: VoicePlan = {
  kind: "external",
  provider: "provider1",
  settings: {},
  key: "account",
  voiceId: null,
};

/** A voice of one account at 16 kHz, over a deployment whose engine has the voice `alba`. */
export function wantedVoice(voice: VoicePlan, deployment: TtsEngine = deploymentEngine()): WantedVoice {
  return {
    accountId: "00000000-0000-4000-9000-000000000001",
    voice,
    output: { sampleRateHz: 16_000, encoding: "pcm" },
    deployment,
  };
}

function deploymentEngine(): TtsEngine {
  return openFakeTts({ voices: ["alba"], languages: ["en"] });
}

/** Fails where it is asked to speak. */
function silentEngine(): TtsEngine {
  return openFakeTts({ failure: () => new Error("the engine of the deployment was asked") });
}

const SPOKEN = { text: "Good evening to you all.", language: "en" } as const;

export function describeVoicesConformance(name: string, subject: VoicesSubject): void {
  describe(`${name} as the voices of calls`, () => {
    deploymentVoices(subject);
    externalVoices(subject);
    refusing(subject);
  });
}

function deploymentVoices({ open }: VoicesSubject): void {
  it.each([null, "alba"])("speaks the voice %s with the engine that the call began with", async (name) => {
    const voices = await open();
    const voice = { kind: "deployment", name } as const;
    const speaker = voices.speakerFor(wantedVoice(voice));
    expect(() => speaker.prepare("en")).not.toThrow();
    const { parts, error } = await collect(speaker.synthesize(SPOKEN, neverAborted()));
    expect(error).toBeNull();
    expect(durationMsOf(parts)).toBeGreaterThan(0);
    expect([speaker.speaks("en-GB"), speaker.speaks("de"), speaker.name]).toEqual([true, false, "fake"]);
    expect(voices.originOf(voice)).toBeNull();
  });

  it("fails with a voice that the engine lacks", async () => {
    const speaker = (await open()).speakerFor(wantedVoice({ kind: "deployment", name: "nobody" }));
    const { parts, error } = await collect(speaker.synthesize(SPOKEN, neverAborted()));
    expect([parts, error?.message]).toEqual([[], expect.stringContaining("nobody")]);
  });
}

function externalVoices({ open }: VoicesSubject): void {
  it("speaks an external voice without the deployment's engine, and many at once", async () => {
    const voices = await open();
    const speaker = voices.speakerFor(wantedVoice(EXTERNAL_VOICE, silentEngine()));
    expect(() => speaker.prepare(null)).not.toThrow();
    const heard = await Promise.all(
      ["Two.", SPOKEN.text, "Two."].map((text) =>
        collect(speaker.synthesize({ text, language: null }, neverAborted())),
      ),
    );
    expect(heard.map(({ error }) => error)).toEqual([null, null, null]);
    const [first = 0, second = 0, third = 0] = heard.map(({ parts }) => durationMsOf(parts));
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first);
    expect(third).toBe(first);
    expect(voices.originOf(EXTERNAL_VOICE)?.name).toBe(speaker.name);
  });

  it("throws an AbortError when it is aborted, before and during the speech", async () => {
    const speaker = (await open()).speakerFor(wantedVoice(EXTERNAL_VOICE));
    const early = await collect(speaker.synthesize(SPOKEN, AbortSignal.abort()));
    expect([early.parts, early.error?.name]).toEqual([[], "AbortError"]);
    const abort = new AbortController();
    const late = await collect(speaker.synthesize(SPOKEN, abort.signal), () => abort.abort());
    expect([late.parts.length, late.error?.name]).toEqual([1, "AbortError"]);
  });
}

function refusing({ openRefused, key }: VoicesSubject): void {
  it("reports a refused key as a permanent failure without the key, and other voices still speak", async () => {
    const voices = await openRefused();
    const speaker = voices.speakerFor(wantedVoice(EXTERNAL_VOICE));
    expect(() => speaker.prepare("en")).not.toThrow();
    const { parts, error } = await collect(speaker.synthesize(SPOKEN, neverAborted()));
    expect(parts).toEqual([]);
    expect(error).toMatchObject({ isPermanent: true });
    expect(error?.message).not.toContain(key);
    const other = voices.speakerFor(wantedVoice({ kind: "deployment", name: null }));
    expect((await collect(other.synthesize(SPOKEN, neverAborted()))).error).toBeNull();
  });
}
