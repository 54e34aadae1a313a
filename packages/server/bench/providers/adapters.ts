/** The adapters that `npm run bench:providers` measures, each with the fake of its vendor. A new adapter is a new row. */

import type { VoiceKind } from "@parley/schema";
import type { VoiceProvider, VoiceUse } from "../../src/ports/voice-provider.ts";
import type { FakePace } from "../../src/providers/sockets/testing/fake-voice.ts";
import { openInworld } from "../../src/providers/tts-inworld/inworld.ts";
import { INWORLD_KEY, openFakeInworld } from "../../src/providers/tts-inworld/testing/fake-inworld.ts";
import { openLmnt } from "../../src/providers/tts-lmnt/lmnt.ts";
import { LMNT_KEY, openFakeLmnt } from "../../src/providers/tts-lmnt/testing/fake-lmnt.ts";
import { openRespeecher } from "../../src/providers/tts-respeecher/respeecher.ts";
import {
  openFakeRespeecher,
  RESPEECHER_KEY,
} from "../../src/providers/tts-respeecher/testing/fake-respeecher.ts";

export interface FakeVendor {
  readonly baseUrl: string;
  /** Rules of the vendor that the adapter broke. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** One row of the table. */
export interface BenchedAdapter {
  readonly name: string;
  /** Runs in another process than the adapter. */
  openVendor(pace: FakePace): Promise<FakeVendor>;
  /** Speaks one text after another, or several at a time. */
  openSpeaker(baseUrl: string): BenchSpeaker;
}

export interface BenchSpeaker {
  synthesize(text: string): ReturnType<VoiceProvider["synthesize"]>;
  close(): Promise<void>;
}

interface Row<Kind extends VoiceKind> {
  readonly name: string;
  readonly openVendor: (pace: FakePace) => Promise<FakeVendor>;
  readonly open: (options: { baseUrl: string; log: (message: string) => void }) => VoiceProvider<Kind>;
  readonly voice: VoiceUse<Kind>["voice"];
  readonly key: string;
}

/** What the calls of a browser have. */
const OUTPUT = { sampleRateHz: 24_000, encoding: "pcm" } as const;

function row<Kind extends VoiceKind>({ name, openVendor, open, voice, key }: Row<Kind>): BenchedAdapter {
  return {
    name,
    openVendor,
    openSpeaker(baseUrl) {
      const provider = open({
        baseUrl,
        log: (message) => {
          console.error(message);
        },
      });
      const use = { voice, key, output: OUTPUT, language: "en" };
      return {
        synthesize: (text) => provider.synthesize({ ...use, text }, new AbortController().signal),
        close: () => provider.close(),
      };
    },
  };
}

export const ADAPTERS: readonly BenchedAdapter[] = [
  row<"provider3">({
    name: "LMNT",
    openVendor: openFakeLmnt,
    open: openLmnt,
    voice: { voiceId: "leah" },
    key: LMNT_KEY,
  }),
  row<"provider5">({
    name: "Inworld",
    openVendor: openFakeInworld,
    open: openInworld,
    voice: { voiceId: "Ashley" },
    key: INWORLD_KEY,
  }),
  row<"provider6">({
    name: "Respeecher",
    openVendor: openFakeRespeecher,
    open: openRespeecher,
    voice: { voiceId: "samantha" },
    key: RESPEECHER_KEY,
  }),
];
